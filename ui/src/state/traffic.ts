import type { FeedEvent, Kind, MessageRow } from "../api/generated";

/** What a cord carries; a message that died is an error whatever it was. */
export type CordKind = Kind | "error";

export interface Cord {
  from: string;
  to: string;
  kind: CordKind;
  /** Messages lately, each counting half as much every few seconds. */
  weight: number;
}

/** One message on its way, for whoever shows it move. */
export type Passage = Pick<Cord, "from" | "to" | "kind">;

const HALF_LIFE_MS = 3_000;
const FORGOTTEN = 0.04;
/** Rows whose recipient is not known yet; enough for what a busy second leaves open. */
const OPEN_LIMIT = 4_000;
/** As many as an eye can follow. */
export const MOST_PASSAGES = 12;
/** So many at once are a stream: nothing in it can be followed, and its cords tell of it. */
const STREAM = 48;

/** Who talked to whom lately. Fed with every batch, read a few times a second. */
export class Traffic {
  readonly #cords = new Map<string, Cord>();
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
      if (row.to === null || row.state === "waiting") this.#remember(row);
      if (row.to !== null)
        this.#count(row.from, row.to, failed(row.state) ? "error" : row.kind, share);
    }
    for (const moved of event.moved) {
      const row = this.#open.get(moved.seq);
      if (row === undefined || moved.state === "waiting") continue;
      this.#open.delete(moved.seq);
      const to = moved.to ?? row.to;
      if (to === null) continue;
      if (failed(moved.state)) this.#count(row.from, to, "error", share);
      else if (row.to === null) this.#count(row.from, to, row.kind, share);
    }
  }

  /** The busiest cords now, in a lasting order: a picture that does not change need not be drawn. */
  cords(now: number, most: number): Cord[] {
    // Before the first picture nothing has been seen, so nothing has faded.
    const factor = 0.5 ** ((now - (this.#agedAt ?? now)) / HALF_LIFE_MS);
    this.#agedAt = now;
    for (const [key, cord] of this.#cords) {
      cord.weight *= factor;
      if (cord.weight < FORGOTTEN) this.#cords.delete(key);
    }
    const busiest = [...this.#cords].sort(([, a], [, b]) => b.weight - a.weight).slice(0, most);
    return busiest.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cord]) => ({ ...cord }));
  }

  /** Messages since the last time this was asked, the first few of them; none out of a stream. */
  passages(): Passage[] {
    const passages = this.#passed > STREAM ? [] : this.#passages;
    this.#passages = [];
    this.#passed = 0;
    return passages;
  }

  #remember(row: MessageRow): void {
    this.#open.set(row.seq, row);
    if (this.#open.size <= OPEN_LIMIT) return;
    const oldest = this.#open.keys().next();
    if (!oldest.done) this.#open.delete(oldest.value);
  }

  #count(from: string, to: string, kind: CordKind, weight: number): void {
    const key = `${kind}\n${from}\n${to}`;
    const cord = this.#cords.get(key);
    this.#passed++;
    if (this.#passages.length < MOST_PASSAGES) this.#passages.push({ from, to, kind });
    if (cord === undefined) this.#cords.set(key, { from, to, kind, weight });
    else cord.weight += weight;
  }
}

function failed(state: MessageRow["state"]): boolean {
  return state === "dead" || state === "expired" || state === "refused";
}
