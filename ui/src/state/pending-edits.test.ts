import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Effect } from "../api/generated";
import { FakeRules } from "../testing/fake-rules";
import { PendingEdits } from "./pending-edits.svelte";

describe("pending edits", () => {
  let pending: PendingEdits;
  let changed: () => void;
  const rules = new FakeRules();
  const standing = rules.rule("planner", "invoicer", "send", "deny");
  const edit = (effect: Effect | null, caller = "planner") => ({
    caller,
    provider: "invoicer",
    capability: "send",
    effect,
  });

  beforeEach(() => {
    changed = vi.fn();
    pending = new PendingEdits(changed);
    pending.rebase([standing]);
  });

  test("the last word on a rule counts, in the place of the first", () => {
    pending.add(edit("allow", "crawler"), edit("allow"));
    pending.add(edit(null));
    expect(pending.list).toEqual([edit("allow", "crawler"), edit(null)]);
    expect(pending.effect(edit(null))).toBeNull();
    expect(pending.wouldBe).toEqual([edit("allow", "crawler")]);
    expect(changed).toHaveBeenCalledTimes(2);
  });

  test("an edit that says what is in force already is none", () => {
    pending.add(edit("allow"));
    pending.add(edit("deny"));
    expect(pending.list).toEqual([]);
    pending.add(edit(null, "nobody"));
    expect(pending.list).toEqual([]);
    expect(pending.effect(edit(null))).toBe("deny");
  });

  test("one is taken out, all are discarded", () => {
    pending.add(edit("allow"), edit("deny", "crawler"), edit("deny", "shopper"));
    pending.remove(edit(null, "crawler"));
    expect(pending.list).toHaveLength(2);
    pending.clear();
    expect(pending.list).toEqual([]);
  });

  test("the last step is taken back, step by step", () => {
    pending.add(edit("deny"));
    pending.add(edit("allow"));
    pending.add(edit("deny", "crawler"), edit("deny", "shopper"));
    pending.remove(edit(null, "nobody"));
    pending.clear();
    expect(pending.undo()).toBe(true);
    expect(pending.list).toHaveLength(3);
    expect(pending.groups).toHaveLength(2);
    expect(pending.undo()).toBe(true);
    expect(pending.list).toEqual([edit("allow")]);
    expect(pending.undo()).toBe(true);
    expect(pending.list).toEqual([]);
    expect(pending.undo()).toBe(false);
  });

  test("what was put in force is not taken back here", () => {
    pending.add(edit("allow", "crawler"));
    pending.add(edit("allow"));
    pending.rebase([new FakeRules().rule("planner", "invoicer", "send", "allow")]);
    expect(pending.undo()).toBe(false);
    expect(pending.list).toEqual([edit("allow", "crawler")]);
  });

  test("what someone else put in force meanwhile is not pending any more", () => {
    pending.add(edit("allow"), edit("deny", "crawler"));
    const other = new FakeRules();
    pending.rebase([other.rule("planner", "invoicer", "send", "allow")]);
    expect(pending.list).toEqual([edit("deny", "crawler")]);
  });
});
