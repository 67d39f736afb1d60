import type { FeedEvent, Kind, MessageRow } from "../api/generated";
import { wentWrong } from "./went-wrong";

/** What a cord carries; a message that died is an error whatever it was. */
export type CordKind = Kind | "error";
const CORD_KINDS: readonly CordKind[] = ["request", "response", "event", "broadcast", "error"];
/** More than there can ever be at both ends of what is remembered. */
const MOST_SEATS = 16_384;

/** Where a message goes that died and had no recipient: its cord hangs loose. */
export const NOBODY = "";

export interface Cord {
  from: string;
  /** An agent, or `NOBODY`. */
  to: string;
  kind: CordKind;
  /** Messages lately, each counting half as much every few seconds. */
  weight: number;
}

/** What passed lately between some. */
export interface Passing {
  /** Messages a second. */
  perSecond: number;
  /** Of them, those that came to a bad end. */
  failedPerSecond: number;
  /** Half of them took no longer; none if nothing is known. */
  p50Micros: number | null;
}

/** A cord with how long its last messages took, in no order. */
interface Strand extends Cord {
  took: number[];
  taken: number;
}

/** One message on its way, for whoever shows it move. */
export type Passage = Pick<Cord, "from" | "to" | "kind">;

const HALF_LIFE_MS = 3_000;
const FORGOTTEN = 0.04;
/** Pairs that are remembered; of more, those that talked least lately are forgotten. */
const MOST_STRANDS = 3_000;
/** Times of one cord that are remembered: enough for a median. */
const MOST_TIMES = 24;
/** Rows whose recipient is not known yet; enough for what a busy second leaves open. */
const OPEN_LIMIT = 4_000;
/** As many as an eye can follow. */
export const MOST_PASSAGES = 12;
/** So many at once are a stream: nothing in it can be followed, and its cords tell of it. */
const STREAM = 48;

/** Who talked to whom lately. Fed with every batch, read a few times a second. */
export class Traffic {
  readonly #cords = new Map<string, Strand>();
  readonly #open = new Map<number, MessageRow>();
  #passages: Passage[] = [];
  #passed = 0;
  #agedAt: number | undefined;

