import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeBroker } from "../testing/fake-broker";
import { batch, rows, snapshot } from "../testing/fixtures";
import { Messages } from "./messages.svelte";

const shownSeqs = (messages: Messages) =>
  Array.from({ length: messages.rows.length }, (_, i) => messages.rows.at(i)?.seq);

describe("history", () => {
  let broker: FakeBroker;
  let messages: Messages;

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    broker.stored = rows(1, 1_000);
    messages = new Messages(broker.client);
    messages.begin({});
    messages.take(snapshot({ rows: rows(701, 1_000).toReversed() }));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function readToTheEnd() {
    for (let page = 0; page < 20 && !messages.rows.ended; page++) {
      const reading = messages.loadOlder();
      await vi.runAllTimersAsync();
      await reading;
    }
  }

  test("scrolling back reaches every message ever accepted, each once", async () => {
    await readToTheEnd();
    expect(shownSeqs(messages)).toEqual(
      rows(1, 1_000)
        .map((row) => row.seq)
        .toReversed(),
    );
  });

  test("what the feed left out is read from the store", async () => {
    broker.stored = rows(1, 3_000);
    messages.take(batch({ rows: rows(2_701, 3_000), skipped: 1_700 }));
    messages.scrolledAway(true);
    await readToTheEnd();
    expect(shownSeqs(messages)).toEqual(
      rows(1, 3_000)
        .map((row) => row.seq)
        .toReversed(),
    );
  });

  test("a page without rows that is not the last is no end", async () => {
    const asked: unknown[] = [];
    vi.spyOn(broker, "call").mockImplementation(({ params }) => {
      const { before = 900 } = params as { before?: number };
      asked.push(before);
      return Promise.resolve(
        before > 300 ? { rows: [], next: before - 300 } : { rows: rows(7, 7), next: null },
      );
    });
    messages.begin({ text: "rare" });
    messages.take(snapshot({ rows: [] }));
    await vi.runAllTimersAsync();
    expect(asked).toEqual([900, 600, 300]);
    expect(shownSeqs(messages)).toEqual([7]);
    expect(messages.rows.ended).toBe(true);
  });

  test("the store is given time to have what the feed was too fast for", async () => {
    messages.take(batch({ rows: rows(2_701, 3_000), skipped: 1_700 }));
    const reading = messages.loadOlder();
    await vi.advanceTimersByTimeAsync(100);
    expect(broker.calls).toEqual([]);
    await vi.runAllTimersAsync();
    await reading;
    expect(broker.calls).toHaveLength(1);
  });

  test("a page that was asked for under another filter is thrown away", async () => {
    const reading = messages.loadOlder();
    messages.begin({ kind: "request" });
    messages.take(snapshot({ rows: rows(900, 901).toReversed() }));
    await vi.runAllTimersAsync();
    await reading;
    expect(shownSeqs(messages)).toEqual([901, 900]);
  });

  test("a store that cannot be read is said, not asked again by itself, and can be tried again", async () => {
    vi.spyOn(broker, "call").mockRejectedValueOnce(new Error("gone"));
    await messages.loadOlder();
    expect(messages.trouble).toBe("The broker could not be reached.");
    await messages.loadOlder();
    expect(broker.calls).toEqual([]);
    messages.retry();
    await vi.runAllTimersAsync();
    expect(messages.rows.length).toBe(500);
  });

  test("paused and scrolled away both hold; only both undone let go", () => {
    messages.pause(true);
    messages.scrolledAway(true);
    messages.take(batch({ rows: rows(1_001, 1_002) }));
    messages.scrolledAway(false);
    expect(messages.rows.at(0)?.seq).toBe(1_000);
    messages.pause(false);
    expect(messages.rows.at(0)?.seq).toBe(1_002);
  });

  test("how many found no room is told for a second", async () => {
    messages.take(batch({ rows: rows(2_701, 3_000), skipped: 1_700 }));
    await vi.advanceTimersByTimeAsync(250);
    expect(messages.skipped).toBe(1_700);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(messages.skipped).toBe(0);
  });
});
