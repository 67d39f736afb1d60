import type { BusyList, BusyQuery, BusyRow, FigureHistory, HistoryQuery } from "../api/generated";

/** The part of the fake broker that knows how busy it was. */
export class FakeFigures {
  history: (query: HistoryQuery) => FigureHistory = () => figureHistory([]);
  agents: BusyRow[] = [];
  doors: BusyRow[] = [];

  busy({ by }: BusyQuery): BusyList {
    return { stepSeconds: 60, rows: by === "agent" ? this.agents : this.doors };
  }
}

/** A history in steps of ten seconds that began at second 1,000: so many accepted in each. */
export function figureHistory(
  accepted: (number | null)[],
  change: Partial<FigureHistory> = {},
): FigureHistory {
  const of = (each: (n: number) => number) => accepted.map((n) => (n === null ? null : each(n)));
  return {
    stepSeconds: 10,
    at: accepted.map((_, i) => 1_000 + i * 10),
    accepted,
    processed: of((n) => n),
    refused: of(() => 0),
    dead: of(() => 0),
    p50Micros: of(() => 400),
    p99Micros: of(() => 2_400),
    queued: of(() => 0),
    openLetters: of(() => 0),
    ...change,
  };
}

export function busyRow(name: string, change: Partial<BusyRow> = {}): BusyRow {
  return {
    name,
    accepted: 0,
    processed: 0,
    refused: 0,
    dead: 0,
    p50Micros: null,
    p99Micros: null,
    queued: 0,
    traffic: [],
    latency: [],
    ...change,
  };
}
