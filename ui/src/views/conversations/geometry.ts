// Where things stand in the diagram, in pixels.
import { DENSITIES, type Density } from "../../state/conversations-diagram.svelte";

/** The lane headings. */
export const HEAD = 48;
/** The column with the times, on the left. */
export const TIMES = 84;
/** Above this arrows only grow long. */
const WIDEST = 250;
/** Rows beyond the visible ones, so that a quick scroll shows no gap. */
const SPARE = 6;

/** How large things are drawn. */
export interface Scale {
  row: number;
  /** Where the line runs inside its row. */
  line: number;
  /** Below this the names of lanes cannot be read. */
  narrowest: number;
  /** Whether labels stand above their arrows, or beside them for want of room. */
  labels: "above" | "beside";
}

export const scales: Record<Density, Scale> = {
  roomy: { row: 42, line: 30, narrowest: 104, labels: "above" },
  close: { row: 30, line: 23, narrowest: 84, labels: "above" },
  tight: { row: 20, line: 10, narrowest: 58, labels: "beside" },
};

/** The largest at which all lanes are in sight; the smallest if they never are. */
export function fitting(width: number, lanes: number): Density {
  const fits = (density: Density) => TIMES + lanes * scales[density].narrowest <= width;
  if (width === 0) return "roomy";
  return DENSITIES.find(fits) ?? "tight";
}

/** How far lanes are apart when there is so much room. */
export function laneGap(width: number, lanes: number, { narrowest }: Scale): number {
  const fair = (width - TIMES) / Math.max(lanes, 1);
  return Math.floor(Math.min(Math.max(fair, narrowest), WIDEST));
}

/** The middle of a lane. */
export function laneX(lane: number, gap: number): number {
  return TIMES + Math.round(gap * (lane + 0.5));
}

export function widthOf(lanes: number, gap: number): number {
  return TIMES + gap * Math.max(lanes, 1);
}

/** Which rows are in sight: from the first up to, not including, the end. */
export function inSight(
  view: { top: number; height: number },
  rows: number,
  row: number,
): { first: number; end: number } {
  const first = Math.min(Math.max(0, Math.floor(view.top / row) - SPARE), rows);
  const end = Math.min(rows, Math.ceil((view.top + view.height) / row) + SPARE);
  return { first, end: Math.max(first, end) };
}

/** How many rows can be in sight at once. */
export function most(height: number, row: number): number {
  return Math.ceil(height / row) + 2 * SPARE + 1;
}

/**
 * The same rows, each in the slot it keeps while it is in sight: an element shows another row when its
 * own has left, and none has to be made or moved. By their numbers: what stays is seen to be the same.
 */
export function slots(
  { first, end }: { first: number; end: number },
  size: number,
): (number | null)[] {
  const all = Array.from({ length: size }, (): number | null => null);
  for (let index = first; index < end; index++) all[index % size] = index;
  return all;
}

/** Where a window of this size has to be scrolled to for a stretch to be in it; as little as needed. */
export function reveal(at: number, size: number, from: number, length: number): number {
  if (from < at || length > size) return Math.max(0, from);
  return from + length > at + size ? from + length - size : at;
}
