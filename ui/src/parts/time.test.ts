import { describe, expect, test } from "vitest";
import {
  ago,
  briefMoment,
  clock,
  elapsed,
  microsBetween,
  moment,
  roughly,
  span,
  toTheMinute,
  took,
  until,
} from "./time";

test("what is to come is told by one unit, rounded up", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  const left = (ms: number) => until(new Date(now + ms).toISOString(), now);
  expect([2_001, 59_000, 61_000, 3_600_001, 0, -5].map(left)).toEqual([
    "3 s",
    "59 s",
    "2 min",
    "2 h",
    "now",
    "now",
  ]);
});

test.each([
  [0, "0 ms"],
  [20, "< 0.1 ms"],
  [3_200, "3.2 ms"],
  [18_400, "18 ms"],
  [999_600, "1.00 s"],
  [1_314_000, "1.31 s"],
  [59_999_000, "1:00.0"],
  [185_240_000, "3:05.2"],
  [7_385_000_000, "2:03:05"],
])("%d microseconds in: %s", (micros, text) => {
  expect(elapsed(micros)).toBe(text);
});

describe("times for people", () => {
  test("the clock shows the reader's own time, to the millisecond", () => {
    const at = new Date(2026, 10, 16, 9, 4, 2, 7);
    expect(clock(at.toISOString())).toBe("09:04:02.007");
    expect(clock("never")).toBe("—");
  });

  test("a moment of another day says which", () => {
    const at = new Date(2026, 10, 15, 9, 4, 2, 7).toISOString();
    expect(moment(at, new Date(2026, 10, 15, 23, 59))).toBe("09:04:02.007");
    expect(moment(at, new Date(2026, 10, 16, 0, 1))).toBe("11-15 09:04:02");
    expect(briefMoment(at, new Date(2026, 10, 15, 23, 59))).toBe("09:04:02");
    expect(briefMoment(at, new Date(2026, 10, 16, 0, 1))).toBe("11-15 09:04");
  });

  test.each([
    [null, "—"],
    [0, "0 ms"],
    [210, "0.21 ms"],
    [41_200, "41.2 ms"],
    [999_949, "999.9 ms"],
    [999_950, "1.0 s"],
    [12_400_000, "12.4 s"],
    [185_000_000, "3 min 05 s"],
    [7_440_000_000, "2 h 04 min"],
  ])("%s microseconds are %s", (micros, words) => {
    expect(took(micros)).toBe(words);
  });

  test("a step of a route needs one digit after the point", () => {
    expect([0, 12, 310, 41_240, 12_400_000].map(roughly)).toEqual([
      "0 ms",
      "< 0.1 ms",
      "0.3 ms",
      "41.2 ms",
      "12.4 s",
    ]);
  });

  test.each([
    [42, "42 s"],
    [309, "5 min 09 s"],
    [273_600, "3 d 04 h"],
  ])("%i seconds are %s", (seconds, words) => {
    expect(span(seconds)).toBe(words);
  });

  test("how long ago is told by one unit, and a clock ahead of ours is now", () => {
    const now = Date.parse("2026-11-16T12:00:00Z");
    expect(ago("2026-11-16T11:59:58Z", now)).toBe("2 s ago");
    expect(ago("2026-11-16T11:56:00Z", now)).toBe("4 min ago");
    expect(ago("2026-11-14T11:56:00Z", now)).toBe("2 d ago");
    expect(ago("2026-11-16T12:00:05Z", now)).toBe("now");
  });

  test("the difference of two instants keeps the microseconds that Date drops", () => {
    expect(microsBetween("2026-11-16T12:00:00.999950Z", "2026-11-16T12:00:01.000010Z")).toBe(60);
    expect(microsBetween("2026-11-16T12:00:00Z", "2026-11-16T12:00:00.5Z")).toBe(500_000);
  });
});

test("a date where seconds do not matter", () => {
  const instant = new Date(2026, 10, 16, 12, 4, 59, 999).toISOString();
  expect(toTheMinute(instant)).toBe("2026-11-16 12:04");
  expect(toTheMinute("never")).toBe("—");
});
