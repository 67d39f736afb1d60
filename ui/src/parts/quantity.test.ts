import { expect, test } from "vitest";
import { bytes, count, plural, rate, short } from "./quantity";

test("counts have their thousands apart, and short ones fit", () => {
  expect([0, 999, 1_284, 1_234_567].map(count)).toEqual(["0", "999", "1,284", "1,234,567"]);
  expect([940, 1_284, 12_345, 999_499, 999_500, 2_100_000].map(short)).toEqual([
    "940",
    "1.3k",
    "12k",
    "999k",
    "1.0M",
    "2.1M",
  ]);
});

test("a slow rate shows a digit after the point, a fast one none", () => {
  expect([0, 0.42, 9.94, 12.3, 10_000].map(rate)).toEqual(["0", "0.4", "9.9", "12", "10,000"]);
});

test("a rate that is not nothing does not look like it", () => {
  expect([0.0003, 0.016, 0.094, 0.095].map(rate)).toEqual(["<0.01", "0.02", "0.09", "0.1"]);
});

test("sizes and plurals", () => {
  expect([812, 64_000, 184_000_000, 2_100_000_000].map(bytes)).toEqual([
    "812 B",
    "64 KB",
    "184 MB",
    "2.1 GB",
  ]);
  expect([plural(1, "peer"), plural(3, "peer")]).toEqual(["1 peer", "3 peers"]);
});
