// Where jacks sit: two rows while that is readable, more rows for more of them, and a panel of lamps for
// hundreds. Names are shown where there is room for them; zooming in makes room.

import type { Seat } from "./geometry";

/** Closer than this, names could no longer be told apart at a glance. */
const JACK_PX = 72;
/** As close as names may be where there are many. */
const TIGHT_PX = 46;
/** From one row of jacks with names to the next. */
const ROW_PX = 54;
const EDGE_PX = 90;
/** In a bay as low as this there is no room for second lines. */
const LOW_PX = 168;
const LARGEST_PX = 13;
const SMALLEST_PX = 2.5;
/** Room for a name of the bay's type, letter by letter; those of East Asia are twice as wide. */
const LETTER_PX = 6.6;
const WIDE_LETTER_PX = 12;
const LONGEST_NAME_PX = 170;

export interface Size {
  width: number;
  height: number;
}

/** How so many jacks are laid out in a bay of this size. */
export interface Grid {
  rows: number;
  columns: number;
  /** Before the first, and between one and the next. */
  left: number;
  stepX: number;
  top: number;
  stepY: number;
}

/** How many jacks can have their names beside them. */
export function nameable({ width, height }: Size): number {
  return Math.floor(width / TIGHT_PX) * mostRows(height);
}

function mostRows(height: number): number {
  return Math.max(2, Math.floor((height - 6) / ROW_PX));
}

export function gridFor(jacks: number, size: Size): Grid {
  const rows = rowsFor(jacks, size);
  const columns = Math.max(1, Math.ceil(jacks / rows));
  const left = Math.min(EDGE_PX, size.width / (columns + 1));
  const stepX = columns > 1 ? (size.width - 2 * left) / (columns - 1) : 0;
  if (rows === 2) {
    const top = size.height < LOW_PX ? 36 : 56;
    return { rows, columns, left, stepX, top, stepY: size.height - 2 * top };
  }
  const pitch = size.height / rows;
  // Names stand below the jacks: the last row needs more room there than the first above.
  const top = pitch > ROW_PX - 14 ? 22 : pitch / 2;
  const bottom = pitch > ROW_PX - 14 ? 34 : pitch / 2;
  return { rows, columns, left, stepX, top, stepY: (size.height - top - bottom) / (rows - 1) };
}

function rowsFor(jacks: number, { width, height }: Size): number {
  const fits = (rows: number, px: number) => width / (Math.ceil(jacks / rows) + 1) >= px;
  if (fits(2, JACK_PX)) return 2;
  const most = mostRows(height);
  for (let rows = 3; rows <= most; rows++) if (fits(rows, JACK_PX)) return rows;
  if (fits(most, TIGHT_PX)) return most;
  return Math.max(3, Math.round(Math.sqrt((jacks * height) / Math.max(1, width))));
}

/** Filled column by column, so that whoever comes moves the others little. */
export function place(ids: readonly string[], grid: Grid, { width, height }: Size): Seat[] {
  return ids.map((id, i) => {
    const row = i % grid.rows;
    const column = Math.floor(i / grid.rows);
    const x = grid.columns > 1 ? grid.left + column * grid.stepX : width / 2;
    const y = grid.top + row * grid.stepY;
    return { id, x, y, top: y < height / 2, above: grid.rows === 2 && row === 0 };
  });
}

/** How jacks look at a zoom. */
export interface Fit {
  /** Of the ring. */
  radius: number;
  /** The width a name may have so that it touches neither its neighbour nor the edge. */
  room: number;
  /** Whether every jack has its name beside it. */
  named: boolean;
  /** Whether there is room for a second line. */
  two: boolean;
}

export function fitFor(grid: Grid, zoom: number, { width, height }: Size): Fit {
  const besides = grid.columns > 1 ? Math.min(grid.stepX, 2 * grid.left) * zoom : width;
  const below = grid.rows === 2 ? Infinity : grid.stepY * zoom;
  const room = Math.min(LONGEST_NAME_PX, besides - 13);
  return {
    radius: Math.max(SMALLEST_PX, Math.min(LARGEST_PX, besides * 0.26, below * 0.24)),
    room,
    named: room >= TIGHT_PX - 14 && below >= ROW_PX - 14,
    two: grid.rows === 2 ? height * zoom >= LOW_PX : below >= 76,
  };
}

/** What tells `worker-17` from `worker-18`, and `worker-eu-` from `worker-us-`. */
const TELLING = /(?:\d{1,4}|(?<=[-_.:/])[^-_.:/\s]{1,3}[-_.:/])$/;

/** A name that fits into so many pixels; its end is kept where that tells it from others. */
export function fitted(name: string, room: number): string {
  const letters = [...name];
  let used = 0;
  const cut = letters.findIndex((letter) => {
    used += (letter.codePointAt(0) ?? 0) >= 0x1100 ? WIDE_LETTER_PX : LETTER_PX;
    return used > room;
  });
  if (cut < 0) return name;
  const end = TELLING.exec(name)?.[0] ?? "";
  return `${letters.slice(0, Math.max(2, cut - 1 - end.length)).join("")}…${end}`;
}
