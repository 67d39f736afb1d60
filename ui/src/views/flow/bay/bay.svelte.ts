import type { Console } from "../../../state/console.svelte";
import { recall, remember } from "../../../state/remembered";
import { NOBODY, type Cord } from "../../../state/traffic";
import { alike, busiest, cast, groupKey, seated, type Cast, type Node } from "./board";
import { found, guestsOf } from "./guests";
import { fitFor, nameable, type Fit, type Size } from "./grid";
import { GROUPINGS, type Grouping } from "./groups";
import { jackView, lightOf, sameView, type JackView } from "./jack";
import { ofCord, ofJack, ofLooseCord, type Wish } from "./narrowing";
import type { Drawn } from "./picture";
import { Stage } from "./stage";
import { revealed, WHOLE, zoomed, type View } from "./view";

/** More would be a tangle, and dear to draw. */
const MOST_CORDS = 48;
/** As many jacks can be elements without the page feeling it. */
const MOST_ELEMENTS = 160;
/** How often it is asked who talks most: jacks must not come and go like sparks. */
const BUSIEST_MS = 4_000;
/** How far outside of the bay a jack still has its element. */
const MARGIN_PX = 90;

/** What the pointer or the focus is on. */
export type On = { jack: string } | { cord: string };

/** The patch bay: who is on it, what of it is in sight, and what the operator does there. */
export class Bay {
  grouping = $state<Grouping>(readGrouping());
  /** The group whose members are shown. */
  opened = $state<string | null>(null);
  /** Whose jacks are looked for. */
  sought = $state("");
  /** Whether someone is at it: the others step back only as long. */
  seeking = $state(false);
  cast = $state.raw<Cast>({
    nodes: [],
    seatOf: (id) => id,
    by: null,
    busiest: 0,
    opened: null,
  });
  order = $state.raw<readonly string[]>([]);
  cords = $state.raw<readonly Cord[]>([]);
  known = $state(0);
  zoom = $state(1);
  fit = $state.raw<Fit>({ radius: 13, room: 80, named: true, two: true });
  on = $state.raw<On | null>(null);
  /** The jack that the keys act on. */
  current = $state<string | null>(null);
  /** Jacks in sight, where not all can be elements. */
  near = $state.raw<ReadonlySet<string>>(new Set());
  nodes = $derived<ReadonlyMap<string, Node>>(
    new Map(this.cast.nodes.map((node) => [node.key, node])),
  );
  matches = $derived(this.#found());
  jacks = $derived(this.#jacks());

  readonly #console: Console;
  #stage: Stage | null = null;
  #busiest: string[] = [];
  #busiestAt = -Infinity;
  #said: ReadonlyMap<string, JackView> = new Map();

  constructor(console: Console) {
    this.#console = console;
  }

  /** Draws on this canvas from now on. */
  start(canvas: HTMLCanvasElement): Stage {
    const stage = new Stage(canvas, {
      lightOf: (key) => lightOf(key, this.#console.agents.byId),
      isDim: (key) => this.isDim(key),
      stress: (cord) => this.#stress(cord),
    });
    this.#stage = stage;
    return stage;
  }

  /** Looks again at who is here and who talks. */
  refresh(size: Size, now = performance.now()): void {
    const { traffic, filter } = this.#console;
    const weights = traffic.weights();
    const guests = guestsOf(this.#console.agents, weights.keys());
    this.known = guests.length;
    // Under a filter few are heard of; that is no reason for the others to lose their jacks.
    const heldStill = filter.active && this.#busiest.length > 0;
    if (!heldStill && now - this.#busiestAt > BUSIEST_MS) {
      this.#busiest = busiest(this.#busiest, weights);
      if (this.#busiest.length > 0) this.#busiestAt = now;
    }
    const here = new Set(guests.map(({ id }) => id));
    const next = cast(guests, {
      grouping: this.grouping,
      opened: this.opened,
      room: nameable(size),
      busiest: this.#busiest.filter((id) => here.has(id)),
    });
    const keys = next.nodes.map(({ key }) => key);
    const order = seated(this.order, keys);
    // The same as before changes nothing, so that nothing need be looked at again.
    if (!alike(next, this.cast)) this.cast = next;
    this.cords = this.#cordsOf(next, now);
    this.#stage?.hang(this.cords);
    const moved = order.length !== this.order.length || order.some((k, i) => k !== this.order[i]);
    if (moved || this.#resized(size)) {
      this.order = order;
      this.#stage?.seat(order, size);
      this.#fit();
    }
    // Lamps that are drawn change without anyone asking.
    if (this.jacks.length < order.length) this.#stage?.paint();
  }

  choose(grouping: Grouping): void {
    this.grouping = grouping;
    remember("bay-groups", grouping);
    this.opened = null;
    this.#anew();
  }

  open(key: string | null): void {
    this.opened = key;
    this.#anew();
  }

  /** Closer or farther; about the middle unless told otherwise. */
  zoomBy(factor: number, at?: { x: number; y: number }, calm = true): void {
    const stage = this.#stage;
    if (stage === null) return;
    const { width, height } = stage.size;
    this.#look(zoomed(stage.view, factor, at ?? { x: width / 2, y: height / 2 }, stage.size), calm);
  }

  whole(): void {
    this.#look(WHOLE, true);
  }

  pan(dx: number, dy: number, calm = false): void {
    const stage = this.#stage;
    if (stage === null) return;
    this.#look({ ...stage.view, x: stage.view.x + dx, y: stage.view.y + dy }, calm);
  }

  /** Brings a jack into sight. */
  reveal(key: string): void {
    const seat = this.#stage?.seatOf(key);
    if (this.#stage === null || seat === undefined || this.zoom === 1) return;
    this.#look(revealed(this.#stage.view, seat, this.#stage.size), true);
  }

  /** The next jack of those that are looked for, opening its group if it has none of its own. */
  findNext(): void {
    const keys = this.order.filter((key) => this.matches.has(key));
    const next = keys[(keys.indexOf(this.current ?? "") + 1) % Math.max(1, keys.length)];
    if (next === undefined) return;
    this.current = next;
    this.on = { jack: next };
    this.reveal(next);
  }

  /** Whether a jack has its name beside it: among hundreds only those that matter most. */
  isNamed({ key, crowd }: JackView): boolean {
    if (this.fit.named || crowd !== null || this.isChosen(key)) return true;
    return key === this.current || (this.on !== null && "jack" in this.on && this.on.jack === key);
  }

  /** What a click on a jack does: shows only its messages, or opens a group. */
  press(key: string): void {
    const node = this.nodes.get(key);
    if (node === undefined) return;
    if (node.group !== null) this.open(groupKey(node.group));
    else this.narrow(ofJack(node));
  }

  /** What a click on a cord does. */
  pull(cord: Pick<Cord, "from" | "to">): void {
    this.narrow(this.wishesOf(cord));
  }

  wishesOf({ from, to }: Pick<Cord, "from" | "to">): Wish[] {
    const [a, b] = [this.nodes.get(from), this.nodes.get(to)];
    if (a === undefined) return [];
    if (to === NOBODY) return ofLooseCord(a);
    return b === undefined ? [] : ofCord(a, b);
  }

  /** Looks for this, or no longer if that is looked for already. */
  narrow(wishes: readonly Wish[]): void {
    if (wishes.length === 0) return;
    this.#console.filter.toggle(wishes);
  }

  isChosen(key: string): boolean {
    const node = this.nodes.get(key);
    return node !== undefined && this.#console.filter.has(ofJack(node));
  }

  /** Whether a jack steps back behind those that are looked for. */
  isDim(key: string): boolean {
    return this.seeking && this.sought.trim() !== "" && !this.matches.has(key);
  }

  #stress(cord: Drawn): "plain" | "lit" | "dim" | "chosen" {
    const { filter } = this.#console;
    const on = this.on;
    if (filter.has(this.wishesOf(cord))) return "chosen";
    if (on === null) return this.#isDimCord(cord) ? "dim" : "plain";
    if ("cord" in on) return on.cord === cord.key ? "lit" : "plain";
    return cord.from === on.jack || cord.to === on.jack ? "lit" : "dim";
  }

  /** The busiest cords; where a group is open, those of its members. */
  #cordsOf({ seatOf, opened }: Cast, now: number): Cord[] {
    const { traffic } = this.#console;
    if (opened === null) return traffic.cords(now, MOST_CORDS, seatOf);
    const all = traffic.cords(now, Infinity, seatOf);
    const theirs = all.filter(({ from, to }) => opened.has(from) || opened.has(to));
    const least = theirs.map(({ weight }) => weight).sort((a, b) => b - a)[MOST_CORDS] ?? 0;
    return theirs.filter(({ weight }) => weight > least || least === 0).slice(0, MOST_CORDS);
  }

  #isDimCord({ from, to }: Drawn): boolean {
    return this.isDim(from) && this.isDim(to);
  }

  /** Another selection of jacks: everyone sits down anew. */
  #anew(): void {
    this.order = [];
    this.current = null;
    this.on = null;
    const stage = this.#stage;
    if (stage === null) return;
    this.#look(WHOLE, false);
    this.refresh(stage.size);
  }

  #look(view: View, calm: boolean): void {
    const stage = this.#stage;
    if (stage === null) return;
    stage.look(view, calm);
    this.#fit();
  }

  #fit(): void {
    const stage = this.#stage;
    if (stage === null) return;
    this.zoom = stage.view.zoom;
    this.fit = fitFor(stage.grid, stage.view.zoom, stage.size);
    stage.radius = this.fit.radius;
    this.near =
      this.order.length <= MOST_ELEMENTS
        ? new Set(this.order)
        : new Set(this.order.filter((key) => stage.inSight(key, MARGIN_PX)));
  }

