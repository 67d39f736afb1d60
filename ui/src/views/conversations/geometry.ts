// Where things stand in the diagram, in pixels.

export const ROW = 42;
/** The lane headings. */
export const HEAD = 48;
/** The column with the times, on the left. */
export const TIMES = 84;
/** Below this names cannot be read; above it arrows only grow long. */
export const NARROWEST = 104;
const WIDEST = 250;
/** Rows beyond the visible ones, so that a quick scroll shows no gap. */
const SPARE = 6;

/** How far lanes are apart when there is so much room. */
export function laneGap(width: number, lanes: number): number {
  const fair = (width - TIMES) / Math.max(lanes, 1);
  return Math.floor(Math.min(Math.max(fair, NARROWEST), WIDEST));
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
): { first: number; end: number } {
  const first = Math.min(Math.max(0, Math.floor(view.top / ROW) - SPARE), rows);
  const end = Math.min(rows, Math.ceil((view.top + view.height) / ROW) + SPARE);
  return { first, end: Math.max(first, end) };
}

/** Where a window of this size has to be scrolled to for a stretch to be in it; as little as needed. */
export function reveal(at: number, size: number, from: number, length: number): number {
  if (from < at || length > size) return Math.max(0, from);
  return from + length > at + size ? from + length - size : at;
}
