import { describe, expect, test } from "vitest";
import { agent } from "../testing/fixtures";
import { Agents, calledName } from "./agents.svelte";

test.each([
  ["the operator's own name", agent("a1", { label: "Mine", name: "program" }), "Mine"],
  ["its id", agent("planner", { name: "program", doors: ["bus"] }), "planner"],
  ["what it announced", agent("a1", { name: "crawler-7", doors: ["discovery"] }), "crawler-7"],
  ["its id", agent("a1", { name: "program", doors: ["bus", "discovery"] }), "a1"],
])("an agent is called by %s", (_, known, name) => {
  expect(calledName(known.id, new Map([[known.id, known]]))).toBe(name);
  expect(calledName("nobody", new Map())).toBe("nobody");
});

describe("everyone the registry knows", () => {
  test("of an agent that is gone nothing is kept, and it begins anew", () => {
    const agents = new Agents(() => undefined);
    agents.update([agent("echo", { connections: 1, sent: 1 })]);
    agents.sample();
    agents.update([agent("echo", { connections: 1, sent: 5 })]);
    agents.sample();
    expect(agents.activity.get("echo")?.at(-1)).toBe(4);
    agents.replace([]);
    agents.replace([agent("echo", { connections: 1, sent: 9 })]);
    agents.sample();
    expect(agents.isNew("echo")).toBe(false);
    expect(agents.activity.get("echo")?.every((n) => n === 0)).toBe(true);
  });
});
