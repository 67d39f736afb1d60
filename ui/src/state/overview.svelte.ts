import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { AgentId, BusyList, Door, FigureHistory } from "../api/generated";
import { poll } from "../parts/poll";
import {
  busyEveryMs,
  LONGEST,
  RANGES,
  spanOf,
  sums,
  type Minutes,
  type Span,
  type Sums,
} from "./figures";
import { recall, remember } from "./remembered";

const BEFORE_MS = 30_000;

/** Whose figures are shown: those of one door, of one agent, or of everything. */
export type Only = { door: Door } | { agent: AgentId } | null;

/** The Overview screen: how busy the broker was, and who. Read while somebody looks. */
export class Overview {
  minutes = $state<Minutes>(readMinutes());
  only = $state.raw<Only>(null);
  /** What of the range is looked at more closely. */
  zoom = $state.raw<Span | null>(null);
  history = $state.raw<FigureHistory | null>(null);
  /** What happened in as long a time before; none where the broker is not asked that far back. */
  before = $state.raw<Sums | null>(null);
  doors = $state.raw<BusyList | null>(null);
  agents = $state.raw<BusyList | null>(null);
  trouble = $state<string | null>(null);

  readonly #client: Client;
  #stop: (() => void) | null = null;
  /** Answers to an earlier question are of no use. */
  #asked = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Keeps the figures true from now on. Returns how to stop. */
  watch(): () => void {
    this.#begin();
    return () => {
      this.#stop?.();
      this.#stop = null;
    };
  }

  choose(minutes: Minutes): void {
    if (minutes === this.minutes) return;
    this.minutes = minutes;
    remember("overview", String(minutes));
    this.doors = null;
    this.agents = null;
    this.#forget();
  }

  /** Shows the figures of this alone; none is everything. */
  show(only: Only): void {
    this.only = only;
    this.#forget();
  }

  /** Looks at a part of the range more closely; none is all of it. */
  look(span: Span | null): void {
    const step = this.history?.stepSeconds ?? 1;
    this.zoom = span !== null && span.to - span.from < 2 * step ? this.zoom : span;
  }

  retry(): void {
    this.trouble = null;
    this.#begin();
  }

  #forget(): void {
    this.zoom = null;
    this.history = null;
    this.before = null;
    if (this.#stop !== null) this.#begin();
  }

  #begin(): void {
    this.#stop?.();
    const mine = ++this.#asked;
    const busyEvery = busyEveryMs(this.minutes);
    const every = RANGES.find(({ minutes }) => minutes === this.minutes)?.everyMs ?? busyEvery;
    const stops = [
      poll(() => this.#readHistory(mine), every),
      poll(() => this.#readBefore(mine), BEFORE_MS),
      poll(() => this.#readBusy(mine), busyEvery),
    ];
    this.#stop = () => {
      for (const stop of stops) stop();
    };
  }

  async #readHistory(mine: number): Promise<void> {
    try {
      const query = { minutes: this.minutes, ...this.only };
      const history = await this.#client.call("figureHistory", query);
      if (mine !== this.#asked) return;
      this.history = history;
      this.trouble = null;
    } catch (reason) {
      if (mine === this.#asked) this.trouble = CallError.from(reason).message;
    }
  }

  async #readBefore(mine: number): Promise<void> {
    const minutes = 2 * this.minutes;
    if (minutes > LONGEST) return;
    const query = { minutes, ...this.only };
    // A comparison that is missing is no trouble; the figures themselves say if something is wrong.
    const both = await this.#client.call("figureHistory", query).catch(() => null);
    const span = both === null ? null : spanOf(both);
    if (both === null || span === null || mine !== this.#asked) return;
    this.before = sums(both, { from: span.from, to: span.to - 60 * this.minutes });
  }

  async #readBusy(mine: number): Promise<void> {
    const { minutes } = this;
    const [doors, agents] = await Promise.all([
      this.#client.call("busy", { minutes, by: "door" }).catch(() => null),
      this.#client.call("busy", { minutes, by: "agent" }).catch(() => null),
    ]);
    if (mine !== this.#asked) return;
    this.doors = doors ?? this.doors;
    this.agents = agents ?? this.agents;
  }
}

function readMinutes(): Minutes {
  const kept = Number(recall("overview"));
  return RANGES.find(({ minutes }) => minutes === kept)?.minutes ?? 60;
}
