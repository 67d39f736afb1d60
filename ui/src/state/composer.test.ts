import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import type { SendResult } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { agent, capability } from "../testing/fixtures";
import { Composer } from "./composer.svelte";

describe("the message the operator writes", () => {
  let broker: FakeBroker;
  let composer: Composer;
  let told: string[];
  let answers: { resolve: (result: SendResult) => void; reject: (reason: unknown) => void }[];
  const processed = (messageId: string): SendResult => ({
    messageId,
    state: "processed",
    acks: [],
  });

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    answers = [];
    broker.sent = () =>
      new Promise((resolve, reject) => {
        answers.push({ resolve, reject });
      });
    told = [];
    composer = new Composer(broker.client, (text) => told.push(text));
    composer.write({ topic: "agent:silent" });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("is being sent for a moment, and then waits for its answer", async () => {
    const sending = composer.send();
    expect(composer.stage).toBe("sending");
    vi.advanceTimersByTime(1_000);
    expect(composer.stage).toBe("waiting");
    answers[0]?.resolve(processed("a"));
    await sending;
    expect([composer.stage, composer.result?.messageId]).toEqual(["none", "a"]);
  });

  test("a silent recipient does not keep the next message, nor its answer take that one's place", async () => {
    const first = composer.send();
    composer.write({ topic: "agent:echo" });
    expect(composer.stage).toBe("none");
    const second = composer.send();
    answers[1]?.resolve(processed("second"));
    await second;
    answers[0]?.resolve(processed("first"));
    await first;
    expect(composer.result?.messageId).toBe("second");
    vi.advanceTimersByTime(5_000);
    expect(composer.stage).toBe("none");
  });

  test("a failure that nobody looks at any more is told all the same", async () => {
    const first = composer.send();
    composer.write({ topic: "agent:echo" });
    answers[0]?.reject(new CallError("unreachable", "The broker could not be reached."));
    await first;
    expect(composer.trouble).toBeNull();
    expect(told).toEqual(["The message to agent:silent failed: The broker could not be reached."]);
  });

  test("priority and time to live go with it where they are not the usual", async () => {
    void composer.send();
    composer.write({ priority: "HIGH", ttl: "1.5" });
    void composer.send();
    expect(broker.called("send").map((params) => ({ ...params, payload: "" }))).toEqual([
      { topic: "agent:silent", payload: "" },
      { topic: "agent:silent", payload: "", priority: "HIGH", ttlMs: 1_500 },
    ]);
    composer.ttl = "soon";
    expect(composer.ready).toBe(false);
    await Promise.resolve();
  });
});

describe("a message that asks for a capability", () => {
  const schema = {
    type: "object",
    required: ["item", "type"],
    properties: { item: { type: "string", minLength: 1 }, type: { enum: ["new", "used"] } },
  };
  const hunter = agent("hunter", {
    capabilities: [capability("find", { input_schema: schema }), capability("plain")],
  });
  let composer: Composer;

  beforeEach(() => {
    const agents = { byId: new Map([["hunter", hunter]]) };
    composer = new Composer(new FakeBroker().client, () => undefined, agents);
    composer.write({ topic: "agent:hunter" });
  });

  test("begins with what the capability requires, and is checked against it", () => {
    composer.ask("find");
    expect(JSON.parse(composer.payload)).toEqual({
      type: "find",
      capability: "find",
      item: "",
      input: { type: "new" },
    });
    expect(composer.capability).toBe("find");
    expect(composer.violations).toEqual([{ path: ["item"], words: "must have at least 1 letter" }]);
  });

  test("keeps what was written when another capability is asked for", () => {
    composer.payload = '{"note": 1.10}';
    composer.ask("plain");
    expect(composer.payload).toBe('{\n  "note": 1.10,\n  "capability": "plain"\n}');
    expect([composer.capability, composer.schema]).toEqual(["plain", null]);
  });

  test("of an agent that does not offer it is not checked", () => {
    composer.payload = '{"capability": "fly"}';
    expect([composer.capability, composer.violations]).toEqual([null, []]);
  });
});
