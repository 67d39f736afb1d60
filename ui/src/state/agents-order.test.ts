import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentView, BusyRow } from "../api/generated";
import { busyRow } from "../testing/fake-figures";
import { agent, capability } from "../testing/fixtures";
import { condition } from "./agents-health";
import { firstWay, ordered, SORTS, turned, type Line, type Sought } from "./agents-order";

const NOW = Date.parse("2026-11-16T12:10:00Z");
const all: Sought = { group: "all", door: null, text: "" };

function line(id: string, change: Partial<AgentView> = {}, row: Partial<BusyRow> = {}): Line {
  const view = agent(id, change);
  const figures = busyRow(id, row);
  return { agent: view, figures, condition: condition(view, figures, NOW) };
}
const names = (lines: readonly Line[]) => lines.map((each) => each.agent.id);

describe("the order of agents", () => {
  const lines = [
    line("c", { label: "Alpha", queued: 4 }, { p99Micros: 10 }),
    line("b", { queued: 9, doors: ["lobby"] }, { dead: 5 }),
    line("a", { blocked: true, connections: 0 }, { p99Micros: 90 }),
  ];

  test.each([
    ["name", ["a", "c", "b"]],
    ["queued", ["b", "c", "a"]],
    ["latency", ["a", "c", "b"]],
    ["health", ["b", "a", "c"]],
    ["doors", ["a", "c", "b"]],
  ] as const)("by %s is %j", (by, expected) => {
    expect(names(ordered(lines, all, firstWay(by)))).toEqual(expected);
  });

  test("a second press on the same heading turns it round", () => {
    const down = firstWay("queued");
    expect(turned(down, "queued")).toEqual({ by: "queued", down: false });
    expect(turned(down, "name")).toEqual({ by: "name", down: false });
  });

  test("one is found by label, capability or topic, by every word of what is sought", () => {
    const some = [
      line("x", { label: "Night shift", capabilities: [capability("crawl")] }),
      ...lines,
    ];
    const find = (text: string) => names(ordered(some, { ...all, text }, firstWay("name")));
    expect(find("SHIFT")).toEqual(["x"]);
    expect(find("night crawl")).toEqual(["x"]);
    expect(find("night buy")).toEqual([]);
  });

  test("groups and doors narrow it", () => {
    const of = (change: Partial<Sought>) =>
      names(ordered(lines, { ...all, ...change }, firstWay("name")));
    expect(of({ group: "blocked" })).toEqual(["a"]);
    expect(of({ group: "trouble" })).toEqual(["b"]);
    expect(of({ door: "lobby" })).toEqual(["b"]);
    expect(of({ group: "unavailable" })).toEqual([]);
  });

  test("whatever it is sorted by, nobody is lost and both ways mirror where nobody is equal", () => {
    const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 6 }), { maxLength: 20 });
    fc.assert(
      fc.property(ids, fc.constantFrom(...SORTS), fc.boolean(), (list, by, down) => {
        const many = list.map((id, i) => line(id, { queued: i, sent: i }));
        const found = names(ordered(many, all, { by, down }));
        expect([...found].sort()).toEqual([...list].sort());
        if (by === "queued" || by === "name") {
          const other = names(ordered(many, all, { by, down: !down }));
          expect(other).toEqual(found.toReversed());
        }
      }),
    );
  });
});
