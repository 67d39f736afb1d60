import { describe, expect, test } from "vitest";
import { batch, row, rows, snapshot } from "../testing/fixtures";
import { MOST_PASSAGES, NOBODY, Traffic } from "./traffic";

describe("who talked to whom lately", () => {
  test("messages weigh on their cord and fade", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1), row(2)] }));
    const [now] = traffic.cords(0, 48);
    expect(now).toMatchObject({ from: "planner", to: "summarizer", kind: "event" });
    const later = traffic.cords(3_000, 48)[0]?.weight ?? 0;
    expect(later / (now?.weight ?? 1)).toBeCloseTo(0.5);
    expect(traffic.cords(120_000, 48)).toEqual([]);
  });

  test("what was said before the first picture is in it, however long the page was open", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1)] }));
    expect(traffic.cords(3_600_000, 48)).toMatchObject([{ weight: 1 }]);
  });

  test("a message without a recipient counts once it is known who took it", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1, { to: null, state: "waiting" })] }));
    expect(traffic.cords(0, 48)).toEqual([]);
    traffic.take(
      batch({
        moved: [
          { seq: 1, state: "processed", to: "echo", tookMicros: 1, error: null, retryAt: null },
        ],
      }),
    );
    expect(traffic.cords(0, 48)).toMatchObject([{ from: "planner", to: "echo", kind: "event" }]);
  });

  test("a message that dies is an error on its cord", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1, { state: "waiting" })] }));
    traffic.take(
      batch({
        moved: [{ seq: 1, state: "dead", to: null, tookMicros: 1, error: "no", retryAt: null }],
      }),
    );
    expect(
      traffic
        .cords(0, 48)
        .map((cord) => cord.kind)
        .sort(),
    ).toEqual(["error", "event"]);
  });

  test("a message that dies without a recipient hangs loose from its sender, who alone is heard of", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1, { to: null, state: "dead" })] }));
    traffic.take(batch({ rows: [row(2, { to: null, state: "waiting" })] }));
    traffic.take(
      batch({
        moved: [{ seq: 2, state: "dead", to: null, tookMicros: 1, error: "no", retryAt: null }],
      }),
    );
    expect(traffic.cords(0, 48)).toMatchObject([
      { from: "planner", to: NOBODY, kind: "error", weight: 2 },
    ]);
    expect([...traffic.weights().keys()]).toEqual(["planner"]);
    const { perSecond, failedPerSecond } = traffic.passing(({ from }) => from === "planner");
    expect(perSecond).toBe(failedPerSecond);
  });

  test("rows that found no room count as those that did", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1)], skipped: 9 }));
    expect(traffic.cords(0, 48)[0]?.weight).toBe(10);
  });

  test("another filter, which begins with a snapshot, does not undo what was said", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1)] }));
    traffic.take(snapshot({ rows: [] }));
    expect(traffic.cords(0, 48)).toMatchObject([{ from: "planner", to: "summarizer" }]);
  });

  test("tells of each message that passed, once, and of no more than can be followed", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1)] }));
    const passed = { from: "planner", to: "summarizer", kind: "event" };
    expect([traffic.passages(), traffic.passages()]).toEqual([[passed], []]);
    const some = (length: number) => batch({ rows: Array.from({ length }, (_, i) => row(i)) });
    traffic.take(some(30));
    expect(traffic.passages()).toHaveLength(MOST_PASSAGES);
    traffic.take(some(500));
    expect(traffic.passages(), "in a stream nothing can be followed").toEqual([]);
  });

  test("only the busiest are shown, in an order that does not follow their weight", () => {
    const traffic = new Traffic();
    const to = (name: string, times: number) =>
      Array.from({ length: times }, (_, i) => row(i, { to: name }));
    traffic.take(batch({ rows: [...to("a", 2), ...to("c", 9), ...to("b", 5)] }));
    expect(traffic.cords(0, 2).map((cord) => cord.to)).toEqual(["b", "c"]);
  });

  test("those of one seat share their cords", () => {
    const traffic = new Traffic();
    traffic.take(batch({ rows: [row(1), row(2, { from: "other" })] }));
    const cords = traffic.cords(0, 48, (id) => (id === "summarizer" ? id : "all others"));
    expect(cords).toMatchObject([{ from: "all others", to: "summarizer", weight: 2 }]);
  });

  test("a cord knows its rate, how long half of its messages took, and its errors", () => {
    const traffic = new Traffic();
    for (let second = 0; second < 60; second++) {
      const tookMicros = second % 2 === 0 ? 100 : 300;
      traffic.take(batch({ rows: [row(second, { tookMicros })], skipped: 9 }));
      traffic.cords(second * 1_000, 48);
    }
    const { perSecond, p50Micros, failedPerSecond } = traffic.passing(
      ({ to }) => to === "summarizer",
    );
    expect(perSecond).toBeGreaterThan(8);
    expect(perSecond).toBeLessThan(13);
    expect([p50Micros, failedPerSecond]).toEqual([300, 0]);
  });

  test("however many talk, a bounded number of pairs is remembered", () => {
    const traffic = new Traffic();
    for (let i = 0; i < 40; i++) {
      const rows = Array.from({ length: 500 }, (_, j) =>
        row(i * 500 + j, { from: `a-${String(i * 500 + j)}` }),
      );
      traffic.take(batch({ rows }));
      traffic.cords(i * 50, 48);
    }
    expect(traffic.weights().size).toBeLessThan(4_000);
  });

  test("nor more while nobody looks", () => {
    const traffic = new Traffic();
    for (let i = 0; i < 60; i++) {
      const from = (j: number) => `a-${String(i * 500 + j)}`;
      traffic.take(batch({ rows: rows(1, 500).map((each, j) => ({ ...each, from: from(j) })) }));
    }
    expect(traffic.weights().size).toBeLessThan(7_000);
  });
});
