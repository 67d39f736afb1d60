import { describe, expect, test } from "vitest";
import { figureHistory } from "../../testing/fake-figures";
import { rowsOf } from "./figure-rows";
import { tiles } from "./tiles";

describe("the large figures", () => {
  const history = figureHistory([20, null, 40], {
    dead: [1, null, 2],
    queued: [0, null, 7],
    openLetters: [0, null, 3],
  });
  const before = { accepted: 50, processed: 30, refused: 0, dead: 1, seconds: 20 };
  const of = (title: string, past: typeof before | null = before) =>
    tiles(history, past).find((tile) => tile.title === title);

  test("rates are over the time that the broker ran", () => {
    expect(of("Accepted")).toMatchObject({ figure: "3.0", unit: "/s", about: "60 in all" });
    expect(of("Accepted")?.change).toBe("+20 %");
    expect(of("Processed")?.change).toBe("+100 %");
  });

  test("more deaths than before are bad news, and lead to the letters", () => {
    expect(of("Died")).toMatchObject({ figure: "3", change: "+200 %", worse: true });
    expect(of("Died")).toMatchObject({ about: "3 dead letters open now", href: "#/dead-letters" });
    expect(of("Refused")).toMatchObject({ figure: "0", change: "as before", worse: false });
  });

  test("without a time before, or with one the broker hardly saw, nothing is compared", () => {
    expect(of("Accepted", null)?.change).toBeNull();
    expect(of("Accepted", { ...before, seconds: 5 })?.change).toBeNull();
  });

  test("the median and the worst are told, and how long the line was", () => {
    expect(of("Half settle within")).toMatchObject({ figure: "0.40", unit: " ms" });
    expect(of("Half settle within")?.about).toBe("p99 2.4 ms, worst 2.4 ms");
    expect(of("Waiting")).toMatchObject({ figure: "7" });
    const silent = tiles(figureHistory([0], { p50Micros: [null], p99Micros: [null] }), null);
    expect(silent.find(({ title }) => title === "Half settle within")).toMatchObject({
      figure: "—",
      about: "nothing was settled",
    });
  });
});

describe("the same as a table", () => {
  test("newest first, and steps are put together where there are many", () => {
    const history = figureHistory(Array.from({ length: 180 }, (_, i) => (i < 3 ? null : 1)));
    const rows = rowsOf(history, { from: 0, to: Infinity });
    expect(rows).toHaveLength(60);
    expect(rows[0]).toMatchObject({ from: 1_000 + 177 * 10, sums: { accepted: 3 } });
    expect(rows.at(-1)).toMatchObject({ from: 1_000, sums: null });
  });

  test("only of what is looked at", () => {
    const history = figureHistory([1, 2, 3, 4]);
    expect(rowsOf(history, { from: 1_010, to: 1_030 }).map(({ from }) => from)).toEqual([
      1_020, 1_010,
    ]);
  });
});
