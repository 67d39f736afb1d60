import { beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import type { SendResult } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { batch, row } from "../testing/fixtures";
import { Jobs } from "./jobs.svelte";
import { LetterWork } from "./letter-work.svelte";
import { Notices } from "./notices.svelte";

describe("what the operator does with dead letters", () => {
  let broker: FakeBroker;
  let notices: Notices;
  let work: LetterWork;
  let shown: string[];
  const { id } = row(1);
  const ended = (state: SendResult["state"]): Promise<SendResult> =>
    Promise.resolve({ messageId: row(2).id, state, acks: [] });

  beforeEach(() => {
    broker = new FakeBroker();
    notices = new Notices();
    shown = [];
    work = new LetterWork(broker.client, {
      notices,
      jobs: new Jobs(),
      changed: () => undefined,
      show: (each) => shown.push(each),
      showAll: () => shown.push("all"),
    });
  });

  test("two clicks replay a letter once", async () => {
    await Promise.all([work.replay(id), work.replay(id)]);
    expect(broker.called("replay")).toEqual([{ id }]);
    expect(work.replaying.size).toBe(0);
    expect(notices.shown).toBe("Replayed: its recipient processed it.");
  });

  test("one that dies again says so, and can be looked at", async () => {
    broker.replayed = () => ended("dead");
    await work.replay(id);
    expect(notices.shown).toBe("It died again: nobody was asked");
    notices.act();
    expect(shown).toEqual([row(2).id]);
  });

  test("the feed's word of a death is told once, with its reason", async () => {
    const died = { id: row(2).id, replayOf: id, topic: "inbound:1", error: "no such table" };
    work.take(batch({ diedAgain: [died] }));
    expect(notices.shown).toBe("It died again: no such table");
    notices.act();
    broker.replayed = () => ended("dead");
    await work.replay(id);
    expect(notices.shown).toBeNull();
    expect(shown).toEqual([row(2).id]);
  });

  test("many deaths are told of together, and lead to the list", () => {
    vi.useFakeTimers();
    const died = (n: number) => ({ id: row(n).id, replayOf: id, topic: "t", error: "no" });
    for (let n = 10; n < 15; n++) work.take(batch({ diedAgain: [died(n)] }));
    vi.advanceTimersByTime(700);
    expect(notices.shown).toBe("5 replayed messages died again.");
    notices.act();
    expect(shown).toEqual(["all"]);
    vi.useRealTimers();
  });

  test("one that is asked again says when", async () => {
    const ack = {
      agent: "echo",
      outcome: "declined" as const,
      message: null,
      payloadText: null,
      againInSeconds: 0.4,
    };
    broker.replayed = async () => ({ ...(await ended("waiting")), acks: [ack] });
    await work.replay(id);
    expect(notices.shown).toBe("Replayed; echo is asked again in 1 s.");
  });

  test("one that is not open any more says so, and can be tried again", async () => {
    broker.replayed = () => Promise.reject(new CallError("notFound", "it was replayed already"));
    expect(await work.replay(id)).toBeNull();
    expect(notices.shown).toBe("it was replayed already");
    expect(work.replaying.size).toBe(0);
  });

  test("a discarding is undone by what it did, once", async () => {
    await work.discard({ ids: [id] }, "a test");
    expect(broker.called("discard")).toEqual([{ filter: { ids: [id] }, reason: "a test" }]);
    notices.act();
    notices.act();
    await vi.waitFor(() => {
      expect(broker.called("restore")).toEqual([{ filter: { closedBy: 8 } }]);
    });
    expect(broker.called("stopJob")).toEqual([{ id: 8 }]);
  });

  test("a large file is taken in by pieces, and lines that are refused keep their numbers", async () => {
    const line = JSON.stringify({ text: "x".repeat(400_000) });
    await work.import(Array.from({ length: 5 }, () => line).join("\n"));
    const asked = broker.calls.flatMap((call) =>
      call.method === "importLetters" ? [call.params.lines] : [],
    );
    expect(asked.map((text) => text.split("\n").length)).toEqual([2, 2, 1]);
    expect(work.imported).toMatchObject({ imported: 3, alreadyHere: 6 });
    // The broker of this test refuses line 4 of whatever it gets.
    expect(work.imported?.refused.map((refused) => refused.line)).toEqual([4, 6, 8]);
  });

  test("an export goes on to the last page", async () => {
    const pages = [
      { lines: '{"a":1}\n{"a":2}\n', next: 2 },
      { lines: '{"a":3}', next: null },
    ];
    vi.spyOn(broker, "call").mockImplementation(() => Promise.resolve(pages.shift()));
    expect(await work.exported({ status: "open" })).toBe('{"a":1}\n{"a":2}\n{"a":3}\n');
    expect(pages).toEqual([]);
  });
});
