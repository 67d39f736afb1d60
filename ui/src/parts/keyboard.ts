/** Whether the key belongs to something the person is typing in, or to a dialog that is open. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  return isWriting(event);
}

/** The same for a key with Ctrl. */
export function isWriting({ target }: Pick<KeyboardEvent, "target">): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null;
}

const CHORD_MS = 1_000;

/** Keys that do something, alone (`?`) or one after the other (`g f`). */
export class Chords {
  readonly #actions: Record<string, () => void>;
  #first: { key: string; at: number } | null = null;

  constructor(actions: Record<string, () => void>) {
    this.#actions = actions;
  }

  /** Returns whether the key did something. */
  take(event: Pick<KeyboardEvent, "key" | "timeStamp">): boolean {
    const first = this.#first;
    this.#first = null;
    const both = first !== null && event.timeStamp - first.at < CHORD_MS;
    const action =
      (both ? this.#actions[`${first.key} ${event.key}`] : undefined) ?? this.#actions[event.key];
    if (action !== undefined) {
      action();
      return true;
    }
    const begins = Object.keys(this.#actions).some((keys) => keys.startsWith(`${event.key} `));
    if (begins) this.#first = { key: event.key, at: event.timeStamp };
    return false;
  }
}
