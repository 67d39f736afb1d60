// Where everything in the matrix stands. Sizes are fixed, so that only what is in sight need exist.
import type { PermissionColumn } from "../../api/generated";

export const ROW = 29;
export const GROUPS_HEIGHT = 30;
export const NAMES_HEIGHT = 132;
export const CALLERS_WIDTH = 168;
const COLUMN = 50;
/** Room for a provider's name over its only capability. */
const LEAST_GROUP = 104;

/** A capability, or all of one provider put together. */
export interface GridColumn {
  /** Its places among the columns of the matrix; several where they are put together. */
  places: readonly number[];
  folded: boolean;
  group: number;
  x: number;
  width: number;
}

export interface GridGroup {
  provider: string;
  folded: boolean;
  /** The first of its columns in the grid, and how many it has there. */
  first: number;
  count: number;
  x: number;
  width: number;
}

export interface Layout {
  columns: readonly GridColumn[];
  groups: readonly GridGroup[];
  width: number;
}

/** Puts those columns of the matrix that pass side by side, under their providers. */
export function layOut(
  columns: readonly PermissionColumn[],
  passes: (column: PermissionColumn) => boolean,
  folded: ReadonlySet<string>,
): Layout {
  const laid: GridColumn[] = [];
  const groups: GridGroup[] = [];
  let x = 0;
  for (const { provider, places } of byProvider(columns, passes)) {
    const isFolded = folded.has(provider);
    const members = isFolded ? [places] : places.map((place) => [place]);
    const width = isFolded
      ? LEAST_GROUP
      : Math.max(COLUMN, Math.ceil(LEAST_GROUP / members.length));
    groups.push({
      provider,
      folded: isFolded,
      first: laid.length,
      count: members.length,
      x,
      width: width * members.length,
    });
    for (const each of members) {
      laid.push({ places: each, folded: isFolded, group: groups.length - 1, x, width });
      x += width;
    }
  }
  return { columns: laid, groups, width: x };
}

function byProvider(
  columns: readonly PermissionColumn[],
  passes: (column: PermissionColumn) => boolean,
): { provider: string; places: number[] }[] {
  const found = new Map<string, number[]>();
  columns.forEach((column, place) => {
    if (!passes(column)) return;
    const places = found.get(column.provider);
    if (places === undefined) found.set(column.provider, [place]);
    else places.push(place);
  });
  return [...found].map(([provider, places]) => ({ provider, places }));
}

/** Which of those that stand side by side are in sight, and `kept` with them, in order. */
export function inSight(
  items: readonly { x: number; width: number }[],
  [left, right]: readonly [number, number],
  kept: number,
): number[] {
  let first = 0;
  for (let end = items.length; first < end;) {
    const middle = (first + end) >> 1;
    const item = items[middle];
    if (item !== undefined && item.x + item.width <= left) first = middle + 1;
    else end = middle;
  }
  const shown: number[] = [];
  for (let i = first; i < items.length && (items[i]?.x ?? right) < right; i++) shown.push(i);
  return withKept(shown, kept, items.length);
}

/** The same for rows, which are all of one height. */
export function rowsInSight(
  count: number,
  [top, bottom]: readonly [number, number],
  kept: number,
): number[] {
  const first = Math.min(count, Math.max(0, Math.floor(top / ROW)));
  const last = Math.max(first, Math.min(count, Math.ceil(bottom / ROW)));
  const shown = Array.from({ length: last - first }, (_, i) => first + i);
  return withKept(shown, kept, count);
}

/** What has the focus must stay, or the focus would be lost with it. */
function withKept(shown: number[], kept: number, count: number): number[] {
  if (kept < 0 || kept >= count || shown.includes(kept)) return shown;
  return kept < (shown[0] ?? Infinity) ? [kept, ...shown] : [...shown, kept];
}
