import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import type { SendResult } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
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
});
