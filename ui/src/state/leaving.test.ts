import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeBroker } from "../testing/fake-broker";
import { detail, row } from "../testing/fixtures";
import { Console } from "./console.svelte";

describe("leaving the page", () => {
  let console: Console;
  let stop: () => void;

  beforeEach(() => {
    console = new Console(new FakeBroker().client);
    stop = console.start();
  });
  afterEach(() => stop());

  /** Whether the browser would ask before the page goes. */
  function asks(): boolean {
    const leaving = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(leaving);
    return leaving.defaultPrevented;
  }

  test("nobody is asked while there is nothing to lose", () => {
    console.edit.begin(detail({ row: row(1) }));
    expect(asks(), "a letter that is open and not changed").toBe(false);
  });

  test("edits of rules that are not applied are not lost unasked", () => {
    const rule = { caller: "clerk", provider: "invoicer", capability: "read" };
    console.permissions.pending.add({ ...rule, effect: "allow" });
    expect(asks()).toBe(true);
    console.permissions.pending.clear();
    expect(asks()).toBe(false);
  });

  test("settings that are not saved are not lost unasked", async () => {
    console.settings.read();
    await vi.waitFor(() => {
      expect(console.settings.view).not.toBeNull();
    });
    const [setting] = console.settings.all;
    if (setting === undefined) throw new Error("there are no settings");
    console.settings.enter(setting, "127.0.0.1:1");
    expect(asks()).toBe(true);
    console.settings.discard();
    expect(asks()).toBe(false);
  });

  test("a dead letter that was edited is not lost unasked", () => {
    console.edit.begin(detail({ row: row(1) }));
    console.edit.topic = "outbound:other";
    expect(asks()).toBe(true);
    console.edit.close();
    expect(asks()).toBe(false);
  });

  test("nobody is asked once the console has stopped", () => {
    console.permissions.pending.add({
      caller: "clerk",
      provider: "invoicer",
      capability: "read",
      effect: "deny",
    });
    stop();
    expect(asks()).toBe(false);
  });
});
