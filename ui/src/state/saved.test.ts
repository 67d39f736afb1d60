import { beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import { Notices } from "./notices.svelte";
import { SavedThings } from "./saved.svelte";

describe("what the operator keeps", () => {
  let broker: FakeBroker;
  let notices: Notices;
  let saved: SavedThings;

  beforeEach(() => {
    broker = new FakeBroker();
    notices = new Notices();
    saved = new SavedThings(broker.client, notices);
  });

  const names = () => saved.list.map(({ name }) => name);

  test("filters and templates are kept apart, even under one name", async () => {
    await saved.keep("filter", " mine ", "kind:request");
    await saved.keep("template", "mine", "{}");
    expect(saved.filters.map(({ text }) => text)).toEqual(["kind:request"]);
    expect(saved.templates.map(({ text }) => text)).toEqual(["{}"]);
    await saved.forget("template", "mine");
    expect(names()).toEqual(["mine"]);
  });

  test("the list is read when it is first wanted, and not again", async () => {
    broker.saved.save({ kind: "filter", name: "slow", text: "slower:1s" });
    await saved.want();
    await saved.want();
    expect(names()).toEqual(["slow"]);
    expect(broker.called("saved")).toHaveLength(1);
  });

  test("what is deleted or saved over comes back by undo", async () => {
    await saved.keep("filter", "mine", "kind:request");
    await saved.forget("filter", "mine");
    expect(names()).toEqual([]);
    notices.act();
    await vi.waitFor(() => expect(names()).toEqual(["mine"]));
    await saved.keep("filter", "mine", "kind:event");
    notices.act();
    await vi.waitFor(() => expect(saved.find("filter", "mine")?.text).toBe("kind:request"));
  });

  test("a name that is taken is not given twice", async () => {
    await saved.keep("filter", "one", "kind:request");
    await saved.keep("filter", "two", "kind:event");
    expect(await saved.rename("filter", "one", "two")).toBe(false);
    expect(await saved.rename("filter", "one", "three")).toBe(true);
    expect(names()).toEqual(["three", "two"]);
    expect(saved.find("filter", "three")?.text).toBe("kind:request");
  });

  test("a refusal is told and changes nothing", async () => {
    await saved.keep("filter", "one", "kind:request");
    vi.spyOn(broker, "call").mockRejectedValue(new CallError("busy", "the disk is full"));
    expect(await saved.keep("filter", "two", "")).toBe(false);
    expect(notices.shown).toBe("the disk is full");
    expect(names()).toEqual(["one"]);
  });
});
