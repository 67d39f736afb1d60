// What a chart shows, and how it is written at its edges. The drawing is in Chart.svelte.

/** One line of a chart. */
export interface ChartLine {
  name: string;
  /** The colour's name among the tokens: `--request`. */
  color: string;
  /** Null breaks the line; where it is undefined it goes straight on. */
  values: (number | null | undefined)[];
  /** Whether the ground under it is tinted. */
  filled?: boolean;
}

/** From when to when, in seconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

const HOUR = 3_600;
const DAY = 24 * HOUR;
const two = (n: number) => String(n).padStart(2, "0");

/** A moment under a chart that shows so many seconds: `12:04:10`, `12:04`, `16 Nov`. */
export function tick(at: number, shown: number): string {
  const when = new Date(at * 1_000);
  const clock = `${two(when.getHours())}:${two(when.getMinutes())}`;
  if (shown <= 15 * 60) return `${clock}:${two(when.getSeconds())}`;
  if (shown <= 1.5 * DAY) return clock;
  return when.getHours() === 0 ? day(when) : `${day(when)} ${clock}`;
}

/** A moment in full where the eye is: with the day once a chart shows more than one. */
export function moment(at: number, shown: number): string {
  const when = new Date(at * 1_000);
  const clock = `${two(when.getHours())}:${two(when.getMinutes())}`;
  if (shown <= 2 * HOUR) return `${clock}:${two(when.getSeconds())}`;
  return shown <= DAY ? clock : `${day(when)} ${clock}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

function day(when: Date): string {
  return `${String(when.getDate())} ${MONTHS[when.getMonth()] ?? ""}`;
}

/** The place of the last step that begins then or earlier; the first if there is none. */
export function placeOf(at: readonly number[], moment: number): number {
  let [low, high] = [0, at.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((at[middle] ?? 0) <= moment) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The last place that has something to show. */
export function lastPlace(lines: readonly ChartLine[]): number {
  return Math.max(-1, ...lines.map(({ values }) => values.findLastIndex((value) => value != null)));
}

/** What each line says at a place. */
export function valuesAt(lines: readonly ChartLine[], place: number): (number | null)[] {
  return lines.map(({ values }) => values[place] ?? null);
}

/** What stands at the edge, each thing once: where figures are too small to be told apart, the lowest. */
export function once(labels: readonly string[]): string[] {
  return labels.map((label, i) => (labels.indexOf(label) === i ? label : ""));
}
