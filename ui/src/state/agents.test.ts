import { describe, expect, test } from "vitest";
import { agent } from "../testing/fixtures";
import { Agents } from "./agents.svelte";

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
