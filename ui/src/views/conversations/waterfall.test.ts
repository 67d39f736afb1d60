import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ConversationMessage, Trace } from "../../api/generated";
import { row, talked } from "../../testing/fixtures";
import { sequence } from "./sequence";
import { across, panned, ticks, tickText, whole, zoomed } from "./time-axis";
import { critical, spans } from "./waterfall";

const START = "2026-11-16T12:00:00Z";
const at = (ms: number) => new Date(Date.parse(START) + ms).toISOString();
const said = (
  seq: number,
  way: string,
  ms: number,
  took: number | null,
  more: Partial<ConversationMessage> = {},
) => {
  const [from = "", to = ""] = way.split(">");
  const kind = more.answers == null ? "request" : "response";
  const tookMicros = took === null ? null : took * 1_000;
  return talked(seq, { from, to, kind, createdAt: at(ms), tookMicros }, more);
};
const trace = (spanId: string, parentSpanId?: string): Trace => ({
  traceId: "t",
  spanId,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
});
const tree = (messages: ConversationMessage[]) =>
  spans(messages, START).map(({ message, depth }) => [message.row.seq, depth]);

describe("a conversation as a waterfall", () => {
  test("stands in the order of its trace", () => {
    expect(
      tree([
        said(1, "a>b", 0, 9, { trace: trace("1") }),
        said(2, "x>y", 1, 1, { trace: trace("2") }),
        said(3, "b>c", 2, 2, { trace: trace("3", "1") }),
        said(4, "c>d", 3, 1, { trace: trace("4", "3") }),
        said(5, "b>d", 5, 1, { trace: trace("5", "1") }),
      ]),
    ).toEqual([
      [1, 0],
      [3, 1],
      [4, 2],
      [5, 1],
      [2, 0],
    ]);
  });

  test("without a trace, below the question it answers or the one its sender works on", () => {
    expect(
      tree([
        said(1, "shopper>planner", 0, 1),
        said(2, "planner>hunter", 3, 1),
        said(3, "hunter>planner", 9, 1, { answers: row(2).id }),
        said(4, "planner>shopper", 12, 1, { answers: row(1).id }),
        said(5, "planner>hunter", 20, 1),
      ]),
    ).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 1],
      [5, 0],
    ]);
  });

  test("a request whose answer came with the acknowledgement is done when it is settled", () => {
    expect(
      tree([
        said(1, "a>b", 0, 5, { answerText: "{}" }),
        said(2, "b>c", 2, 1),
        said(3, "b>c", 9, 1),
      ]),
    ).toEqual([
      [1, 0],
      [2, 1],
      [3, 0],
    ]);
  });

  test("a span runs until it is settled, and is answered later", () => {
    const [asked, waits] = spans(
      [
        said(1, "a>b", 0, 2),
        said(3, "b>c", 5, null),
        said(2, "b>a", 40, 1, { answers: row(1).id }),
      ],
      START,
    );
    expect(asked).toMatchObject({ start: 0, end: 2_000, answered: 40_000 });
    expect(waits?.end, "it waits").toBeNull();
  });

  test("holds every message once, and a chain of two thousand", () => {
    const chain = Array.from({ length: 2_000 }, (_, i) =>
      said(i, "a>b", i, 1, { trace: trace(String(i), i === 0 ? undefined : String(i - 1)) }),
    );
    const all = spans(chain, START);
    expect(all).toHaveLength(2_000);
    expect(all.at(-1)?.depth).toBe(1_999);
  });
});

describe("the critical path", () => {
  test("is what the end had to wait for", () => {
    const { ids, micros } = critical(
      sequence([
        said(1, "shopper>planner", 0, 1),
        said(2, "planner>hunter", 3, 1),
        said(3, "planner>summarizer", 4, 1),
        said(4, "summarizer>planner", 10, 1, { answers: row(3).id }),
        said(5, "hunter>planner", 90, 1, { answers: row(2).id }),
        said(6, "planner>shopper", 95, 1, { answers: row(1).id }),
      ]),
    );
    const seqs = [1, 2, 5, 6].map((seq) => row(seq).id);
    expect([...ids].toSorted()).toEqual(seqs.toSorted());
    expect(micros).toBe(95_000);
  });

  test("ends for whatever was said", () => {
    const one = fc.record({ from: fc.nat(3), to: fc.nat(3), answers: fc.option(fc.nat(30)) });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), (talks) => {
        const messages = talks.map(({ from, to, answers }, i) =>
          said(i, `${String(from)}>${String(to)}`, i, 1, {
            answers: answers === null ? null : row(answers).id,
          }),
        );
        const { ids } = critical(sequence(messages));
        expect(ids.size).toBeLessThanOrEqual(messages.length);
        expect(spans(messages, START)).toHaveLength(messages.length);
      }),
    );
  });
});

describe("the axis", () => {
  const total = fc.integer({ min: 1, max: 10_000_000_000 });

  test("however one zooms and pans, some of what happened is looked at", () => {
    const move = fc.record({
      factor: fc.double({ min: 0.1, max: 9, noNaN: true }),
      by: fc.integer(),
    });
    fc.assert(
      fc.property(total, fc.array(move), (all, moves) => {
        let view = whole(all);
        for (const { factor, by } of moves) {
          view = zoomed(view, factor, (view.from + view.to) / 2, all);
          view = panned(view, by, all);
          expect(view.from).toBeGreaterThanOrEqual(0);
          expect(view.to).toBeGreaterThan(view.from);
          expect(view.to).toBeLessThanOrEqual(whole(all).to * 1.000001);
        }
      }),
    );
  });

  test("what is pointed at stays under the pointer", () => {
    const view = { from: 1_000, to: 9_000 };
    const nearer = zoomed(view, 0.5, 3_000, 10_000);
    expect(across(3_000, nearer)).toBeCloseTo(across(3_000, view));
  });

  test("ticks are round, few and told apart", () => {
    fc.assert(
      fc.property(total, fc.nat(999), fc.integer({ min: 2, max: 12 }), (all, part, most) => {
        const from = (all * part) / 1_000;
        const found = ticks({ from, to: from + Math.max(all, 50) }, most);
        expect(found.length).toBeLessThanOrEqual(most + 1);
        const texts = found.map((each) => tickText(each, found));
        expect(new Set(texts).size).toBe(texts.length);
      }),
    );
  });

  test.each([
    [
      [0, 100_000, 200_000],
      ["0", "100 ms", "200 ms"],
    ],
    [
      [0, 500, 1_000],
      ["0", "0.5 ms", "1.0 ms"],
    ],
    [
      [0, 500_000, 1_000_000],
      ["0", "0.5 s", "1.0 s"],
    ],
    [
      [60_000_000, 120_000_000],
      ["1:00.0", "2:00.0"],
    ],
  ])("the ticks %j are called %j", (marks, texts) => {
    expect(marks.map((each) => tickText(each, marks))).toEqual(texts);
  });
});
