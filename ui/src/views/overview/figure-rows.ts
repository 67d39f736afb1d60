import type { FigureHistory } from "../../api/generated";
import { sums, type Span, type Sums } from "../../state/figures";

/** As many lines as one reads. */
const MOST = 60;

/** Some steps of a history put together in a line. */
export interface FigureRow {
  from: number;
  /** None where the broker did not run. */
  sums: Sums | null;
  /** The largest of each. */
  p50: number | null;
  p99: number | null;
  queued: number;
  open: number;
}

/** What happened in a span, newest first, in so many lines as one reads. */
export function rowsOf(history: FigureHistory, span: Span): FigureRow[] {
  const inside = history.at
    .map((_, i) => i)
    .filter((i) => {
      const at = history.at[i] ?? 0;
      return at + history.stepSeconds > span.from && at < span.to;
    });
  const size = Math.max(1, Math.ceil(inside.length / MOST));
  const rows: FigureRow[] = [];
  for (let first = 0; first < inside.length; first += size)
    rows.push(together(history, inside.slice(first, first + size)));
  return rows.reverse();
}

function together(history: FigureHistory, steps: readonly number[]): FigureRow {
  const from = history.at[steps[0] ?? 0] ?? 0;
  const total = sums(history, { from, to: from + steps.length * history.stepSeconds });
  const most = (values: readonly (number | null)[]) =>
    steps.reduce<number | null>((largest, i) => {
      const value = values[i] ?? null;
      return value === null ? largest : Math.max(value, largest ?? value);
    }, null);
  return {
    from,
    sums: total.seconds === 0 ? null : total,
    p50: most(history.p50Micros),
    p99: most(history.p99Micros),
    queued: most(history.queued) ?? 0,
    open: most(history.openLetters) ?? 0,
  };
}
