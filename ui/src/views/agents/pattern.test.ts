import { expect, test } from "vitest";
import { hears } from "./pattern";

test.each([
  ["agent:echo", "agent:echo", true],
  ["agent:echo", "agent:echo-2", false],
  ["agent:", "agent:echo", true],
  ["agent:*", "agent:echo", true],
  ["*", "agent:echo", true],
  ["*:ech?", "agent:echo", true],
  ["agent:[a-f]cho", "agent:echo", true],
  ["agent:[!a-f]cho", "agent:echo", false],
  ["agent:[]x]cho", "agent:]cho", true],
  ["agent:[echo", "agent:[echo", true],
  ["Agent:*", "agent:echo", false],
  ["work:*", "agent:echo", false],
  ["a*o", "agent:echo", true],
  ["a*x", "agent:echo", false],
])("%s and %s: %s", (pattern, topic, heard) => {
  expect(hears(pattern, topic)).toBe(heard);
});

test("a hostile pattern does not hold up the page", () => {
  const began = performance.now();
  expect(hears(`${"*a".repeat(40)}*b`, `agent:${"a".repeat(120)}`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(100);
});