  #resized({ width, height }: Size): boolean {
    const size = this.#stage?.size;
    return size?.width !== width || size.height !== height;
  }

  #found(): ReadonlyMap<string, number> {
    return found(this.cast.nodes, this.sought, this.#console.agents.byId);
  }

  /** The jacks that are elements: all in sight where they have names, else those that matter. */
  #jacks(): JackView[] {
    const { byId } = this.#console.agents;
    const matter = this.fit.named && this.near.size <= MOST_ELEMENTS ? this.near : this.#special();
    const jacks = this.cast.nodes
      .filter(({ key }) => matter.has(key))
      .map((node) => this.#same(jackView(node, byId)));
    this.#said = new Map(jacks.map((view) => [view.key, view]));
    return jacks;
  }

  /** What a jack said before, if it says the same now. */
  #same(view: JackView): JackView {
    const before = this.#said.get(view.key);
    return before !== undefined && sameView(before, view) ? before : view;
  }

  #special(): ReadonlySet<string> {
    const keys = new Set<string>();
    if (this.current !== null) keys.add(this.current);
    else if (this.order[0] !== undefined) keys.add(this.order[0]);
    if (this.on !== null && "jack" in this.on) keys.add(this.on.jack);
    for (const key of [...this.matches.keys()].slice(0, 60)) keys.add(key);
    for (const { key, group } of this.cast.nodes) {
      if (group !== null || this.isChosen(key)) keys.add(key);
    }
    return keys;
  }
}

function readGrouping(): Grouping {
  const kept = recall("bay-groups");
  return GROUPINGS.find((each) => each === kept) ?? "auto";
}
