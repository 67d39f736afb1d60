import { expect, test } from "vitest";
import type { PermissionCell, PermissionColumn } from "../../api/generated";
import { callsOf } from "./calls";

const cell = (requests: number, refused = 0): PermissionCell => ({
  own: null,
  requests,
  refused,
  effect: "allow",
  by: "declared",
  declared: "allow",
});
const column = (provider: string, capability: string): PermissionColumn => ({
  provider,
  capability,
  description: "",
  declared: true,
  emptyList: false,
});

test("calls of each capability are summed, with those who called it, the busiest first", () => {
  const matrix = {
    callers: ["a", "b", "c"],
    columns: [column("x", "plan"), column("y", "plan"), column("x", "buy")],
    cells: [
      [cell(2), cell(90), cell(0)],
      [cell(7, 3), cell(0), null],
      [cell(0), cell(0), cell(0)],
    ],
  };
  expect([...callsOf(matrix, "x")]).toEqual([
    ["plan", { requests: 9, refused: 3, callers: ["b", "a"] }],
    ["buy", { requests: 0, refused: 0, callers: [] }],
  ]);
});
