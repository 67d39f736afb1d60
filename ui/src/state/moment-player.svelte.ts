import { recall, remember } from "./remembered";

/** How fast it goes: so many steps a second, or as fast as it happened. */
export const PACES = ["1", "4", "20", "real"] as const;
export type Pace = (typeof PACES)[number];

const TICK_MS = 50;
/** Nobody waits longer than this for the next step. */
const LONGEST_WAIT_MICROS = 1_000_000;

/** Goes through what happened, step by step. */
export class Player {
  /** The last step that is taken to have happened. None: all that have, and those that come. */
  step = $state<number | null>(null);
  playing = $state(false);
  pace = $state<Pace>(PACES.find((pace) => pace === recall("pace")) ?? "4");
  /** When each step happened, in microseconds, rising. */
  times = $state.raw<readonly number[]>([]);

  #timer: ReturnType<typeof setInterval> | undefined;
  /** Steps that are due, and the time that is played. */
  #due = 0;
  #clock = 0;

  get count(): number {
    return this.times.length;
  }

  /** Where it stands, whether or not somebody looks back. */
  get place(): number {
    return Math.min(this.step ?? Infinity, this.count - 1);
  }

  /** Whether what happened in this step has not happened yet. */
  isLater(step: number): boolean {
    return this.step !== null && step > this.step;
  }

  /** What there is to go through; more may have been added at the end. */
  follow(times: readonly number[]): void {
    this.times = times;
    if (this.step !== null && this.step >= times.length) this.now();
  }

  go(step: number): void {
    if (this.count === 0) return;
    this.step = Math.min(Math.max(step, 0), this.count - 1);
    this.#clock = this.times[this.step] ?? 0;
  }

  by(steps: number): void {
    this.pause();
    this.go(this.place + steps);
  }

  /** Back to how things are. */
  now(): void {
    this.pause();
    this.step = null;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** From the beginning if it stands at the end. */
  play(): void {
    if (this.count === 0) return;
    if (this.place >= this.count - 1) this.go(0);
    else this.go(this.place);
    this.playing = true;
    this.#due = 0;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  pause(): void {
    clearInterval(this.#timer);
    this.playing = false;
  }

  choose(pace: Pace): void {
    this.pace = pace;
    this.#due = 0;
    this.#clock = this.times[this.place] ?? 0;
    remember("pace", pace);
  }

  #tick(): void {
    const next = this.pace === "real" ? this.#reached() : this.#counted(Number(this.pace));
    if (next > this.place) this.#stand(next);
    if (this.place >= this.count - 1) this.pause();
  }

  #counted(aSecond: number): number {
    this.#due += (aSecond * TICK_MS) / 1_000;
    const whole = Math.floor(this.#due);
    this.#due -= whole;
    return this.place + whole;
  }

  #reached(): number {
    let at = this.place;
    const soonest = (this.times[at + 1] ?? 0) - LONGEST_WAIT_MICROS;
    this.#clock = Math.max(this.#clock + TICK_MS * 1_000, soonest);
    while ((this.times[at + 1] ?? Infinity) <= this.#clock) at++;
    return at;
  }

  #stand(step: number): void {
    this.step = Math.min(step, this.count - 1);
  }
}
