import type { MessageId } from "../api/generated";

/** Which of many letters the operator means: some by their checkboxes, or all that match. */
export class Picks {
  ids = $state.raw<ReadonlySet<MessageId>>(new Set());
  /** All that match, also those that were not read yet. */
  all = $state(false);
  /** Where a range begins. */
  #anchor: MessageId | null = null;

  get any(): boolean {
    return this.all || this.ids.size > 0;
  }

  has(id: MessageId): boolean {
    return this.all || this.ids.has(id);
  }

  /** Sets or takes back one. Of all that match, those in `loaded` stay. */
  toggle(id: MessageId, loaded: readonly MessageId[]): void {
    const next = new Set(this.all ? loaded : this.ids);
    if (!next.delete(id)) next.add(id);
    this.ids = next;
    this.all = false;
    this.#anchor = id;
  }

  /** Sets everything from the last one that was set or taken back to this one. */
  range(id: MessageId, loaded: readonly MessageId[]): void {
    const from = this.#anchor === null ? -1 : loaded.indexOf(this.#anchor);
    const to = loaded.indexOf(id);
    if (from < 0 || to < 0) {
      this.toggle(id, loaded);
      return;
    }
    const [first, last] = from < to ? [from, to] : [to, from];
    this.ids = new Set([...this.ids, ...loaded.slice(first, last + 1)]);
    this.all = false;
  }

  /** Sets all of these. */
  set(ids: readonly MessageId[]): void {
    this.ids = new Set(ids);
    this.all = false;
  }

  setAll(): void {
    this.ids = new Set();
    this.all = true;
  }

  clear(): void {
    this.ids = new Set();
    this.all = false;
    this.#anchor = null;
  }

  /** Letters that are gone cannot be meant. */
  drop(gone: readonly MessageId[]): void {
    const left = new Set(this.ids);
    for (const id of gone) left.delete(id);
    if (left.size < this.ids.size) this.ids = left;
  }
}
