import { expect, test } from "vitest";
import type { Effect } from "../api/generated";
import { decided } from "./words";

test.each<[Effect, string, Effect, string]>([
  ["allow", "nobody", "allow", "allowed: nobody said anything about it"],
  ["deny", "declared", "deny", "denied: the agent declares it so"],
  ["allow", "rule 7", "allow", "allowed by rule 7"],
  ["allow", "rule 7", "deny", "allowed by rule 7; the agent itself denies it"],
  ["deny", "rule 7", "allow", "denied by rule 7; the agent itself allows it"],
])("%s by %s, declared %s: %s", (effect, by, declared, words) => {
  expect(decided({ effect, by, declared })).toBe(words);
});
