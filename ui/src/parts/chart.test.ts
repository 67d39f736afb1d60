import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastPlace, moment, once, placeOf, tick, valuesAt, type ChartLine } from "./chart";

const at = new Date(2026, 10, 16, 12, 4, 10).getTime() / 1_000;
const midnight = new Date(2026, 10, 16).getTime() / 1_000;
const line = (values: ChartLine["values"]): ChartLine => ({ name: "x", color: "--text", values });

describe("charts", () => {
  test.each([
    [5 * 60, "12:04:10"],
    [3_600, "12:04"],
    [86_400, "12:04"],
    [7 * 86_400, "16 Nov 12:04"],
  ])("under a chart of %d seconds a moment is %s", (shown, words) => {
    expect(tick(at, shown)).toBe(words);
  });

  test("nothing stands twice at the edge", () => {
    expect(once(["0 ms", "< 0.1 ms", "< 0.1 ms", "0.1 ms"])).toEqual([
      "0 ms",
      "< 0.1 ms",
      "",
      "0.1 ms",
    ]);
  });

  test("a day that begins is written as the day", () => {
    expect(tick(midnight, 7 * 86_400)).toBe("16 Nov");
    expect(moment(midnight, 7 * 86_400)).toBe("16 Nov 00:00");
    expect(moment(at, 3_600)).toBe("12:04:10");
    expect(moment(at, 86_400)).toBe("12:04");
  });

  test("the place of a moment is that of the step it falls into", () => {
    expect(placeOf([10, 20, 30], 29)).toBe(1);
    expect(placeOf([10, 20, 30], 30)).toBe(2);
    expect(placeOf([10, 20, 30], 5)).toBe(0);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1_000), { minLength: 1 }), fc.nat(1_000), (steps, when) => {
        const sorted = [...steps].sort((a, b) => a - b);
        const found = sorted[placeOf(sorted, when)] ?? 0;
        const right = sorted.findLast((each) => each <= when) ?? sorted[0];
        expect(found).toBe(right);
      }),
    );
  });

  test("the last place is the last that has something to show", () => {
    expect(lastPlace([line([1, 2, undefined]), line([1, null, null])])).toBe(1);
    expect(lastPlace([line([null])])).toBe(-1);
    expect(valuesAt([line([1, undefined]), line([3, 4])], 1)).toEqual([null, 4]);
  });
});
