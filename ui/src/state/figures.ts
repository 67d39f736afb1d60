import type { FigureHistory } from "../api/generated";

/** How far back the figures can go, and how often they are read anew meanwhile. */
export const RANGES = [
  { minutes: 5, title: "5 min", everyMs: 1_000 },
  { minutes: 60, title: "1 h", everyMs: 2_000 },
  { minutes: 360, title: "6 h", everyMs: 10_000 },
  { minutes: 1_440, title: "24 h", everyMs: 30_000 },
  { minutes: 10_080, title: "7 days", everyMs: 60_000 },
] as const;
export type Minutes = (typeof RANGES)[number]["minutes"];

/** How often it is asked who was busy: that is dear, and a long time changes little in a moment. */
export function busyEveryMs(minutes: number): number {
  if (minutes <= 10) return 4_000;
  return minutes <= 60 ? 10_000 : 30_000;
}

/** The longest that the broker can be asked about. */
export const LONGEST = 10_080;

/** From when to when, in seconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

/** One line of a chart: null breaks it, and where it is undefined it goes straight on. */
export type Line = (number | null | undefined)[];

type Counted = "accepted" | "processed" | "refused" | "dead";

/** What happened altogether. */
export interface Sums extends Record<Counted, number> {
  /** For how many seconds the broker ran. */
  seconds: number;
}

/** A step this young says nothing about a rate yet. */
const YOUNG = 0.2;

/** When the history begins and ends; none while it is empty. */
export function spanOf({ at, stepSeconds }: FigureHistory): Span | null {
  const [first, last] = [at[0], at.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { from: first, to: last + stepSeconds };
}

/**
 * So many a second in each step. The last step is not over: it counts by what of it has passed, and
 * not at all in its first moments. `now` is in milliseconds.
 */
export function perSecond(history: FigureHistory, of: Counted, now: number): Line {
  const { at, stepSeconds } = history;
  return history[of].map((n, i) => {
    if (n === null) return null;
    const passed = lengthOf(at[i] ?? 0, stepSeconds, i === at.length - 1, now);
    return passed < stepSeconds * YOUNG ? undefined : n / passed;
  });
}

function lengthOf(begin: number, step: number, last: boolean, now: number): number {
  const passed = now / 1_000 - begin;
  // A clock that is not the broker's may say anything.
  return last && passed >= 0 && passed < step ? passed : step;
}

/** A line that goes on where nothing was measured, and breaks where the broker did not run. */
export function measured(history: FigureHistory, of: "p50Micros" | "p99Micros"): Line {
  return history[of].map((value, i) => value ?? (history.accepted[i] === null ? null : undefined));
}

/** When the broker did not run. */
export function gaps({ at, stepSeconds, accepted }: FigureHistory): Span[] {
  const found: Span[] = [];
  at.forEach((from, i) => {
    if (accepted[i] !== null) return;
    const last = found.at(-1);
    if (last?.to === from) last.to = from + stepSeconds;
    else found.push({ from, to: from + stepSeconds });
  });
  return found;
}

/** What happened in the steps that begin in this span; in all of them if none is given. */
export function sums(history: FigureHistory, span: Span | null = null): Sums {
  const total: Sums = { accepted: 0, processed: 0, refused: 0, dead: 0, seconds: 0 };
  history.at.forEach((begin, i) => {
    if (span !== null && (begin < span.from || begin >= span.to)) return;
    if (history.accepted[i] === null) return;
    total.seconds += history.stepSeconds;
    for (const of of ["accepted", "processed", "refused", "dead"] as const)
      total[of] += history[of][i] ?? 0;
  });
  return total;
}

/** By how much something grew, as a share of what it was; none where there was nothing to grow from. */
export function growth(now: number, before: number): number | null {
  return before === 0 ? null : now / before - 1;
}

/** A growth as one reads it: `+12 %`, `−3 %`, `×14`; `as before` is none to speak of. */
export function grown(share: number): string {
  const percent = Math.round(share * 100);
  if (percent === 0) return "as before";
  if (share >= 9) return `×${String(Math.round(share + 1))}`;
  return `${percent > 0 ? "+" : "−"}${String(Math.abs(percent))} %`;
}

/** What half of the messages stayed under, taken from what each step says of itself. */
export function typical(history: FigureHistory, of: "p50Micros" | "p99Micros"): number | null {
  const steps = history[of]
    .map((value, i) => ({ value, weight: history.processed[i] ?? 0 }))
    .filter((step): step is { value: number; weight: number } => step.value !== null)
    .sort((a, b) => a.value - b.value);
  // What was settled without being processed took its time too.
  let left = steps.reduce((sum, { weight }) => sum + Math.max(1, weight), 0) / 2;
  for (const { value, weight } of steps) {
    left -= Math.max(1, weight);
    if (left <= 0) return value;
  }
  return null;
}

/** The largest there was, and when. */
export function peak(
  history: FigureHistory,
  of: "p99Micros" | "queued" | "openLetters",
): { value: number; at: number } | null {
  let found: { value: number; at: number } | null = null;
  history[of].forEach((value, i) => {
    if (value !== null && value > (found?.value ?? -1)) found = { value, at: history.at[i] ?? 0 };
  });
  return found;
}

/** The last value there is. */
export function latest(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** Whether anything happened at all. */
export function isSilent(history: FigureHistory): boolean {
  const { accepted, refused, dead } = sums(history);
  return accepted + refused + dead === 0;
}
