import { describe, expect, test } from "vitest";
import { talked } from "../../testing/fixtures";
import { about, partners, sequence, spoken } from "./sequence";

const at = (ms: number) => new Date(Date.parse("2026-11-16T12:00:00Z") + ms).toISOString();

describe("a conversation as a sequence", () => {
  test("has a lane for everyone in order of appearance, and an arrow for each message", () => {
    const { lanes, arrows } = sequence([
      talked(1, { from: "shopper", to: "planner", capability: "plan", createdAt: at(0) }),
      talked(2, { from: "planner", to: "hunter", capability: "find", createdAt: at(3) }),
      talked(3, { from: "hunter", to: "planner", kind: "response", createdAt: at(18) }),
    ]);
    expect(lanes).toEqual(["shopper", "planner", "hunter"]);
    expect(arrows.map(({ from, to, label, after }) => [from, to, label, after])).toEqual([
      [0, 1, "plan", 0],
      [1, 2, "find", 3_000],
      [2, 1, "response", 18_000],
    ]);
    expect(arrows.map(({ tone, dashed }) => [tone, dashed])).toEqual([
      ["request", false],
      ["request", false],
      ["response", true],
    ]);
  });

  test("the broker has one lane, whatever a door calls it", () => {
    const { lanes } = sequence([
      talked(1, { from: "a", to: "router" }),
      talked(2, { from: "switchboard", to: "a" }),
      talked(3, { from: "b", to: "global_lobby" }),
    ]);
    expect(lanes).toEqual(["a", "switchboard", "b"]);
  });

  test("an answer that came with the acknowledgement stands where it came, not where it was asked", () => {
    const asked = talked(
      1,
      { from: "a", to: "b", createdAt: at(0), tookMicros: 20_000 },
      { answerText: "{}" },
    );
    const between = talked(2, { from: "b", to: "c", createdAt: at(5) });
    const later = talked(3, { from: "a", to: "c", createdAt: at(30) });
    const { arrows } = sequence([asked, between, later]);
    expect(arrows.map(({ from, to, answer }) => [from, to, answer])).toEqual([
      [0, 1, false],
      [1, 2, false],
      [1, 0, true],
      [0, 2, false],
    ]);
    expect(new Set(arrows.map(({ key }) => key)).size).toBe(4);
    expect(arrows[2] && spoken(arrows[2])).toBe("from b to a:");
  });

  test("an answer that is a message of its own is drawn once, also where the asked asked another", () => {
    const correlationId = "c-1";
    const { arrows } = sequence([
      talked(1, { from: "a", to: "b" }, { correlationId, answerText: "{}" }),
      talked(2, { from: "b", to: "c" }, { correlationId, answerText: "{}" }),
      talked(3, { from: "c", to: "b", kind: "response" }, { correlationId }),
      talked(4, { from: "b", to: "a", kind: "response" }, { correlationId }),
      talked(5, { from: "b", to: "a" }, { correlationId, answerText: "{}" }),
    ]);
    expect(arrows.map(({ key, answer }) => [key, answer])).toEqual([
      ...[1, 2, 3, 4, 5].map((n) => [talked(n).row.id, false]),
      [`${talked(5).row.id} answer`, true],
    ]);
  });

  test.each([
    [{ status: "success", price: 128 }, "success", "response"],
    [{ status: "error", error: "no such item" }, "error", "error"],
    [{ status: 3 }, "find", "response"],
    [{ price: 128 }, "find", "response"],
    [null, "find", "response"],
  ])("a response of %j is called %s", (payload, label, tone) => {
    const [arrow] = sequence([talked(1, { kind: "response", capability: "find", payload })]).arrows;
    expect(arrow).toMatchObject({ label, tone });
  });

  test("a request is called by what it asks for, whatever it carries", () => {
    const [arrow] = sequence([
      talked(1, { capability: "find", payload: { status: "new" } }),
    ]).arrows;
    expect(arrow).toMatchObject({ label: "find", tone: "request" });
  });

  test("one that was never settled has no time, so its answer follows at once", () => {
    const { arrows } = sequence([
      talked(1, { tookMicros: null, createdAt: at(0) }, { answerText: "1" }),
      talked(2, { createdAt: at(1) }),
    ]);
    expect(arrows.map(({ answer }) => answer)).toEqual([false, true, false]);
  });

  test.each([
    ["refused", "halfway", "find — refused"],
    ["dead", "arrives", "find — dead letter"],
    ["expired", "arrives", "find — expired"],
  ] as const)("what was %s is red and dashed", (state, reach, label) => {
    const [arrow] = sequence([talked(1, { capability: "find", state })]).arrows;
    expect(arrow).toMatchObject({ tone: "error", dashed: true, reach, label });
  });

  test("what found nobody stops on its way, what is for everyone does not", () => {
    const { arrows, lanes } = sequence([
      talked(1, { to: null, kind: "event", topic: "tg:1", state: "dead" }),
      talked(2, { to: null, kind: "broadcast", topic: "news" }),
      talked(3, { state: "waiting" }),
    ]);
    expect(arrows.map(({ reach, to }) => [reach, to])).toEqual([
      ["halfway", null],
      ["everyone", null],
      ["arrives", 1],
    ]);
    expect(arrows.map(({ waiting }) => waiting)).toEqual([false, false, true]);
    expect(lanes).toEqual(["planner", "summarizer"]);
  });

  test("without messages there is nothing to draw", () => {
    expect(sequence([])).toEqual({ lanes: [], arrows: [] });
  });

  test("two thousand messages are laid out at once", () => {
    const many = Array.from({ length: 2_000 }, (_, i) =>
      talked(i, { from: `a${String(i % 20)}`, createdAt: at(i) }, { answerText: "{}" }),
    );
    const began = performance.now();
    expect(sequence(many).arrows).toHaveLength(4_000);
    expect(performance.now() - began).toBeLessThan(500);
  });
});

test.each([
  [{ capability: "plan", topic: "agent:b", kind: "request" }, "plan"],
  [{ capability: null, topic: "tg:1", kind: "event" }, "tg:1"],
  [{ capability: null, topic: "agent:b", kind: "response" }, "response"],
  [{ capability: null, topic: null, kind: "broadcast" }, "broadcast"],
] as const)("%j is about %s", (row, words) => {
  expect(about(row)).toBe(words);
});

test("a question and its answers belong together, seen from either", () => {
  const question = talked(1);
  const answer = talked(2, { kind: "response" }, { answers: question.row.id });
  const all = [question, answer, talked(3)];
  expect([...partners(all, question.row.id)]).toEqual([answer.row.id]);
  expect([...partners(all, answer.row.id)]).toEqual([question.row.id]);
  expect([...partners(all, "another")]).toEqual([]);
});
