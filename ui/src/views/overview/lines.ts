import type { FigureHistory } from "../../api/generated";
import type { ChartLine } from "../../parts/chart";
import { rate, short } from "../../parts/quantity";
import { roughly } from "../../parts/time";
import { measured, perSecond } from "../../state/figures";

/** One of the charts: what it shows, and how its figures are written. */
export interface ChartSpec {
  title: string;
  lines: (history: FigureHistory, now: number) => ChartLine[];
  format: (value: number) => string;
  /** Whether there is nothing between one and two. */
  counts?: boolean;
  /** Only of everything: a door or an agent has none. */
  whole?: boolean;
}

/** A figure in little room at the edge of a chart, down to a tenth. */
function edge(value: number): string {
  return value >= 1_000 ? short(value) : rate(value);
}

export const CHARTS: readonly ChartSpec[] = [
  {
    title: "Messages a second",
    format: edge,
    lines: (history, now) => [
      line("accepted", "--request", perSecond(history, "accepted", now), true),
      line("processed", "--response", perSecond(history, "processed", now)),
      line("refused", "--warn", perSecond(history, "refused", now)),
      line("died", "--error", perSecond(history, "dead", now)),
    ],
  },
  {
    title: "Time to settle",
    format: roughly,
    lines: (history) => [
      line("p99", "--event", measured(history, "p99Micros")),
      line("p50", "--broadcast", measured(history, "p50Micros"), true),
    ],
  },
  {
    title: "Waiting",
    counts: true,
    format: short,
    lines: (history) => [line("deliveries", "--brass", history.queued, true)],
  },
  {
    title: "Open dead letters",
    counts: true,
    format: short,
    whole: true,
    lines: (history) => [line("open", "--error", history.openLetters, true)],
  },
];

function line(name: string, color: string, values: ChartLine["values"], filled = false): ChartLine {
  return { name, color, values, filled };
}
