import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageFilter } from "../api/generated";
import { completions, DOORS, format, KINDS, parts, STATES, toFilter, written } from "./query";

const read = (text: string) => toFilter(parts(text));

describe("the filter as it is typed", () => {
  test("keys and free words make one question", () => {
    expect(
      read("kind:request from:a to:b agent:planner topic:inbound door:bus state:dead hello world"),
    ).toEqual({
      kind: "request",
      from: "a",
      to: "b",
      agent: "planner",
      topic: "inbound",
      door: "bus",
      state: "dead",
      text: "hello world",
    });
  });

  test("a topic may contain colons, and quotes keep spaces together", () => {
    expect(read('topic:tg:123 agent:"my agent"')).toEqual({ topic: "tg:123", agent: "my agent" });
  });

  test("an unknown key asks nothing and says which there are; quotes and addresses are words", () => {
    expect(read("xyz:abc hello")).toEqual({ text: "hello" });
    expect(parts("xyz:abc")[0]?.problem).toBe(
      "xyz: is not a filter; use kind, from, to, agent, topic, door, state",
    );
    expect(read('http://x 12:04 "xyz:abc"')).toEqual({ text: "http://x 12:04 xyz:abc" });
  });

  test("what was not understood stays as it was typed, and a quoted word stays quoted", () => {
    expect(parts("xyz:abc").map(written)).toEqual(["xyz:abc"]);
    expect(parts('"xyz:abc"').map(written)).toEqual(['"xyz:abc"']);
  });

  test("an unfinished value asks nothing and says what is possible", () => {
    expect(read("kind:req hello")).toEqual({ text: "hello" });
    expect(parts("kind:req")[0]?.problem).toBe(
      "kind is one of request, response, event, broadcast",
    );
    expect(parts("state:")[0]).toMatchObject({ key: "state", problem: "state: of what?" });
  });

  test("a later part replaces an earlier one of the same key; case does not matter for lists", () => {
    expect(read("Kind:REQUEST kind:event")).toEqual({ kind: "event" });
  });

  test("what is written means what it was written from", () => {
    const word = fc.stringMatching(/^[a-z0-9_.*-]{1,8}$/);
    const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
    const filter = fc
      .record({
        kind: optional(fc.constantFrom(...KINDS)),
        door: optional(fc.constantFrom(...DOORS)),
        state: optional(fc.constantFrom(...STATES)),
        agent: optional(
          fc.oneof(
            word,
            fc.tuple(word, word).map((two) => two.join(" ")),
          ),
        ),
        from: optional(word),
        to: optional(word),
        topic: optional(fc.tuple(word, word).map((two) => two.join(":"))),
        text: optional(
          fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" ")),
        ),
      })
      .map(
        (all) =>
          Object.fromEntries(
            Object.entries(all).filter(([, v]) => v !== undefined),
          ) as MessageFilter,
      );
    fc.assert(
      fc.property(filter, (given) => {
        expect(read(format(given))).toEqual(given);
      }),
    );
  });

  test("reading never fails", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => read(text)).not.toThrow();
      }),
    );
  });
});

describe("completion", () => {
  const known = { agents: ["planner", "my agent"], topics: ["inbound:*"] };
  const labels = (text: string) => completions(text, known).map((each) => each.label);

  test("offers keys, then values", () => {
    expect(labels("")).toEqual(["kind:", "from:", "to:", "agent:", "topic:", "door:", "state:"]);
    expect(labels("from:pl")).toEqual(["from:planner"]);
    expect(labels("inbound:chat")).toEqual(["topic:inbound:chat"]);
    expect(labels("hello st")).toEqual(["state:"]);
    expect(labels("kind:re")).toEqual(["kind:request", "kind:response"]);
    expect(labels("agent:PLAN")).toEqual(["agent:planner"]);
  });

  test("keeps what was typed before, quotes what needs it, and ends the part", () => {
    expect(completions("hello agent:my", known)).toEqual([
      { label: "agent:my agent", value: 'hello agent:"my agent" ' },
    ]);
  });
});
