import { describe, expect, test } from "vitest";
import type { AttemptView, DeliveryView } from "../../api/generated";
import { delivery as anyDelivery, detail, letter, row } from "../../testing/fixtures";
import { route } from "./route";

const at = (ms: number) => new Date(Date.parse("2026-11-16T12:00:00Z") + ms).toISOString();
const attempt = (change: Partial<AttemptView>): AttemptView => ({
  number: 1,
  startedAt: at(0),
  endedAt: at(40),
  outcome: "processed",
  message: null,
  payloadText: null,
  ...change,
});
const delivery = (change: Partial<DeliveryView>): DeliveryView =>
  anyDelivery({ pattern: "inbound:*", attempts: [attempt({})], ...change });
const words = (given: Parameters<typeof route>[0]) => route(given).map((step) => step.words);

describe("a message's way", () => {
  test("from acceptance to its end, with times since acceptance", () => {
    const steps = route(
      detail({ row: row(1, { createdAt: at(0) }), deliveries: [delivery({})], settledAt: at(41) }),
    );
    expect(steps.map(({ after, words }) => [after, words])).toEqual([
      [0, "accepted at the bus door from planner"],
      [0, "handed to echo, which listens to inbound:*, at the bus door"],
      [40_000, "echo processed it; settled"],
    ]);
  });

  test("the rule that decided is told, with its number", () => {
    const allowed = { effect: "allow", by: "rule 7", declared: "deny" } as const;
    const accepted = row(1, { createdAt: at(0) });
    const given = detail({ row: accepted, decision: allowed, deliveries: [delivery({})] });
    expect(route(given)[1]).toMatchObject({
      words: "allowed by rule 7; the agent itself denies it",
      rule: 7,
      tone: "good",
    });
    const nobody = { effect: "deny", by: "declared", declared: "deny" } as const;
    const refused = detail({ row: row(1, { state: "refused", error: "no" }), decision: nobody });
    expect(route(refused).map((step) => [step.words, step.rule])).toEqual([
      ["came to the bus door from planner", undefined],
      ["denied: the agent declares it so", undefined],
      ["refused: no", undefined],
    ]);
  });

  test("every attempt is told, with the recipient's words, and why it died", () => {
    const attempts = [
      attempt({ outcome: "declined", message: "log file missing" }),
      attempt({ number: 2, startedAt: at(1_000), endedAt: at(31_000), outcome: "timedOut" }),
    ];
    const given = detail({
      row: row(1, { createdAt: at(0), state: "dead" }),
      deliveries: [delivery({ attempts, state: "failed" })],
      settledAt: at(31_000),
      letter: letter({ reason: "gaveUp" }),
    });
    expect(words(given).slice(2)).toEqual([
      "attempt 1: echo declined: “log file missing”",
      "attempt 2: echo did not answer in time",
      "dead letter: every attempt failed",
    ]);
  });

  test("a message nobody listened to", () => {
    const given = detail({ row: row(1, { state: "dead" }), letter: letter() });
    expect(words(given).at(-1)).toBe("dead letter: nobody subscribed to it");
  });

  test("a message that waits has no end yet", () => {
    const given = detail({
      row: row(1, { state: "waiting" }),
      deliveries: [delivery({ attempts: [], state: "waiting" })],
      settledAt: null,
    });
    expect(words(given).slice(1)).toEqual(["waits for echo, which listens to inbound:*"]);
    const retried = detail({ ...given, deliveries: [delivery({ state: "waiting" })] });
    expect(words(retried).at(-1)).toBe("waits to be settled");
  });

  test("a delivery that is tried again says when, after what happened before", () => {
    const declined = attempt({ outcome: "declined", message: "too busy" });
    const steps = route(
      detail({
        row: row(1, { createdAt: at(0), state: "waiting", retryAt: at(3_000) }),
        deliveries: [delivery({ state: "waiting", retryAt: at(3_000), attempts: [declined] })],
        settledAt: null,
      }),
    );
    expect(steps.slice(2).map(({ words, due, tone }) => [words, due, tone])).toEqual([
      ["echo declined: “too busy”", undefined, "bad"],
      ["echo is asked again", at(3_000), "wait"],
    ]);
  });

  test("who only observes is told from who is asked", () => {
    const observed = detail({
      row: row(1, { createdAt: at(0) }),
      deliveries: [delivery({ agent: "watcher", observer: true })],
    });
    expect(words(observed)[1]).toBe("handed to watcher, which observes inbound:*, at the bus door");
  });

  test("a message that is settled long after it was taken says so", () => {
    const given = detail({
      row: row(1, { createdAt: at(0) }),
      deliveries: [delivery({})],
      settledAt: at(10_040),
    });
    expect(words(given).slice(2)).toEqual(["echo processed it", "settled: processed"]);
  });

  test("what the operator did with a dead letter is the end of its way", () => {
    const dead = { row: row(1, { createdAt: at(0), state: "dead" }), settledAt: at(5) };
    const closed = { closedAt: at(9_000) };
    const replayed = letter({ ...closed, status: "replayed", replayedAs: row(2).id });
    expect(words(detail({ ...dead, letter: replayed })).slice(1)).toEqual([
      "dead letter: nobody subscribed to it",
      "the operator sent another in its place",
    ]);
    const discarded = letter({ ...closed, status: "discarded", note: "only a test" });
    expect(words(detail({ ...dead, letter: discarded })).at(-1)).toBe(
      "the operator discarded it: “only a test”",
    );
    const replay = detail({ replayOf: row(7).id });
    expect(words(replay)[0]).toMatch(/in place of a dead letter$/);
  });
});
