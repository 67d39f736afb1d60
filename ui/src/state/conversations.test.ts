import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import {
  batch,
  conversation,
  conversationRow,
  row,
  session,
  talked,
  totals,
} from "../testing/fixtures";
import { Conversations } from "./conversations.svelte";

describe("the list of conversations", () => {
  let broker: FakeBroker;
  let conversations: Conversations;
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      conversationRow(`c-${String(count - i)}`, { lastSeq: count - i }),
    );
  const ids = () => conversations.rows.map((each) => each.id);
  const reads = () => broker.called("conversations").length;

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    broker.conversations = many(2);
    conversations = new Conversations(broker.client);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("is not read while nobody looks", async () => {
    conversations.take(batch({ rows: [row(1, { conversationId: "c-1" })] }));
    await vi.runAllTimersAsync();
    expect(broker.calls).toEqual([]);
  });

  test("is read again when something is said in one, but not for what belongs to none", async () => {
    conversations.watch();
    conversations.take(batch({ totals: totals(10) }));
    await vi.runAllTimersAsync();
    const before = reads();
    conversations.take(batch({ totals: totals(11), rows: [row(11)] }));
    await vi.runAllTimersAsync();
    expect(reads()).toBe(before);
    broker.conversations = many(3);
    conversations.take(batch({ totals: totals(12), rows: [row(12, { conversationId: "c-3" })] }));
    await vi.runAllTimersAsync();
    expect(ids()).toEqual(["c-3", "c-2", "c-1"]);
  });

  test("is read again when the filter of Flow left something out, and when one died", async () => {
    conversations.watch();
    conversations.take(batch({ totals: totals(10) }));
    await vi.runAllTimersAsync();
    const before = reads();
    conversations.take(batch({ totals: totals(11), rows: [] }));
    await vi.runAllTimersAsync();
    expect(reads()).toBe(before + 1);
    conversations.take(batch({ totals: { ...totals(11), dead: 1 } }));
    await vi.runAllTimersAsync();
    expect(reads()).toBe(before + 2);
  });

  test("a session that ends without a word is found, as is one that begins so", async () => {
    broker.conversations = [conversationRow("c-1", { status: "active" })];
    const stop = conversations.watch();
    await vi.runAllTimersAsync();
    broker.conversations = [
      conversationRow("c-2", { status: "active" }),
      conversationRow("c-1", { status: "completed" }),
    ];
    conversations.take(batch({ sessions: true }));
    await vi.runAllTimersAsync();
    expect(conversations.rows.map(({ id, status }) => [id, status])).toEqual([
      ["c-2", "active"],
      ["c-1", "completed"],
    ]);
    stop();
    const before = reads();
    conversations.take(batch({ sessions: true }));
    await vi.runAllTimersAsync();
    expect(reads(), "nobody looks any more").toBe(before);
  });

  test("a storm of messages is read once a second", async () => {
    conversations.watch();
    for (let i = 0; i < 300; i++) {
      conversations.take(batch({ rows: [row(i, { conversationId: "c-1" })] }));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(reads()).toBeLessThanOrEqual(4);
  });

  test("all of them are reached by scrolling, each once, and stay when the list is read again", async () => {
    broker.conversations = many(500);
    conversations.watch();
    await vi.runAllTimersAsync();
    for (let i = 0; i < 10; i++) await conversations.loadOlder();
    expect(ids()).toHaveLength(500);
    expect(new Set(ids()).size).toBe(500);
    conversations.take(batch({ rows: [row(501, { conversationId: "c-1" })] }));
    await vi.runAllTimersAsync();
    expect(ids()).toHaveLength(500);
  });

  test("what is typed is asked once, and an answer to an older question is thrown away", async () => {
    conversations.watch();
    await vi.runAllTimersAsync();
    for (const text of ["c", "c-", "c-2"]) {
      conversations.text = text;
      conversations.typed();
    }
    await vi.runAllTimersAsync();
    expect(broker.called("conversations").at(-1)).toEqual({ limit: 60, text: "c-2" });
    expect(reads()).toBe(2);
    expect(ids()).toEqual(["c-2"]);
    conversations.widen();
    await vi.runAllTimersAsync();
    expect(ids()).toHaveLength(2);
  });

  test("that it cannot be read is said, and can be tried again", async () => {
    const failing = vi
      .spyOn(broker, "call")
      .mockRejectedValue(new CallError("storageFailed", "the disk is full"));
    conversations.watch();
    await vi.runAllTimersAsync();
    expect(conversations.trouble).toBe("the disk is full");
    failing.mockRestore();
    conversations.retry();
    await vi.runAllTimersAsync();
    expect(conversations.trouble).toBeNull();
    expect(ids()).toHaveLength(2);
  });

  test("only those that failed, or whose session goes on, are asked for by the broker", async () => {
    conversations.watch();
    await vi.runAllTimersAsync();
    conversations.narrow({ failed: true });
    await vi.runAllTimersAsync();
    expect(broker.called("conversations").at(-1)).toEqual({ limit: 60, failed: true });
    conversations.narrow({ failed: false, active: true });
    await vi.runAllTimersAsync();
    expect(broker.called("conversations").at(-1)).toEqual({ limit: 60, active: true });
    expect(conversations.narrowed).toBe(true);
    conversations.widen();
    await vi.runAllTimersAsync();
    expect(broker.called("conversations").at(-1)).toEqual({ limit: 60 });
  });

  test("nothing moves under a pointer, though what is said of it stays true", async () => {
    conversations.watch();
    await vi.runAllTimersAsync();
    conversations.hold(true);
    broker.conversations = [
      conversationRow("c-3", { lastSeq: 4 }),
      conversationRow("c-1", { lastSeq: 3, failed: 1 }),
      conversationRow("c-2", { lastSeq: 2 }),
    ];
    conversations.take(batch({ rows: [row(3, { conversationId: "c-1" })] }));
    await vi.runAllTimersAsync();
    expect(ids()).toEqual(["c-2", "c-1"]);
    expect(conversations.rows[1]?.failed).toBe(1);
    expect(conversations.waiting).toBe(2);
    conversations.hold(false);
    expect(ids()).toEqual(["c-3", "c-1", "c-2"]);
    expect(conversations.waiting).toBe(0);
  });

  describe("the open one", () => {
    const opened = () => broker.called("conversation").length;

    test("is read again when it is spoken in, and when one of its messages moves on", async () => {
      broker.conversation = (id) => conversation({ id, messages: [talked(7)] });
      conversations.watch();
      conversations.open.open("c-1");
      await vi.runAllTimersAsync();
      expect(conversations.open.detail?.messages).toHaveLength(1);
      const before = opened();
      conversations.take(batch({ rows: [row(8, { conversationId: "c-2" })] }));
      await vi.runAllTimersAsync();
      expect(opened()).toBe(before);
      conversations.take(batch({ rows: [row(9, { conversationId: "c-1" })] }));
      await vi.runAllTimersAsync();
      expect(opened()).toBe(before + 1);
      const moved = { to: "b", tookMicros: 1, error: null, retryAt: null };
      conversations.take(batch({ moved: [{ seq: 7, state: "processed", ...moved }] }));
      await vi.runAllTimersAsync();
      expect(opened()).toBe(before + 2);
    });

    test("is read again when only the list knows that it was spoken in", async () => {
      conversations.watch();
      conversations.open.open("c-1");
      await vi.runAllTimersAsync();
      const before = opened();
      broker.conversations = [conversationRow("c-1", { lastSeq: 9 })];
      conversations.take(batch({ totals: totals(99) }));
      await vi.runAllTimersAsync();
      expect(opened()).toBe(before + 1);
    });

    test("is read again when what agents share changed, and not by the clock", async () => {
      broker.conversation = (id) => conversation({ id, session: session() });
      conversations.watch();
      conversations.open.open("c-1");
      await vi.runAllTimersAsync();
      const before = opened();
      for (let i = 0; i < 10; i++) conversations.second();
      await vi.runAllTimersAsync();
      expect(opened()).toBe(before);
      conversations.take(batch({ sessions: true }));
      await vi.runAllTimersAsync();
      expect(opened()).toBe(before + 1);
    });

    test("is never shown as the one before it, and running through the list asks for few", async () => {
      const waiting: ((id: string) => void)[] = [];
      vi.spyOn(broker, "call").mockImplementation(
        (call) =>
          new Promise((answer) => {
            if (call.method === "conversation")
              waiting.push(() => answer(conversation({ id: call.params.id })));
          }),
      );
      for (const id of ["a", "b", "c", "d"]) conversations.open.open(id);
      expect(waiting).toHaveLength(1);
      waiting[0]?.("a");
      await vi.runAllTimersAsync();
      expect(conversations.open.detail).toBeNull();
      waiting[1]?.("d");
      await vi.runAllTimersAsync();
      expect(conversations.open.detail?.id).toBe("d");
      expect(waiting).toHaveLength(2);
    });
  });
});
