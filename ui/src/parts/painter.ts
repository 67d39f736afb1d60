/**
 * Paints at most once a frame and at most every `ms`. Data that pours in asks politely with `soon`;
 * what the reader does (scrolling, resizing) asks for the next frame with `now`.
 */
export class Painter {
  readonly #paint: () => void;
  readonly #ms: number;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  constructor(paint: () => void, ms: number) {
    this.#paint = paint;
    this.#ms = ms;
  }

  soon(): void {
    if (this.#frame !== 0 || this.#timer !== undefined) return;
    const wait = this.#last + this.#ms - performance.now();
    // A frame is about 16 ms: waiting for less than half of one would only miss it.
    if (wait < 8) this.now();
    else this.#timer = setTimeout(() => this.now(), wait - 8);
  }

  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#last = performance.now();
      this.#paint();
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#timer = undefined;
    this.#frame = 0;
  }
}
