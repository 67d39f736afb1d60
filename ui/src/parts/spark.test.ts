import { describe, expect, test } from "vitest";
import { sparkPath } from "./spark";

describe("sparkPath", () => {
  test("the largest is at the top, nothing at the bottom", () => {
    expect(sparkPath([0, 10, 5], 100, 20)).toBe("M0.0 18.5L50.0 1.5L100.0 10.0");
  });

  test("one value is no line", () => {
    expect(sparkPath([3], 100, 20)).toBe("");
  });

  test("it is broken where nothing was measured, and a lonely value is a dot", () => {
    expect(sparkPath([2, null, 1, null, 2, 2], 100, 20)).toBe(
      "M0.0 1.5M40.0 10.0h.1M80.0 1.5L100.0 1.5",
    );
  });
});
