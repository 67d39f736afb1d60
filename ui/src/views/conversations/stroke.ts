import { laneX, TIMES, widthOf, type Scale } from "./geometry";
import type { Line } from "./lines";
import type { Arrow } from "./sequence";

/** A label that stands beside its arrow. */
const BESIDE = 170;
const LOOP = 28;

/** How an arrow is drawn: paths for an SVG as wide as the diagram and as high as a row. */
export interface Stroke {
  line: string;
  heads: string[];
  /** Where it was stopped, or where it set out both ways. */
  cross: string | null;
  dot: { x: number; y: number } | null;
  label: { left: number; width: number; align: "center" | "left" | "right" };
  /** The stretch it covers. */
  left: number;
  right: number;
}

/** Draws one arrow among so many lanes that are so far apart. */
export function stroke(
  arrow: Pick<Arrow, "from" | "to" | "reach">,
  lanes: number,
  gap: number,
  scale: Scale,
): Stroke {
  const total = widthOf(lanes, gap);
  const { line: y } = scale;
  const tail = laneX(arrow.from, gap);
  if (arrow.reach === "everyone") return toEveryone(tail, lanes, gap, scale);
  if (arrow.reach === "halfway") {
    const aim = tail + wayTo(arrow, lanes) * gap;
    const end = halfway(tail, aim, gap);
    const cross = `M${at(end - 4, y - 4)}l8 8m0 -8l-8 8`;
    const drawn = plain(`M${at(tail, y)}H${String(end)}`, tail, aim, total, scale);
    // What is said of it stands where it ends.
    const { label } = plain("", tail, 2 * end - tail, total, scale);
    return { ...drawn, label, cross };
  }
  const tip = laneX(arrow.to ?? arrow.from, gap);
  if (tip === tail) {
    const drawn = `M${at(tail, y - 4)}h${String(LOOP)}v9H${String(tail + 7)}`;
    return {
      ...plain(drawn, tail, tail + LOOP, total, scale),
      heads: [head(tail, tail + 1, y + 5)],
    };
  }
  const drawn = plain(`M${at(tail, y)}H${String(short(tip, tail))}`, tail, tip, total, scale);
  return { ...drawn, heads: [head(tip, tail, y)] };
}

/** Between two lanes: what stops on a third one would seem to have come there. */
function halfway(tail: number, aim: number, gap: number): number {
  const lanes = Math.round(Math.abs(aim - tail) / gap);
  const back = lanes % 2 === 0 ? gap * 0.4 : 0;
  return Math.round((tail + aim) / 2 - Math.sign(aim - tail) * back);
}

/** The same with a head at either end: there and back again. */
function bothWays(drawn: Stroke, { line: y }: Scale): Stroke {
  const { left, right } = drawn;
  return {
    ...drawn,
    line: `M${at(left + 7, y)}H${String(right - 7)}`,
    heads: [head(left, right, y), head(right, left, y)],
  };
}

/** Across all lanes, both ways if its sender stands between them. */
function toEveryone(tail: number, lanes: number, gap: number, scale: Scale): Stroke {
  // Alone, it still speaks to someone.
  const last = Math.max(lanes - 1, 1);
  const y = scale.line;
  const ends = [laneX(0, gap), laneX(last, gap)].filter((x) => x !== tail);
  const [from, to] =
    ends.length === 2 ? [ends[0] ?? tail, ends[1] ?? tail] : [tail, ends[0] ?? tail];
  const start = from === tail ? tail : short(from, tail);
  const line = `M${at(start, y)}H${String(short(to, tail))}`;
  return {
    ...plain(line, from, to, widthOf(last + 1, gap), { ...scale, labels: "above" }),
    heads: ends.map((x) => head(x, tail, y)),
    dot: { x: tail, y },
  };
}

/** How many lanes further it aimed; at the next one if it is not known at whom. */
function wayTo({ from, to }: Pick<Arrow, "from" | "to">, lanes: number): number {
  if (to !== null && to !== from) return to - from;
  return from > 0 && from === lanes - 1 ? -1 : 1;
}

function plain(line: string, a: number, b: number, total: number, scale: Scale): Stroke {
  const [left, right] = [Math.min(a, b), Math.max(a, b)];
  const label =
    scale.labels === "above" ? above(left, right, total, scale) : beside(left, right, total);
  return { line, heads: [], cross: null, dot: null, label, left, right };
}

/**
 * Only one arrow is in a row, so a label may be wider than its arrow; not so wide that it would have to
 * leave the middle of one between the first two lanes or the last two.
 */
function above(left: number, right: number, total: number, scale: Scale): Stroke["label"] {
  const width = Math.max(right - left - 20, 2 * scale.narrowest);
  const middle = (left + right - width) / 2;
  return { left: Math.max(Math.min(middle, total - width), TIMES), width, align: "center" };
}

function beside(left: number, right: number, total: number): Stroke["label"] {
  const after = total - right - 10;
  const before = left - TIMES - 10;
  if (after >= BESIDE || after >= before)
    return { left: right + 8, width: Math.max(after, 40), align: "left" };
  const width = Math.max(before, 40);
  return { left: left - 8 - width, width, align: "right" };
}

function at(x: number, y: number): string {
  return `${String(x)} ${String(y)}`;
}

/** A line ends where its head begins. */
function short(x: number, from: number): number {
  return x >= from ? x - 7 : x + 7;
}

function head(x: number, from: number, y: number): string {
  return `M${at(x, y)}l${x >= from ? "-8" : "8"} -4.5v9z`;
}

/** How a row of the diagram is drawn that can be chosen. */
export function drawn(
  line: Exclude<Line, { type: "gap" }>,
  lanes: number,
  gap: number,
  scale: Scale,
): Stroke {
  switch (line.type) {
    case "arrow":
      return stroke(line.arrow, lanes, gap, scale);
    case "fold": {
      const [there, back] = line.round;
      if (there === undefined) return mark(0, lanes, gap, scale);
      const one = stroke(there, lanes, gap, scale);
      const returns = back?.from === there.to && back?.to === there.from;
      return returns && one.heads.length === 1 ? bothWays(one, scale) : one;
    }
    case "change":
      return mark(line.lane ?? 0, lanes, gap, scale);
  }
}

/** A mark on a lane, with what it says beside it. */
function mark(lane: number, lanes: number, gap: number, { line: y }: Scale): Stroke {
  const x = laneX(lane, gap);
  const diamond = `M${at(x - 5, y)}l5 -5l5 5l-5 5z`;
  const label = beside(x - 6, x + 6, widthOf(lanes, gap));
  return { line: "", heads: [diamond], cross: null, dot: null, label, left: x, right: x };
}
