import type { Layout } from "./layout";

/** A place in the grid: providers are row -2, capabilities row -1, callers column -1. */
export interface At {
  row: number;
  column: number;
}

export const PROVIDERS = -2;
export const CAPABILITIES = -1;
export const CALLERS = -1;

interface Grid {
  rows: number;
  layout: Layout;
  /** How many rows are in sight. */
  page: number;
}

/** Where a key leads; none if it leads nowhere. */
export function move(
  at: At,
  { key, ctrlKey }: Pick<KeyboardEvent, "key" | "ctrlKey">,
  grid: Grid,
): At | null {
  const { row, column } = at;
  const last = { row: grid.rows - 1, column: grid.layout.columns.length - 1 };
  switch (key) {
    case "ArrowUp":
      return within({ row: Math.max(row - 1, column === CALLERS ? 0 : PROVIDERS), column }, grid);
    case "ArrowDown":
      return within({ row: row + 1, column }, grid);
    case "ArrowLeft":
      return within({ row, column: Math.max(beside(at, -1, grid.layout), row < 0 ? 0 : -1) }, grid);
    case "ArrowRight":
      return within({ row, column: beside(at, 1, grid.layout) }, grid);
    case "PageUp":
      return within({ row: Math.max(Math.min(row, 0), row - grid.page), column }, grid);
    case "PageDown":
      return within({ row: row + grid.page, column }, grid);
    case "Home":
      return within(ctrlKey ? { row: 0, column: 0 } : { row, column: 0 }, grid);
    case "End":
      return within(ctrlKey ? last : { row, column: last.column }, grid);
    default:
      return null;
  }
}

/** The nearest place there is. Above the callers' names stands nothing to go to. */
export function within({ row, column }: At, { rows, layout }: Pick<Grid, "rows" | "layout">): At {
  const least = column === CALLERS ? 0 : PROVIDERS;
  const at = {
    row: Math.max(least, Math.min(row, rows - 1)),
    column: Math.max(row < 0 ? 0 : CALLERS, Math.min(column, layout.columns.length - 1)),
  };
  if (at.row !== PROVIDERS) return at;
  const group = layout.groups[layout.columns[at.column]?.group ?? 0];
  return { row: PROVIDERS, column: group?.first ?? 0 };
}

/** The next column, or the next provider's first. */
function beside({ row, column }: At, step: 1 | -1, { columns, groups }: Layout): number {
  if (row !== PROVIDERS) return column + step;
  const group = (columns[column]?.group ?? 0) + step;
  return groups[Math.max(0, Math.min(group, groups.length - 1))]?.first ?? column;
}
