import type { MessageRow, MessageState, Moved } from "../api/generated";

/** Live rows kept without asking the store; older ones are fetched again when wanted. */
export const LIVE_LIMIT = 2_000;

/**
 * The messages on the Flow screen, newest first, without a gap.
 *
 * `recent` came by the feed and `older` from the store, and each continues the other. The feed leaves
 * rows out when there are too many, so what lies before such a hole is given up and read from the
 * store when the reader scrolls there: no message is ever missing between two that are shown.
 *
 * While held, nothing new joins; it waits in `incoming`, so what the reader looks at stays in place.
 * Outside of reactivity on purpose: thousands of rows a second pass through here.
 */
export class Rows {
  /** Oldest first, so that new rows are pushed. */
  #recent: MessageRow[] = [];
  /** Newest first, so that pages of history are pushed. */
  #older: MessageRow[] = [];
  /** Oldest first. */
  #incoming: MessageRow[] = [];
  /** Whether `incoming` continues `recent`. */
  #continues = true;
  #held = false;
  #arrived = 0;
  #ended = false;

  get length(): number {
    return this.#recent.length + this.#older.length;
  }

  get held(): boolean {
    return this.#held;
  }

  /** How many came since the rows are held. */
  get arrived(): number {
    return this.#arrived;
  }

  /** Whether all of history is here. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Where history continues below what is here. */
  get oldestSeq(): number | undefined {
    return (this.#older.at(-1) ?? this.#recent[0])?.seq;
  }

  at(index: number): MessageRow | undefined {
    const inRecent = this.#recent.length - 1 - index;
    return inRecent >= 0 ? this.#recent[inRecent] : this.#older[-inRecent - 1];
  }

  /** The place of a message, newest first; -1 if it is not here. */
  indexOf(seq: number): number {
    const r = place(this.#recent, seq);
    if (this.#recent[r]?.seq === seq) return this.#recent.length - 1 - r;
    const o = placeFromNewest(this.#older, seq);
    return this.#older[o]?.seq === seq ? this.#recent.length + o : -1;
  }

  /** A snapshot under a new filter: begins again. Rows come newest first. */
  replace(rows: readonly MessageRow[]): void {
    this.#recent = rows.toReversed();
    this.#giveUpOlder();
    this.#forgetIncoming();
  }

  /** A snapshot under the same filter, after a lost connection: what is being read stays. */
  renew(rows: readonly MessageRow[]): void {
    if (!this.#held) return this.replace(rows);
    const newest = this.at(0)?.seq ?? 0;
    const oldestFirst = rows.toReversed();
    this.#continues = (oldestFirst[0]?.seq ?? Infinity) <= newest;
    this.#incoming = oldestFirst.filter((row) => row.seq > newest);
    this.#arrived = this.#incoming.length;
    for (const row of oldestFirst) this.#patch(row.seq, row);
  }

  /** Rows of a batch, oldest first, before which `skipped` were left out. */
  add(rows: readonly MessageRow[], skipped: number): void {
    if (rows.length === 0) return;
    if (this.#held) {
      this.#arrived += rows.length + skipped;
      if (skipped > 0) {
        this.#incoming = [];
        this.#continues = false;
      }
      for (const row of rows) this.#insert(this.#incoming, row);
      if (this.#incoming.length > LIVE_LIMIT * 1.5) {
        this.#incoming = this.#incoming.slice(-LIVE_LIMIT);
        this.#continues = false;
      }
      return;
    }
    if (skipped > 0) {
      this.#recent = [];
      this.#giveUpOlder();
    }
    for (const row of rows) this.#insert(this.#recent, row);
    this.#trim();
  }

  /** Messages that moved on. Those that no longer pass the filter's state leave. */
  move(moved: readonly Moved[], only?: MessageState): void {
    for (const change of moved) {
      const { seq, state, to, tookMicros, error, retryAt } = change;
      if (only !== undefined && state !== only && !this.#held) this.#remove(seq);
      else
        this.#patch(seq, {
          state,
          to,
          tookMicros: state === "waiting" ? null : tookMicros,
          error,
          retryAt,
        });
    }
  }

  /** Keeps everything in its place from now on. */
  hold(): void {
    this.#held = true;
  }

  /** Lets in what came meanwhile. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#continues) for (const row of this.#incoming) this.#insert(this.#recent, row);
    else {
      this.#recent = this.#incoming;
      this.#giveUpOlder();
    }
    this.#forgetIncoming();
    this.#trim();
  }

  /** A page of history that continues below `oldestSeq`, newest first; `last` if nothing is older. */
  addOlder(rows: readonly MessageRow[], last: boolean): void {
    for (const row of rows) this.#older.push(row);
    this.#ended = last;
  }

  #giveUpOlder(): void {
    this.#older = [];
    this.#ended = false;
  }

  #forgetIncoming(): void {
    this.#incoming = [];
    this.#continues = true;
    this.#arrived = 0;
  }

  #trim(): void {
    // Half as many again before cutting, so that the copy is rare.
    if (this.#recent.length <= LIVE_LIMIT * 1.5) return;
    this.#recent = this.#recent.slice(-LIVE_LIMIT);
    this.#giveUpOlder();
  }

  #insert(into: MessageRow[], row: MessageRow): void {
    const last = into.at(-1);
    if (last === undefined || row.seq > last.seq) {
      into.push(row);
      return;
    }
    // Late: under a filter for a state, a message enters when it reaches that state.
    const at = place(into, row.seq);
    if (into[at]?.seq === row.seq) into[at] = row;
    // Below everything that is here, history brings it in its turn; taken now, it would hide a hole.
    else if (at > 0 || (this.#ended && this.#older.length === 0)) into.splice(at, 0, row);
    else {
      const below = placeFromNewest(this.#older, row.seq);
      if (this.#older[below]?.seq === row.seq) this.#older[below] = row;
      else if (below < this.#older.length || this.#ended) this.#older.splice(below, 0, row);
    }
  }

  #patch(seq: number, change: Partial<MessageRow>): void {
    for (const list of [this.#recent, this.#incoming]) {
      const at = place(list, seq);
      const row = list[at];
      if (row?.seq === seq) list[at] = { ...row, ...change };
    }
    const at = placeFromNewest(this.#older, seq);
    const row = this.#older[at];
    if (row?.seq === seq) this.#older[at] = { ...row, ...change };
  }

  #remove(seq: number): void {
    const at = place(this.#recent, seq);
    if (this.#recent[at]?.seq === seq) this.#recent.splice(at, 1);
  }
}

/** Where a message is or belongs among rows in rising order. */
function place(rows: readonly MessageRow[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.seq ?? Infinity) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a message is or belongs among rows in falling order. */
function placeFromNewest(rows: readonly MessageRow[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.seq ?? -Infinity) > seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
