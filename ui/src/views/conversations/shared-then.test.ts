import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionChange } from "../../api/generated";
import { session } from "../../testing/fixtures";
import { members, sharedAt } from "./shared-then";

const at = (second: number) => `2026-11-16T12:00:0${String(second)}Z`;
const change = (
  version: number,
  written: SessionChange["written"],
  status: SessionChange["status"] = null,
): SessionChange => ({ version, at: at(version), by: "planner", written, status });

describe("what is shared at a moment", () => {
  const view = session({
    sharedStateText: '{"budget":12345678901234567890,"item":{"name":"b"},"paid":1.0}',
    changes: [
      change(1, { budget: 100, item: { name: "a" } }, "active"),
      change(2, { budget: 2 ** 60 }),
      change(3, { item: { name: "b" } }, "paused"),
      change(4, { paid: 1 }, "completed"),
    ],
  });

  test("is what had been written until then", () => {
    const then = sharedAt(view, at(2));
    expect(then.change?.version).toBe(2);
    expect(then.status).toBe("active");
    expect(JSON.parse(then.text)).toMatchObject({ item: { name: "a" } });
    expect(JSON.parse(then.before)).toEqual({ budget: 100, item: { name: "a" } });
    expect(sharedAt(view, at(3)).status).toBe("paused");
  });

  test("keeps every digit of what is still there", () => {
    expect(sharedAt(view, at(2)).text).toContain("12345678901234567890");
    expect(sharedAt(view, at(4)).text).toContain("1.0");
  });

  test("was nothing before the first change", () => {
    expect(sharedAt(view, at(0))).toMatchObject({ change: null, text: "{}", before: "{}" });
  });

  test("says when older changes are gone, and keeps what they left", () => {
    const later = session({
      sharedStateText: '{"old":1,"new":2}',
      changes: [change(7, { new: 2 })],
    });
    const then = sharedAt(later, at(0));
    expect(then.whole).toBe(false);
    expect(JSON.parse(then.text)).toEqual({ old: 1 });
  });
});

test("members are found as they are written, whatever they are", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (object, indent) => {
      const found = members(JSON.stringify(object, null, indent));
      const again = Object.fromEntries(
        [...found].map(([key, text]) => [key, JSON.parse(text) as unknown]),
      );
      const given = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
      // A name that means something to objects is no name of theirs.
      delete given.__proto__;
      delete again.__proto__;
      expect(again).toEqual(given);
    }),
  );
});
