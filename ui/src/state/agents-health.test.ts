import { describe, expect, test } from "vitest";
import { agent } from "../testing/fixtures";
import { busyRow } from "../testing/fake-figures";
import { condition, isTrouble, missed, PROMISED } from "./agents-health";

const NOW = Date.parse("2026-11-16T12:10:00Z");
const seconds = (n: number) => new Date(NOW - n * 1_000).toISOString();

describe("an agent's health", () => {
  test.each([
    ["fine", {}, undefined, /nothing went wrong/],
    ["fine", {}, { processed: 1_204 }, /1,204 handled/],
    ["blocked", { blocked: true, connections: 0 }, { dead: 9, processed: 1 }, /you keep it out/],
    ["silent", { heartbeatAt: seconds(45) }, undefined, /4 heartbeats missed/],
    ["fine", { heartbeatAt: seconds(35) }, undefined, /nothing/],
    ["silent", { status: "unavailable" as const }, undefined, /connected, but unavailable/],
    ["failing", {}, { dead: 2, processed: 18 }, /2 of 20 died in its hands/],
    ["fine", {}, { dead: 1, processed: 99 }, /100 handled/],
    [
      "away",
      { status: "unavailable" as const, connections: 0, queued: 3, lastSeen: seconds(240) },
      undefined,
      /not here for 4 min 00 s; 3 messages wait for it/,
    ],
    [
      "failing",
      { status: "unavailable" as const, connections: 0 },
      { dead: 1, processed: 0 },
      /1 of 1 died/,
    ],
    ["slow", { queued: 100 }, undefined, /100 messages wait for it/],
    ["slow", {}, { p50Micros: 1_400_000 }, /half of its messages take 1.4 s or more/],
    ["slow", {}, { p50Micros: 900, p99Micros: 12_000_000 }, /some of its messages take 12.0 s/],
    ["fine", {}, { p50Micros: 900, p99Micros: 2_000_000 }, /nothing/],
  ])("is %s with %j and %j", (health, change, figures, why) => {
    const row = figures === undefined ? undefined : busyRow("a", figures);
    const found = condition(agent("a", { lastSeen: seconds(1), ...change }), row, NOW);
    expect(found.health).toBe(health);
    expect(found.why).toMatch(why);
  });

  test("heartbeats are owed only by whoever promised them, and never less than none", () => {
    expect(missed(agent("a"), PROMISED, NOW)).toBeNull();
    expect(missed(agent("a", { heartbeatAt: seconds(-5) }), PROMISED, NOW)).toBe(0);
    expect(missed(agent("a", { heartbeatAt: seconds(29) }), PROMISED, NOW)).toBe(2);
  });

  test("who is away or blocked is not in trouble", () => {
    expect(["failing", "silent", "slow"].every((each) => isTrouble(each as "slow"))).toBe(true);
    expect(["away", "blocked", "fine"].some((each) => isTrouble(each as "fine"))).toBe(false);
  });
});
