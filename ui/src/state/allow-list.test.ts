import { beforeEach, describe, expect, test, vi } from "vitest";
import { FakeBroker } from "../testing/fake-broker";
import { AT, batch } from "../testing/fixtures";
import { AllowList } from "./allow-list.svelte";
import { Notices } from "./notices.svelte";

describe("the allow-list", () => {
  let broker: FakeBroker;
  let notices: Notices;
  let list: AllowList;
  let stop: () => void;

  beforeEach(() => {
    broker = new FakeBroker();
    notices = new Notices();
    list = new AllowList(broker.client, notices);
    stop = list.watch();
  });

  const patterns = () => list.entries?.map(({ pattern }) => pattern);
  const becomes = (...expected: string[]) =>
    vi.waitFor(() => {
      expect(patterns()).toEqual(expected);
    });

  test("an entry is added with its note, and taken off again by Undo", async () => {
    expect(await list.add("3cde*", "the cellar")).toBe(true);
    expect(broker.called("editAllowList")).toEqual([
      { add: [{ pattern: "3cde*", note: "the cellar" }], remove: [] },
    ]);
    expect(patterns()).toEqual(["3cde*"]);
    notices.act();
    await becomes();
  });

  test("other words for an entry are undone to the words before", async () => {
    await list.add("3cde*", "the cellar");
    await list.add("3cde*", "the attic");
    notices.act();
    await vi.waitFor(() => {
      expect(list.entries?.[0]?.note).toBe("the cellar");
    });
  });

  test("an entry is removed, and comes back with its note by Undo", async () => {
    await list.add("3cde*", "the cellar");
    await list.remove({ pattern: "3cde*", note: "the cellar", addedAt: AT });
    expect(notices.shown).toBe("3cde* is off the list. Now everyone may announce themselves.");
    notices.act();
    await becomes("3cde*");
    expect(list.entries?.[0]?.note).toBe("the cellar");
  });

  test("what the broker says against an entry is told beside the form", async () => {
    expect(await list.add("two words", "")).toBe(false);
    expect(list.addTrouble).toBe("no id has a space in it");
    expect(notices.shown).toBeNull();
  });

  test("is read again when the feed says so, while someone looks", async () => {
    await becomes();
    broker.discovery.allowed = [{ pattern: "a*", note: "", addedAt: null }];
    list.take(batch({ discovery: true }));
    await becomes("a*");
    stop();
    const before = broker.called("allowList").length;
    list.take(batch({ discovery: true }));
    expect(broker.called("allowList")).toHaveLength(before);
  });

  test("an entry that has to wait for another is not taken, and that is said", async () => {
    const first = list.add("3cde*", "");
    expect(await list.add("4cde*", "")).toBe(false);
    expect(list.addTrouble).toBe("Another change is still under way.");
    await first;
    await becomes("3cde*");
  });
});
