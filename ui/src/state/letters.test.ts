import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import type { FeedEvent } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { batch, figures, job, letterRow } from "../testing/fixtures";
import { Letters } from "./letters.svelte";

describe("the list of dead letters", () => {
  let broker: FakeBroker;
  let letters: Letters;
  const seqs = () => letters.rows.map((row) => row.seq);
  const open = (openLetters: number): FeedEvent => batch({ figures: { ...figures, openLetters } });
  const many = (count: number) => Array.from({ length: count }, (_, i) => letterRow(count - i));

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    broker.letters = many(3);
    letters = new Letters(broker.client);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("is not read while nobody looks", async () => {
    letters.take(open(3));
    await vi.runAllTimersAsync();
    expect(broker.calls).toEqual([]);
  });

  test("is read again when one died, when one was dealt with, and when work went on, but not otherwise", async () => {
    letters.watch();
    letters.take(open(3));
    await vi.runAllTimersAsync();
    expect(seqs()).toEqual([3, 2, 1]);
    const before = broker.calls.length;
    letters.take(open(3));
    await vi.runAllTimersAsync();
    expect(broker.calls).toHaveLength(before);
    broker.letters = many(4);
    letters.take(open(4));
    await vi.runAllTimersAsync();
    expect(seqs()).toEqual([4, 3, 2, 1]);
    letters.take(batch({ figures: { ...figures, openLetters: 4 }, jobs: [job(1)] }));
    await vi.runAllTimersAsync();
    expect(broker.calls).toHaveLength(before + 2);
  });

  test("a storm of deaths is read a few times a second", async () => {
    letters.watch();
    for (let i = 0; i < 100; i++) {
      letters.take(open(i));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(broker.calls.length).toBeLessThanOrEqual(4);
  });

  test("every letter is reached by scrolling, each once, and stays when the list is read again", async () => {
    broker.letters = many(1_300);
    letters.watch();
    await vi.runAllTimersAsync();
    for (let page = 0; page < 20; page++) await letters.loadOlder();
    expect(seqs()).toEqual(many(1_300).map((row) => row.seq));
    broker.letters = many(1_301);
    letters.take(open(1_301));
    await vi.runAllTimersAsync();
    expect(seqs().slice(0, 2)).toEqual([1_301, 1_300]);
    expect(letters.rows.length).toBeGreaterThanOrEqual(1_300);
  });

  test("of a very long list only the beginning is read again, and what is picked below stays", async () => {
    broker.letters = many(5_000);
    letters.watch();
    await vi.runAllTimersAsync();
    for (let page = 0; page < 30; page++) await letters.loadOlder();
    expect(letters.rows).toHaveLength(5_000);
    letters.picks.set(letters.ids);
    broker.letters = broker.letters.slice(1);
    broker.calls.length = 0;
    letters.take(open(4_999));
    await vi.runAllTimersAsync();
    expect(broker.called("deadLetters").length).toBeLessThanOrEqual(4);
    expect(letters.picks.ids.size).toBe(4_999);
    for (let page = 0; page < 30; page++) await letters.loadOlder();
    expect(seqs()).toEqual(broker.letters.map((row) => row.seq));
  });

  test("an answer to an older question is thrown away", async () => {
    broker.letters = [letterRow(2, { reason: "expired" }), letterRow(1)];
    letters.watch();
    letters.choose({ reason: "expired" });
    await vi.runAllTimersAsync();
    expect(seqs()).toEqual([2]);
    expect(letters.matching).toBe(1);
    expect(letters.causes).toHaveLength(2);
  });

  test("another question forgets what was picked; those that match are asked for by the filter", async () => {
    letters.watch();
    await vi.runAllTimersAsync();
    letters.picks.set(letters.ids);
    expect(letters.picked).toEqual({ status: "open", ids: letters.ids });
    letters.picks.setAll();
    letters.text = "task";
    expect(letters.picked).toEqual({ status: "open", message: { text: "task" } });
    letters.typed();
    await vi.runAllTimersAsync();
    expect(letters.picks.any).toBe(false);
    expect(broker.called("deadLetters").at(-1)).toMatchObject({
      filter: { status: "open", message: { text: "task" } },
    });
  });

  test("a list that cannot be read says so, and can be tried again", async () => {
    vi.spyOn(broker, "call").mockRejectedValueOnce(new CallError("busy", "come back later"));
    letters.watch();
    await vi.runAllTimersAsync();
    expect(letters.trouble).toBe("come back later");
    letters.retry();
    await vi.runAllTimersAsync();
    expect(letters.trouble).toBeNull();
    expect(seqs()).toEqual([3, 2, 1]);
  });
});
