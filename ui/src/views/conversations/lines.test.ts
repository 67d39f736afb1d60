import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { session, talked } from "../../testing/fixtures";
import { lines, type Line } from "./lines";
import { look } from "./look";
import { sequence, speaksWith } from "./sequence";
import { beginning, instant, later, steps, type Step } from "./steps";

const START = "2026-11-16T12:00:00Z";
const at = (ms: number) => new Date(Date.parse(START) + ms).toISOString();
const said = (seq: number, from: string, to: string, ms: number, capability = "find") =>
  talked(seq, { from, to, capability, createdAt: at(ms) });

function laid(
  messages: ReturnType<typeof said>[],
  change: Partial<Parameters<typeof lines>[1]> = {},
) {
  const drawn = sequence(messages);
  const all = steps(drawn, null, START);
  const wanted = {
    lanes: drawn.lanes,
    shown: drawn.lanes,
    folding: false,
    unfolded: new Set<string>(),
  };
  return lines(all, { ...wanted, ...change });
}
const types = (rows: readonly Line[]) => rows.map(({ type }) => type);

describe("the lines of a diagram", () => {
  test("stand for every step when nothing is folded or hidden", () => {
    const rows = laid([said(1, "a", "b", 0), said(2, "b", "c", 5), said(3, "c", "a", 9)]);
    expect(types(rows)).toEqual(["arrow", "arrow", "arrow"]);
    expect(rows.map(({ first, last }) => [first, last])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
  });

  test("leave out what touches a hidden lane, and follow the order of lanes", () => {
    const messages = [said(1, "a", "b", 0), said(2, "b", "c", 5), said(3, "c", "a", 9)];
    const rows = laid(messages, { shown: ["c", "b"] });
    expect(rows).toMatchObject([{ type: "arrow", arrow: { from: 1, to: 0 }, first: 1 }]);
  });

  test("three rounds of the same are one, with how often; two are not", () => {
    const round = (n: number) => [
      said(n * 2, "a", "b", n * 10),
      talked(n * 2 + 1, { from: "b", to: "a", kind: "response", createdAt: at(n * 10 + 4) }),
    ];
    const three = [...round(0), ...round(1), ...round(2), said(9, "a", "c", 50)];
    const rows = laid(three, { folding: true });
    expect(types(rows)).toEqual(["fold", "arrow"]);
    const [fold] = rows;
    expect(fold).toMatchObject({ times: 3, first: 0, last: 5 });
    if (fold === undefined || fold.type === "gap") throw new Error("no fold");
    expect(look(fold)).toMatchObject({ times: 3, label: "find · response" });
    const unfolded = laid(three, { folding: true, unfolded: new Set([fold.key]) });
    expect(types(unfolded)).toEqual(Array(7).fill("arrow"));
    expect(types(laid([...round(0), ...round(1)], { folding: true }))).toEqual(
      Array(4).fill("arrow"),
    );
  });

  test("folding loses no step, whatever was said", () => {
    const one = fc.record({ from: fc.nat(2), to: fc.nat(2), what: fc.nat(1) });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), (talks) => {
        const messages = talks.map(({ from, to, what }, i) =>
          said(i, `a${String(from)}`, `a${String(to)}`, i, `w${String(what)}`),
        );
        const rows = laid(messages, { folding: true });
        const covered = rows.flatMap(({ first, last }) =>
          Array.from({ length: last - first + 1 }, (_, i) => first + i),
        );
        expect(covered).toEqual(messages.map((_, i) => i));
      }),
    );
  });

  test("a long pause is marked where pauses are short, and not where they are all long", () => {
    const quick = [0, 5, 9, 12, 60_000, 60_004].map((ms, i) =>
      said(i, "a", "b", ms, `w${String(i)}`),
    );
    const rows = laid(quick);
    expect(types(rows)).toEqual(["arrow", "arrow", "arrow", "arrow", "gap", "arrow", "arrow"]);
    expect(rows[4]).toMatchObject({ micros: 59_988_000 });
    const slow = [0, 1, 2, 3].map((minutes, i) => said(i, "a", "b", minutes * 60_000));
    expect(types(laid(slow))).not.toContain("gap");
  });
});

describe("the steps of a conversation", () => {
  test("are what was said and what was written, in their order", () => {
    const drawn = sequence([said(1, "a", "b", 2), said(2, "b", "a", 8)], START);
    const changes = [0, 5, 9].map((ms, i) => ({
      version: i + 1,
      at: at(ms),
      by: "a",
      written: { n: i },
      status: null,
    }));
    const all = steps(drawn, session({ changes }), START);
    expect(all.map(({ type, after }) => [type, after / 1_000])).toEqual([
      ["change", 0],
      ["arrow", 2],
      ["change", 5],
      ["arrow", 8],
      ["change", 9],
    ]);
    expect(all.map((step) => instant(step, START)).toSorted()).toEqual(
      all.map((step: Step) => instant(step, START)),
    );
  });

  test("begin with whatever came first", () => {
    const messages = [said(1, "a", "b", 5_000)];
    expect(beginning({ messages, session: null })).toBe(at(5_000));
    const opened = session({ startedAt: at(1_000) });
    expect(beginning({ messages, session: opened })).toBe(at(1_000));
    expect(beginning({ messages: [], session: opened })).toBe(at(1_000));
    expect(beginning({ messages: [], session: null })).toBe("");
  });

  test("an instant is told to the microsecond", () => {
    expect(later("2026-11-16T12:00:00.123456Z", 1)).toBe("2026-11-16T12:00:00.123457Z");
    expect(later("2026-11-16T12:00:00Z", 61_000_250)).toBe("2026-11-16T12:01:01.000250Z");
  });
});

test("a lane and whom it speaks with", () => {
  const drawn = sequence([said(1, "a", "b", 0), said(2, "c", "a", 1), said(3, "d", "b", 2)]);
  expect([...speaksWith(drawn, "a")].toSorted()).toEqual(["a", "b", "c"]);
});
