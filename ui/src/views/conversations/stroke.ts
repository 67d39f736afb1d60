import { laneX, NARROWEST, TIMES, widthOf } from "./geometry";
import type { Arrow } from "./sequence";

/** Where the line runs inside its row; the label stands above it. */
const LINE = 30;
/** Only one arrow is in a row, so a label may be wider than its arrow; not so wide that it would have to
 *  leave the middle of one between the first two lanes or the last two. */
const NARROWEST_LABEL = 2 * NARROWEST;
const LOOP = 28;

/** How an arrow is drawn: paths for an SVG as wide as the diagram and as high as a row. */
export interface Stroke {
  line: string;
  heads: string[];
  /** Where it was stopped, or where it set out both ways. */
  cross: string | null;
  dot: { x: number; y: number } | null;
  label: { left: number; width: number };
  /** The stretch it covers. */
  left: number;
  right: number;
}

export function stroke(
  arrow: Pick<Arrow, "from" | "to" | "reach">,
  lanes: number,
  gap: number,
): Stroke {
  const tail = laneX(arrow.from, gap);
  const total = widthOf(lanes, gap);
  if (arrow.reach === "everyone") return toEveryone(tail, lanes, gap);
  if (arrow.reach === "halfway") {
    const aim = tail + wayTo(arrow, lanes) * gap;
    const end = Math.round((tail + aim) / 2);
    const cross = `M${String(end - 4)} ${String(LINE - 4)}l8 8m0 -8l-8 8`;
    return { ...plain(`M${at(tail)}H${String(end)}`, tail, aim, total), cross };
  }
  const tip = laneX(arrow.to ?? arrow.from, gap);
  if (tip === tail) {
    const drawn = `M${at(tail, -4)}h${String(LOOP)}v11H${String(tail + 7)}`;
    return { ...plain(drawn, tail, tail + LOOP, total), heads: [head(tail, tail + 1, 7)] };
  }
  const drawn = plain(`M${at(tail)}H${String(short(tip, tail))}`, tail, tip, total);
  return { ...drawn, heads: [head(tip, tail)] };
}

/** Across all lanes, both ways if its sender stands between them. */
function toEveryone(tail: number, lanes: number, gap: number): Stroke {
  // Alone, it still speaks to someone.
  const last = Math.max(lanes - 1, 1);
  const ends = [laneX(0, gap), laneX(last, gap)].filter((x) => x !== tail);
  const [from, to] =
    ends.length === 2 ? [ends[0] ?? tail, ends[1] ?? tail] : [tail, ends[0] ?? tail];
  const start = from === tail ? tail : short(from, tail);
  return {
    ...plain(`M${at(start)}H${String(short(to, tail))}`, from, to, widthOf(last + 1, gap)),
    heads: ends.map((x) => head(x, tail)),
    dot: { x: tail, y: LINE },
  };
}

/** How many lanes further it aimed; at the next one if it is not known at whom. */
function wayTo({ from, to }: Pick<Arrow, "from" | "to">, lanes: number): number {
  if (to !== null && to !== from) return to - from;
  return from > 0 && from === lanes - 1 ? -1 : 1;
}

function plain(line: string, a: number, b: number, total: number): Stroke {
  const [left, right] = [Math.min(a, b), Math.max(a, b)];
  const width = Math.max(right - left - 20, NARROWEST_LABEL);
  const middle = (left + right - width) / 2;
  const label = { left: Math.max(Math.min(middle, total - width), TIMES), width };
  return { line, heads: [], cross: null, dot: null, label, left, right };
}

function at(x: number, below = 0): string {
  return `${String(x)} ${String(LINE + below)}`;
}

/** A line ends where its head begins. */
function short(x: number, from: number): number {
  return x >= from ? x - 7 : x + 7;
}

function head(x: number, from: number, below = 0): string {
  return `M${at(x, below)}l${x >= from ? "-8" : "8"} -4.5v9z`;
}
