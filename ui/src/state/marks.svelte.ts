import type { MessageRow } from "../api/generated";

/** A range of more than this is a slip of the hand. */
const MOST = 2_000;

/** Rows the operator picked out of the flow, to copy them. They stay picked when others pour in. */
export class Marks {
  rows = $state.raw<ReadonlyMap<number, MessageRow>>(new Map());
  /** Where a range begins. */
  #anchor: number | null = null;

  get count(): number {
    return this.rows.size;
  }

  has(seq: number): boolean {
    return this.rows.has(seq);
  }

  /** Whoever looks at one row may go on from there to a range. */
  begin(seq: number): void {
    this.#anchor = seq;
  }

  toggle(row: MessageRow): void {
    const next = new Map(this.rows);
    if (!next.delete(row.seq)) next.set(row.seq, row);
    this.rows = next;
    this.#anchor = row.seq;
  }

  /** Everything from where the range began to here. */
  range(
    row: MessageRow,
    from: { indexOf(seq: number): number; at(index: number): MessageRow | undefined },
  ): void {
    const began = this.#anchor === null ? -1 : from.indexOf(this.#anchor);
    const ends = from.indexOf(row.seq);
    if (began < 0 || ends < 0 || Math.abs(began - ends) >= MOST) return this.toggle(row);
    const next = new Map<number, MessageRow>();
    for (let i = Math.min(began, ends); i <= Math.max(began, ends); i++) {
      const each = from.at(i);
      if (each !== undefined) next.set(each.seq, each);
    }
    this.rows = next;
  }

  clear(): void {
    if (this.rows.size > 0) this.rows = new Map();
  }

  /** The newest first, as they stand on the screen. */
  get list(): MessageRow[] {
    return [...this.rows.values()].sort((a, b) => b.seq - a.seq);
  }
}