  take(event: FeedEvent): void {
    if (event.type === "snapshot") {
      // Cords stay and fade: another filter does not undo what was said.
      this.#open.clear();
      return;
    }
    // Rows that found no room in the batch are taken to be like those that did.
    const share = event.rows.length === 0 ? 1 : 1 + event.skipped / event.rows.length;
    for (const row of event.rows) {
      if (row.to === null && row.state === "dead")
        this.#count(row.from, NOBODY, "error", share, row.tookMicros);
      else if (row.to === null || row.state === "waiting") this.#remember(row);
      if (row.to !== null)
        this.#count(
          row.from,
          row.to,
          wentWrong(row.state) ? "error" : row.kind,
          share,
          row.tookMicros,
        );
    }
    for (const moved of event.moved) {
      const row = this.#open.get(moved.seq);
      if (row === undefined || moved.state === "waiting") continue;
      this.#open.delete(moved.seq);
      const to = moved.to ?? row.to ?? (moved.state === "dead" ? NOBODY : null);
      if (to === null) continue;
      if (wentWrong(moved.state)) this.#count(row.from, to, "error", share, moved.tookMicros);
      else if (row.to === null) this.#count(row.from, to, row.kind, share, moved.tookMicros);
      else this.#time(this.#cords.get(keyOf(row.from, to, row.kind)), moved.tookMicros);
    }
  }

  /**
   * The busiest cords now, in a lasting order: a picture that does not change need not be drawn. `seat`
   * says where an agent sits; those of one seat share their cords.
   */
  cords(now: number, most: number, seat: (agent: string) => string = (agent) => agent): Cord[] {
    this.#age(now);
    // Numbers and not texts tell cords apart here: this runs over thousands of them, often.
    const seats = new Map<string, number>();
    const numberOf = (name: string): number => {
      const known = seats.get(name);
      if (known !== undefined) return known;
      seats.set(name, seats.size);
      return seats.size - 1;
    };
    const joined = new Map<number, Cord>();
    for (const { from, to, kind, weight } of this.#cords.values()) {
      const [a, b] = [seat(from), seat(to)];
      const key =
        (numberOf(a) * MOST_SEATS + numberOf(b)) * CORD_KINDS.length + CORD_KINDS.indexOf(kind);
      const cord = joined.get(key);
      if (cord === undefined) joined.set(key, { from: a, to: b, kind, weight });
      else cord.weight += weight;
    }
    const busiest = [...joined.values()].sort((a, b) => b.weight - a.weight).slice(0, most);
    return busiest
      .map((cord) => ({ key: keyOf(cord.from, cord.to, cord.kind), cord }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ cord }) => cord);
  }

  /** How much each agent said and heard lately. */
  weights(): Map<string, number> {
    const weights = new Map<string, number>();
    for (const { from, to, weight } of this.#cords.values()) {
      weights.set(from, (weights.get(from) ?? 0) + weight);
      if (to !== NOBODY) weights.set(to, (weights.get(to) ?? 0) + weight);
    }
    return weights;
  }

  /** What passed lately on the cords that belong. */
  passing(belongs: (cord: Cord) => boolean): Passing {
    let [weight, wrong] = [0, 0];
    const times: number[] = [];
    for (const strand of this.#cords.values()) {
      if (!belongs(strand)) continue;
      if (strand.kind === "error") wrong += strand.weight;
      // A message that was counted when it was sent is an error beside that; one to nobody was not.
      if (strand.kind !== "error" || strand.to === NOBODY) weight += strand.weight;
      for (const time of strand.took) times.push(time);
    }
    times.sort((a, b) => a - b);
    return {
      perSecond: perSecond(Math.max(weight, wrong)),
      failedPerSecond: perSecond(wrong),
      p50Micros: times[times.length >> 1] ?? null,
    };
  }

  /** Messages since the last time this was asked, the first few of them; none out of a stream. */
  passages(): Passage[] {
    const passages = this.#passed > STREAM ? [] : this.#passages;
    this.#passages = [];
    this.#passed = 0;
    return passages;
  }

  #age(now: number): void {
    // Before the first picture nothing has been seen, so nothing has faded.
    const factor = 0.5 ** ((now - (this.#agedAt ?? now)) / HALF_LIFE_MS);
    this.#agedAt = now;
    for (const [key, cord] of this.#cords) {
      cord.weight *= factor;
      if (cord.weight < FORGOTTEN) this.#cords.delete(key);
    }
    if (this.#cords.size > MOST_STRANDS) this.#shrink();
  }

  /** Forgets those that talked least, of equals the older. */
  #shrink(): void {
    const newest = [...this.#cords].reverse().sort(([, a], [, b]) => b.weight - a.weight);
    for (const [key] of newest.slice(MOST_STRANDS)) this.#cords.delete(key);
  }

  #remember(row: MessageRow): void {
    this.#open.set(row.seq, row);
    if (this.#open.size <= OPEN_LIMIT) return;
    const oldest = this.#open.keys().next();
    if (!oldest.done) this.#open.delete(oldest.value);
  }

  #count(from: string, to: string, kind: CordKind, weight: number, micros: number | null): void {
    const key = keyOf(from, to, kind);
    this.#passed++;
    if (this.#passages.length < MOST_PASSAGES) this.#passages.push({ from, to, kind });
    let strand = this.#cords.get(key);
    if (strand === undefined) {
      strand = { from, to, kind, weight: 0, took: [], taken: 0 };
      this.#cords.set(key, strand);
    }
    strand.weight += weight;
    this.#time(strand, micros);
    // Nobody may be looking for hours, and so nothing fade.
    if (this.#cords.size > 2 * MOST_STRANDS) this.#shrink();
  }

  #time(strand: Strand | undefined, micros: number | null): void {
    if (strand === undefined || micros === null) return;
    strand.took[strand.taken++ % MOST_TIMES] = micros;
  }
}

/** What tells one cord from all others. */
export function keyOf(from: string, to: string, kind: CordKind): string {
  return `${kind}\n${from}\n${to}`;
}

/** A steady stream weighs as much as it brings in a half-life, and half again as it fades. */
function perSecond(weight: number): number {
  return (weight * Math.LN2 * 1_000) / HALF_LIFE_MS;
}
