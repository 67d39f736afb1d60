import type { AgentId } from "../api/generated";
import { recall, remember } from "./remembered";

/** How close lines and lanes stand, from far to near. */
export const DENSITIES = ["roomy", "close", "tight"] as const;
export type Density = (typeof DENSITIES)[number];

/** How the operator wants a conversation drawn. */
export class Diagram {
  /** None while nobody has chosen: then whatever lets the lanes be seen. */
  density = $state<Density | null>(
    DENSITIES.find((each) => each === recall("diagram density")) ?? null,
  );
  /** Whether what repeats itself is one line. */
  folding = $state(recall("fold repeats") === "yes");
  /** Repetitions that are shown nevertheless, by their keys. */
  unfolded = $state.raw<ReadonlySet<string>>(new Set());
  hidden = $state.raw<ReadonlySet<AgentId>>(new Set());
  /** Lanes that were moved stand as here; others follow as they appeared. */
  order = $state.raw<readonly AgentId[]>([]);

  /** Another conversation has other lanes. */
  reset(): void {
    this.unfolded = new Set();
    this.showAll();
    this.order = [];
  }

  /** Nearer or farther than it is drawn now. */
  zoom(by: number, from: Density): void {
    const at = DENSITIES.indexOf(from) + by;
    this.density = DENSITIES[Math.min(Math.max(at, 0), DENSITIES.length - 1)] ?? from;
    remember("diagram density", this.density);
  }

  fold(on: boolean): void {
    this.folding = on;
    this.unfolded = new Set();
    remember("fold repeats", on ? "yes" : "no");
  }

  unfold(key: string): void {
    this.unfolded = new Set([...this.unfolded, key]);
  }

  hide(lane: AgentId): void {
    this.hidden = new Set([...this.hidden, lane]);
  }

  /** Hides all of these lanes but those. */
  only(kept: ReadonlySet<AgentId>, lanes: readonly AgentId[]): void {
    this.hidden = new Set(lanes.filter((lane) => !kept.has(lane)));
  }

  showAll(): void {
    this.hidden = new Set();
  }

  /** The lanes that are shown, in their order. */
  shown(lanes: readonly AgentId[]): AgentId[] {
    const moved = this.order.filter((lane) => lanes.includes(lane));
    const rest = lanes.filter((lane) => !moved.includes(lane));
    return [...moved, ...rest].filter((lane) => !this.hidden.has(lane));
  }

  /** Puts a lane to this place among those that are shown. */
  move(lane: AgentId, to: number, lanes: readonly AgentId[]): void {
    const others = this.shown(lanes).filter((each) => each !== lane);
    others.splice(Math.min(Math.max(to, 0), others.length), 0, lane);
    this.order = [...others, ...lanes.filter((each) => this.hidden.has(each))];
  }
}
