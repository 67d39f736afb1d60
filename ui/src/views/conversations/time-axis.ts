// A stretch of time on screen, in microseconds.
import { elapsed } from "../../parts/time";

export interface Stretch {
  from: number;
  to: number;
}

/** Nearer than this nothing more is to be seen. */
const SHORTEST = 50;

/** Everything that happened, and a little more, so that the last bar has an end. */
export function whole(total: number): Stretch {
  return { from: 0, to: Math.max(total * 1.02, SHORTEST) };
}

/** As near or as far as a factor says, keeping `at` where it is. */
export function zoomed(view: Stretch, factor: number, at: number, total: number): Stretch {
  const length = (view.to - view.from) * factor;
  const share = (at - view.from) / (view.to - view.from);
  return within({ from: at - length * share, to: at + length * (1 - share) }, total);
}

export function panned({ from, to }: Stretch, by: number, total: number): Stretch {
  return within({ from: from + by, to: to + by }, total);
}

/** The nearest stretch that is neither too short nor beyond what happened. */
export function within({ from, to }: Stretch, total: number): Stretch {
  const all = whole(total);
  const length = Math.min(Math.max(to - from, SHORTEST), all.to);
  const begin = Math.min(Math.max((from + to - length) / 2, 0), all.to - length);
  return { from: begin, to: begin + length };
}

/** Round instants in sight, at most so many. */
export function ticks({ from, to }: Stretch, most: number): number[] {
  const step = roundStep((to - from) / Math.max(most, 1));
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => (first + i) * step);
}

/** Minutes and hours are not counted by tens. */
const LONG_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200,
];

function roundStep(atLeast: number): number {
  if (atLeast > 1_000_000) {
    const found = LONG_STEPS.find((seconds) => seconds * 1_000_000 >= atLeast);
    const day = 86_400_000_000;
    return found === undefined ? Math.ceil(atLeast / day) * day : found * 1_000_000;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1)));
  const found = [1, 2, 5, 10].find((times) => times * power >= atLeast) ?? 10;
  return found * power;
}

/** An instant in as many digits as tell it from its neighbours. */
export function tickText(at: number, all: readonly number[]): string {
  const step = (all[1] ?? at) - (all[0] ?? 0);
  const last = all.at(-1) ?? at;
  if (at === 0) return "0";
  if (last >= 120_000_000) return elapsed(at);
  const [unit, name] = last >= 1_000_000 ? [1_000_000, "s"] : [1_000, "ms"];
  const digits = step >= unit || step <= 0 ? 0 : Math.ceil(-Math.log10(step / unit) - 1e-9);
  return `${(at / unit).toFixed(digits)} ${name}`;
}

/** Where an instant is drawn, in per cent. */
export function across(at: number, { from, to }: Stretch): number {
  return ((at - from) / (to - from)) * 100;
}
