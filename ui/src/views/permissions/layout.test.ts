import { describe, expect, test } from "vitest";
import type { PermissionColumn } from "../../api/generated";
import { inSight, layOut, rowsInSight, ROW } from "./layout";
import { CALLERS, CAPABILITIES, move, PROVIDERS, within } from "./moves";

const column = (provider: string, capability: string): PermissionColumn => ({
  provider,
  capability,
  description: "",
  declared: true,
  emptyList: false,
});
const columns = [
  column("invoicer", "send"),
  column("invoicer", "status"),
  column("crawler", "crawl"),
  column("planner", "plan"),
  column("planner", "delegate"),
  column("planner", "review"),
];
const all = () => true;

describe("the layout of the matrix", () => {
  test("puts capabilities under their providers, a lone one wider for its provider's name", () => {
    const { groups, columns: laid, width } = layOut(columns, all, new Set());
    expect(groups.map(({ provider, first, count }) => [provider, first, count])).toEqual([
      ["invoicer", 0, 2],
      ["crawler", 2, 1],
      ["planner", 3, 3],
    ]);
    expect(laid[2]?.width).toBeGreaterThan(laid[0]?.width ?? 0);
    expect(laid.at(-1)?.x).toBe(width - (laid.at(-1)?.width ?? 0));
  });

  test("puts a folded provider in one column, and leaves out what does not pass", () => {
    const passes = ({ capability }: PermissionColumn) => capability !== "review";
    const { groups, columns: laid } = layOut(columns, passes, new Set(["planner"]));
    expect(groups.at(-1)).toMatchObject({ provider: "planner", folded: true, count: 1 });
    expect(laid.at(-1)?.places).toEqual([3, 4]);
  });

  test("shows what is in sight, and what has the focus wherever it is", () => {
    const items = Array.from({ length: 400 }, (_, i) => ({ x: i * 50, width: 50 }));
    expect(inSight(items, [100, 260], -1)).toEqual([2, 3, 4, 5]);
    expect(inSight(items, [100, 260], 390)).toEqual([2, 3, 4, 5, 390]);
    expect(inSight(items, [100, 260], 0)).toEqual([0, 2, 3, 4, 5]);
    expect(inSight([], [0, 100], 0)).toEqual([]);
    expect(rowsInSight(200, [10 * ROW, 12 * ROW], 150)).toEqual([10, 11, 150]);
    expect(rowsInSight(3, [-100, 900], 7)).toEqual([0, 1, 2]);
  });
});

describe("keys in the matrix", () => {
  const layout = layOut(columns, all, new Set());
  const grid = { rows: 9, layout, page: 4 };
  const press = (row: number, at: number, key: string, ctrlKey = false) =>
    move({ row, column: at }, { key, ctrlKey }, grid);

  test.each([
    [0, 0, "ArrowRight", 0, 1],
    [0, 0, "ArrowLeft", 0, CALLERS],
    [0, CALLERS, "ArrowUp", 0, CALLERS],
    [0, 4, "ArrowUp", CAPABILITIES, 4],
    [CAPABILITIES, 4, "ArrowUp", PROVIDERS, 3],
    [PROVIDERS, 3, "ArrowLeft", PROVIDERS, 2],
    [PROVIDERS, 0, "ArrowLeft", PROVIDERS, 0],
    [PROVIDERS, 2, "ArrowRight", PROVIDERS, 3],
    [CAPABILITIES, 0, "ArrowLeft", CAPABILITIES, 0],
    [8, 5, "ArrowDown", 8, 5],
    [8, 5, "ArrowRight", 8, 5],
    [6, 1, "PageUp", 2, 1],
    [2, 1, "PageUp", 0, 1],
    [2, 1, "PageDown", 6, 1],
    [2, 3, "Home", 2, 0],
    [2, 3, "End", 2, 5],
  ])("from %i,%i %s leads to %i,%i", (row, at, key, toRow, toColumn) => {
    expect(press(row, at, key)).toEqual({ row: toRow, column: toColumn });
  });

  test("with Ctrl, Home and End lead to the corners; other keys lead nowhere", () => {
    expect(press(4, 4, "Home", true)).toEqual({ row: 0, column: 0 });
    expect(press(4, 4, "End", true)).toEqual({ row: 8, column: 5 });
    expect(press(4, 4, "x")).toBeNull();
  });

  test("a place that was filtered away becomes the nearest", () => {
    expect(within({ row: 30, column: 40 }, grid)).toEqual({ row: 8, column: 5 });
  });
});
