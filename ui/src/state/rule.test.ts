import { describe, expect, test } from "vitest";
import type { Effect } from "../api/generated";
import { exactly, nextEffect, partFits, partProblem, ruleKey, strongest } from "./rule";

const rule = (caller: string, provider: string, capability: string, effect: Effect | null) => ({
  caller,
  provider,
  capability,
  effect,
});
const call = { caller: "planner", provider: "invoicer", capability: "send" };

describe("a rule", () => {
  test("is pressed from the agent's word to allow, to deny, and back", () => {
    expect(nextEffect(null)).toBe("allow");
    expect(nextEffect("allow")).toBe("deny");
    expect(nextEffect("deny")).toBeNull();
  });

  test("with more names counts before one with patterns, and that before any", () => {
    const wide = rule("*", "*", "*", "deny");
    const pattern = rule("plan*", "inv*", "s*", "allow");
    const name = rule("*", "invoicer", "*", "deny");
    const all = rule("planner", "invoicer", "send", "allow");
    expect(strongest([wide], call)).toBe(wide);
    expect(strongest([pattern, wide], call)).toBe(pattern);
    expect(strongest([pattern, wide, name], call), "three patterns are less than a name").toBe(
      name,
    );
    expect(strongest([all, pattern, wide, name], call)).toBe(all);
  });

  test("that denies wins a tie; one that is taken away, or is about others, says nothing", () => {
    const allow = rule("planner", "*", "*", "allow");
    const deny = rule("*", "invoicer", "*", "deny");
    expect(strongest([allow, deny], call)).toBe(deny);
    expect(strongest([deny, allow], call)).toBe(deny);
    expect(strongest([rule("planner", "invoicer", "send", null)], call)).toBeUndefined();
    expect(strongest([rule("other", "*", "*", "deny")], call)).toBeUndefined();
  });

  test("without wildcards is no beginning", () => {
    expect(partFits("team-", "team-7")).toBe(false);
    expect(partFits("team-*", "team-7")).toBe(true);
  });

  test.each(["*", "a?b", "[x]", "plain"])("can mean exactly the agent called %s", (name) => {
    const part = exactly(name);
    expect(part).not.toBe("*");
    expect(partFits(part, name)).toBe(true);
    expect(partFits(part, "other")).toBe(false);
    expect(partFits(part, "axb")).toBe(false);
  });

  test.each([
    ["", /name, a pattern/],
    ["   ", /name, a pattern/],
    ["team-[ab", /never closed/],
    ["team-[]", /never closed/],
    ["*", null],
    ["team-[ab]?", null],
  ])("part %j: %s", (part, problem) => {
    if (problem === null) expect(partProblem(part)).toBeNull();
    else expect(partProblem(part)).toMatch(problem);
  });

  test("is known by its parts, whatever letters they hold", () => {
    const one = { caller: 'a","b', provider: "c", capability: "d" };
    const other = { caller: "a", provider: 'b","c', capability: "d" };
    expect(ruleKey(one)).not.toBe(ruleKey(other));
  });
});
