const SHOWN_MS = 4_000;
/** Whoever may take something back needs time to think about it. */
const ACTED_ON_MS = 10_000;
const QUIET_MS = 5_000;

/** What is said to whoever does one thing while another is not done yet. */
export const STILL_BUSY = "Another change is still under way.";

/** What can be done about a notice while it is shown: “Undo”. */
export interface NoticeAction {
  label: string;
  run: () => void;
}

/** Short sentences for the operator: shown for a moment, and read out politely and rarely. */
export class Notices {
  /** On screen now. */
  shown = $state<string | null>(null);
  /** What can be done about it. */
  action = $state.raw<NoticeAction | null>(null);
  /** For screen readers only. */
  spoken = $state("");

  #timer: ReturnType<typeof setTimeout> | undefined;
  #spokeAt = -Infinity;

  show(text: string, action: NoticeAction | null = null): void {
    this.shown = text;
    this.action = action;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#hide(), action === null ? SHOWN_MS : ACTED_ON_MS);
  }

  /** Does what the notice offers, once. */
  act(): void {
    const action = this.action;
    this.#hide();
    action?.run();
  }

  /** Says it unless something was said a moment ago: a busy broker must not talk without end. */
  say(text: string, now = performance.now()): void {
    if (now - this.#spokeAt < QUIET_MS) return;
    this.#spokeAt = now;
    this.spoken = text;
  }

  #hide(): void {
    clearTimeout(this.#timer);
    this.shown = null;
    this.action = null;
  }
}
