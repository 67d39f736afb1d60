const FIRST_MS = 250;
const LAST_MS = 5_000;

/** How long to wait before each further try: doubling, and never all at the same moment. */
export class Backoff {
  #next = FIRST_MS;

  /** The next wait, in milliseconds. */
  next(random: () => number = Math.random): number {
    const wait = this.#next * (0.75 + random() * 0.5);
    this.#next = Math.min(this.#next * 2, LAST_MS);
    return wait;
  }

  /** Something worked; the next failure is a first one again. */
  reset(): void {
    this.#next = FIRST_MS;
  }
}
