const SHOWN_MS = 4_000;
const QUIET_MS = 5_000;

/** Short sentences for the operator: shown for a moment, and read out politely and rarely. */
export class Notices {
  /** On screen now. */
  shown = $state<string | null>(null);
  /** For screen readers only. */
  spoken = $state("");

  #timer: ReturnType<typeof setTimeout> | undefined;
  #spokeAt = -Infinity;

  show(text: string): void {
    this.shown = text;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.shown = null), SHOWN_MS);
  }

  /** Says it unless something was said a moment ago: a busy broker must not talk without end. */
  say(text: string, now = performance.now()): void {
    if (now - this.#spokeAt < QUIET_MS) return;
    this.#spokeAt = now;
    this.spoken = text;
  }
}
