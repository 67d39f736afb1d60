import type { AgentId, SessionChange } from "../../api/generated";
import type { Arrow } from "./sequence";
import type { Step } from "./steps";

/** What a row of the diagram shows, and which steps it stands for. */
export type Line = { key: string; first: number; last: number; after: number } & (
  | { type: "arrow"; arrow: Arrow }
  /** What repeats itself: one round of it, and how often. */
  | { type: "fold"; round: Arrow[]; times: number }
  | { type: "change"; change: SessionChange; lane: number | null }
  /** Nothing happened for so long. */
  | { type: "gap"; micros: number }
);

export interface Wanted {
  /** All lanes, in the order in which they appeared. */
  lanes: readonly AgentId[];
  /** Those that are shown, from the left. */
  shown: readonly AgentId[];
  folding: boolean;
  unfolded: ReadonlySet<string>;
}

/** Less than three of the same are as quickly read as counted. */
const FEWEST_ROUNDS = 3;
const LONGEST_ROUND = 4;
/** A pause is long if it is this long, and so many times longer than pauses are here. */
const LONG_MICROS = 2_000_000;
const LONG_TIMES = 10;

/** The rows of a diagram: the arrows between lanes that are shown, what repeats itself folded. */
export function lines(steps: readonly Step[], wanted: Wanted): Line[] {
  const placed = steps.flatMap((step, i) => line(step, i, wanted) ?? []);
  const folded = wanted.folding ? fold(placed, wanted.unfolded) : placed;
  return withGaps(folded, long(placed));
}

/** Where everything stands among the lanes that are shown; none if it touches one that is not. */
function line(step: Step, i: number, { lanes, shown }: Wanted): Line | null {
  const place = (lane: number) => shown.indexOf(lanes[lane] ?? "");
  const row = { key: step.key, first: i, last: i, after: step.after };
  if (step.type === "change") {
    const lane = shown.indexOf(step.change.by);
    return { ...row, type: "change", change: step.change, lane: lane < 0 ? null : lane };
  }
  const { arrow } = step;
  const from = place(arrow.from);
  const to = arrow.to === null ? null : place(arrow.to);
  if (from < 0 || (to !== null && to < 0)) return null;
  return { ...row, type: "arrow", arrow: { ...arrow, from, to } };
}

function fold(placed: readonly Line[], unfolded: ReadonlySet<string>): Line[] {
  const signs = placed.map((each) => (each.type === "arrow" ? sign(each.arrow) : null));
  const out: Line[] = [];
  for (let i = 0; i < placed.length;) {
    const { length, times } = rounds(signs, i);
    const covered = placed.slice(i, i + length * times);
    const [first, last] = [covered[0], covered.at(-1)];
    if (times < FEWEST_ROUNDS || first === undefined || last === undefined) {
      out.push(...placed.slice(i, i + 1));
      i++;
      continue;
    }
    const key = `fold ${first.key}`;
    if (unfolded.has(key)) out.push(...covered);
    else {
      const round = covered
        .slice(0, length)
        .flatMap((each) => (each.type === "arrow" ? [each.arrow] : []));
      const { after } = first;
      out.push({ type: "fold", key, first: first.first, last: last.last, after, round, times });
    }
    i += covered.length;
  }
  return out;
}

/** What has to be the same for two arrows to be told as one. */
function sign({ from, to, tone, reach, answer, waiting, label }: Arrow): string {
  return JSON.stringify([from, to, tone, reach, answer, waiting, label]);
}

/** The repetition that begins here and covers most: how long a round is, and how many there are. */
function rounds(signs: readonly (string | null)[], at: number): { length: number; times: number } {
  let best = { length: 1, times: 1 };
  for (let length = 1; length <= LONGEST_ROUND; length++) {
    let end = at + length;
    while (end < signs.length && signs[end] !== null && signs[end] === signs[end - length]) end++;
    const sound = signs.slice(at, at + length).every((each) => each !== null);
    const times = sound ? Math.floor((end - at) / length) : 1;
    if (times >= FEWEST_ROUNDS && times * length > best.times * best.length)
      best = { length, times };
  }
  return best;
}

/** From how many microseconds on a pause is long here. */
function long(rows: readonly Line[]): number {
  const pauses = rows.slice(1).map((row, i) => row.after - (rows[i]?.after ?? 0));
  const usual = pauses.sort((a, b) => a - b)[Math.floor(pauses.length / 2)] ?? 0;
  return Math.max(LONG_MICROS, usual * LONG_TIMES);
}

function withGaps(rows: readonly Line[], long: number): Line[] {
  return rows.flatMap((row, i): Line[] => {
    const micros = row.after - (rows[i - 1]?.after ?? row.after);
    if (micros < long) return [row];
    const { first, after } = row;
    return [{ type: "gap", key: `gap ${row.key}`, first, last: first, after, micros }, row];
  });
}
