import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeBroker } from "../testing/fake-broker";
import { agent, capability, detail, row } from "../testing/fixtures";
import { LetterEdit } from "./edit.svelte";

describe("a letter that is edited before it is replayed", () => {
  let broker: FakeBroker;
  let edit: LetterEdit;
  let replayed: unknown[];

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    replayed = [];
    edit = new LetterEdit(broker.client, (id, change) => {
      replayed.push([id, change]);
      return Promise.resolve(null);
    });
    edit.begin(detail({ row: row(1), payloadText: '{"big":12345678901234567890}' }));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("what was not changed is left out, so that it stays to the letter", async () => {
    expect(edit.payload).toBe('{\n  "big": 12345678901234567890\n}');
    expect(edit.changed).toBe(false);
    await edit.send();
    expect(replayed).toEqual([[row(1).id, {}]]);
    expect(edit.id).toBeNull();
  });

  test("what was changed is sent", async () => {
    edit.topic = " outbound:1 ";
    edit.payload = '{"big":1}';
    await edit.send();
    expect(replayed).toEqual([[row(1).id, { topic: "outbound:1", payload: '{"big":1}' }]]);
  });

  test("what is not JSON is not sent", async () => {
    edit.payload = '{"big":';
    expect(edit.ready).toBe(false);
    await edit.send();
    expect(replayed).toEqual([]);
    expect(edit.id).toBe(row(1).id);
  });

  test("who would get it is asked once typing pauses, without a payload that is none", async () => {
    await vi.runAllTimersAsync();
    expect(edit.prediction?.explanation).toBe("Nobody listens to this topic.");
    for (const topic of ["o", "ou", "out"]) {
      edit.topic = topic;
      edit.payload = "{";
      edit.typed();
      await vi.advanceTimersByTimeAsync(50);
    }
    await vi.runAllTimersAsync();
    expect(broker.called("route")).toEqual([
      { topic: "inbound:1", letter: row(1).id, payload: edit.original.payload },
      { topic: "out", letter: row(1).id },
    ]);
  });

  test("what the recipient's schema does not allow is told as it is typed", () => {
    const input_schema = {
      type: "object",
      properties: { item: { type: "string" } },
      required: ["item"],
    };
    const hunter = agent("hunter", { capabilities: [capability("find", { input_schema })] });
    const judged = new LetterEdit(broker.client, () => Promise.resolve(null), {
      byId: new Map([["hunter", hunter]]),
    });
    judged.begin(
      detail({
        row: row(1, { topic: "agent:hunter", capability: "find" }),
        payloadText: '{"item":7}',
      }),
    );
    expect(judged.fit?.violations.map(({ path }) => path)).toEqual([["item"]]);
    judged.payload = '{"type":"find","item":"kettle"}';
    expect(judged.fit).toEqual({ agent: "hunter", capability: "find", violations: [] });
    judged.payload = '{"type":"sing"}';
    expect(judged.fit, "nobody says what that needs").toBeNull();
  });
});
