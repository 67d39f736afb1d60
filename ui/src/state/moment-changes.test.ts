import { expect, test } from "vitest";
import type { AgentThen, Moment, Rule } from "../api/generated";
import { since } from "./moment-changes";

const agent = (id: string, change: Partial<AgentThen> = {}): AgentThen => ({
  id,
  status: "ready",
  queued: 0,
  ...change,
});
const rule = (id: number): Rule => ({
  id,
  caller: "*",
  provider: "payments",
  capability: "charge",
  effect: "deny",
  createdAt: "",
  createdBy: "operator",
});
const moment = (agents: AgentThen[], rules: Rule[] = []): Moment => ({
  at: "",
  agents,
  rules,
  openLetters: 0,
  keptSince: "",
});

test("who came, who went and whose state is another are told apart; participants come first", () => {
  const then = moment([agent("a"), agent("b", { queued: 3 }), agent("z")]);
  const now = moment([agent("b"), agent("c"), agent("z")]);
  const { agents } = since(then, now, ["z"]);
  expect(agents.map(({ id, differs }) => [id, differs])).toEqual([
    ["z", false],
    ["a", true],
    ["b", true],
    ["c", true],
  ]);
  expect(agents[1]).toMatchObject({ then: { id: "a" }, now: null });
  expect(agents[3]).toMatchObject({ then: null, now: { id: "c" } });
});

test("rules that are gone or new come first", () => {
  const found = since(moment([], [rule(1), rule(2)]), moment([], [rule(2), rule(3)]), []);
  expect(found.rules.map(({ rule: { id }, change }) => [id, change])).toEqual([
    [1, "gone"],
    [3, "new"],
    [2, "same"],
  ]);
});

test("without a now nothing is said to differ", () => {
  const { agents, rules } = since(moment([agent("a")], [rule(1)]), null, []);
  expect(agents[0]?.differs).toBe(false);
  expect(rules[0]?.change).toBe("same");
});
