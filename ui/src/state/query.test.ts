import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessageFilter } from "../api/generated";
import { DOORS, format, KEYS, KINDS, parts, STATES, toFilter, written } from "./query";

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
    expect(parts("xyz:abc")[0]?.problem).toBe(`xyz: is not a filter; use ${KEYS.join(", ")}`);
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
    const any = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
    const word = fc.oneof(fc.stringMatching(/^[a-z0-9_.*-]{1,8}$/), any);
    const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
    const time = optional(
      fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
        .map((at) => at.toISOString()),
    );
    const filter = fc
      .record({
        kind: optional(fc.constantFrom(...KINDS)),
        door: optional(fc.constantFrom(...DOORS)),
        state: optional(fc.constantFrom(...STATES)),
        priority: optional(fc.constantFrom("LOW", "NORMAL", "HIGH", "URGENT")),
        agent: optional(word),
        from: optional(word),
        to: optional(word),
        topic: optional(fc.tuple(word, word).map((two) => two.join(":"))),
        conversation: optional(word),
        since: time,
        until: time,
        slowerMicros: optional(fc.integer({ min: 1, max: 999_999_999 })),
        text: optional(word),
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
      { numRuns: 1_000 },
    );
  });

  test("what is shown as chips and text is read back the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const once = parts(text);
        expect(parts(once.map(written).join(" "))).toEqual(once);
      }),
      { numRuns: 1_000 },
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

describe("times in a filter", () => {
  const now = new Date(2026, 10, 16, 14, 5, 30);
  const at = (...date: [number, number, number, number?, number?, number?]) =>
    new Date(date[0], date[1], date[2], date[3] ?? 0, date[4] ?? 0, date[5] ?? 0).toISOString();

  test.each([
    ["5m", at(2026, 10, 16, 14, 0, 30)],
    ["2h", at(2026, 10, 16, 12, 5, 30)],
    ["1d", at(2026, 10, 15, 14, 5, 30)],
    ["14:05", at(2026, 10, 16, 14, 5)],
    ["9:30:15", at(2026, 10, 16, 9, 30, 15)],
    ["2026-11-02", at(2026, 10, 2)],
    ["2026-11-02T08:15", at(2026, 10, 2, 8, 15)],
  ])("since:%s", (text, expected) => {
    expect(toFilter(parts(`since:${text}`), now)).toEqual({ since: expected });
  });

  test("a time of day that is still to come was yesterday", () => {
    expect(toFilter(parts("until:23:00"), now)).toEqual({ until: at(2026, 10, 15, 23) });
  });

  test.each(["yesterday", "25:00", "2026-02-31", "5", "5y"])("%s is no time", (text) => {
    expect(parts(`since:${text}`)[0]?.problem).toMatch(/a time such as 14:05/);
  });

  test("slowness has a unit", () => {
    expect(read("slower:100ms")).toEqual({ slowerMicros: 100_000 });
    expect(read("slower:1.5s")).toEqual({ slowerMicros: 1_500_000 });
    expect(parts("slower:100")[0]?.problem).toMatch(/100ms/);
  });
});
