import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SettingKind } from "../api/generated";
import { parsed, roughly, told } from "./setting-value";

const number = (change: Partial<Extract<SettingKind, { type: "number" }>> = {}): SettingKind => ({
  type: "number",
  min: 1,
  max: 1_000,
  fraction: false,
  unit: "ms",
  ...change,
});

describe("what is entered for a setting", () => {
  test.each([
    ["12", { value: 12 }],
    [" 1,000 ", { value: 1_000 }],
    ["", { wrong: "Write a number." }],
    ["many", { wrong: "Write a number." }],
    ["1.5", { wrong: "Write a whole number." }],
    ["0", { wrong: "The least is 1 ms." }],
    ["1001", { wrong: "The most is 1,000 ms." }],
  ])("the number %j", (entered, outcome) => {
    expect(parsed(number(), entered)).toEqual(outcome);
  });

  test("every number within its bounds is taken, as text and as itself", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), (n) => {
        expect(parsed(number(), n)).toEqual({ value: n });
        expect(parsed(number(), String(n))).toEqual({ value: n });
      }),
    );
  });

  test("a fraction where one may be given", () => {
    expect(parsed(number({ fraction: true }), "1.5")).toEqual({ value: 1.5 });
  });

  test("lists lose their empty lines, texts the spaces around them", () => {
    expect(parsed({ type: "list", example: "" }, ["a ", "", " b"])).toEqual({ value: ["a", "b"] });
    expect(parsed({ type: "text", example: "" }, " lo ")).toEqual({ value: "lo" });
  });

  test("a word that is not offered is wrong", () => {
    const kind: SettingKind = { type: "choice", options: ["full", "normal", "off"] };
    expect(parsed(kind, "full")).toEqual({ value: "full" });
    expect(parsed(kind, "half")).toEqual({ wrong: "Choose full, normal or off." });
  });
});

test.each([
  [999, "ms", null],
  [30_000, "ms", "30 s"],
  [1_500, "ms", "1.5 s"],
  [300_000, "ms", "5 min 00 s"],
  [1_048_576, "bytes", "1.0 MB"],
  [2_048, "MB", "2.0 GB"],
  [12, "days", null],
])("%s %s reads as %s", (value, unit, words) => {
  expect(roughly(value, unit)).toBe(words);
});

test("values are told in words", () => {
  expect(told({ type: "switch" }, true)).toBe("on");
  expect(told(number(), 30_000)).toBe("30,000 ms");
  expect(told({ type: "text", example: "" }, "")).toBe("nothing");
  expect(told({ type: "list", example: "" }, ["lo", "eth0"])).toBe("lo, eth0");
});
