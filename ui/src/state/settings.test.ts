import { beforeEach, describe, expect, test, vi } from "vitest";
import type { SettingView } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { figures, snapshot } from "../testing/fixtures";
import { Settings } from "./settings.svelte";

describe("settings", () => {
  let broker: FakeBroker;
  let settings: Settings;
  let said: string[];
  const one = (key: string): SettingView => {
    const found = settings.all.find((each) => each.key === key);
    if (found === undefined) throw new Error(`no setting ${key}`);
    return found;
  };

  beforeEach(async () => {
    broker = new FakeBroker();
    said = [];
    settings = new Settings(broker.client, (text) => said.push(text));
    settings.read();
    await vi.waitFor(() => {
      expect(settings.view).not.toBeNull();
    });
  });

  test("changes are gathered and saved together", async () => {
    settings.enter(one("delivery.attempts"), "5");
    settings.enter(one("aacp.open"), true);
    expect(settings.changed.map(({ key }) => key)).toEqual(["delivery.attempts", "aacp.open"]);
    await settings.save();
    expect(broker.called("editSettings")).toEqual([
      {
        changes: [
          { key: "delivery.attempts", value: 5 },
          { key: "aacp.open", value: true },
        ],
      },
    ]);
    expect(settings.changed).toEqual([]);
    expect(settings.waiting.map(({ key }) => key)).toEqual(["aacp.open"]);
    expect(said).toEqual(["Saved 2 settings; 1 of them after a restart."]);
  });

  test("what was written back to what it was is no change", () => {
    settings.enter(one("delivery.attempts"), "5");
    settings.enter(one("delivery.attempts"), "3");
    expect(settings.changed).toEqual([]);
  });

  test("the default needs no line in the file", async () => {
    settings.enter(one("delivery.attempts"), "5");
    await settings.save();
    settings.reset(one("delivery.attempts"));
    await settings.save();
    expect(broker.called("editSettings").at(-1)).toEqual({
      changes: [{ key: "delivery.attempts", value: null }],
    });
  });

  test("what cannot be given is not saved", async () => {
    settings.enter(one("delivery.attempts"), "0");
    expect(settings.wrong(one("delivery.attempts"))).toBe("The least is 1.");
    expect(settings.ready).toBe(false);
    await settings.save();
    expect(broker.called("editSettings")).toEqual([]);
  });

  test("the broker's words stand beside the setting that they name, until it is changed", async () => {
    broker.settings.refusal = "delivery.attempts: it must be less than the moon";
    settings.enter(one("delivery.attempts"), "5");
    settings.enter(one("delivery.timeout_ms"), "6000");
    await settings.save();
    expect(settings.refused(one("delivery.attempts"))).toContain("moon");
    expect(settings.refused(one("delivery.timeout_ms"))).toBeNull();
    expect(settings.changed).toHaveLength(2);
    settings.enter(one("delivery.attempts"), "4");
    expect(settings.refused(one("delivery.attempts"))).toBeNull();
  });

  test("words that name none are told for all", async () => {
    broker.settings.refusal = "the file cannot be written";
    settings.enter(one("delivery.attempts"), "5");
    settings.enter(one("aacp.open"), true);
    await settings.save();
    expect(settings.refusal).toBe("the file cannot be written");
  });

  test("a restart is over when a younger broker speaks", async () => {
    await settings.restart();
    const since = settings.restarting ?? 0;
    expect(since).toBeGreaterThan(0);
    settings.take(snapshot({ figures: { ...figures, uptimeSeconds: 3_600 } }), since + 1_000);
    expect(settings.restarting).toBe(since);
    settings.take(snapshot({ figures: { ...figures, uptimeSeconds: 1 } }), since + 4_000);
    expect(settings.restarting).toBeNull();
    expect(said).toEqual(["Switchboard is back."]);
  });

  test("what is written while others are saved stays", async () => {
    settings.enter(one("delivery.attempts"), "5");
    settings.enter(one("delivery.timeout_ms"), "100");
    const saving = settings.save();
    settings.enter(one("delivery.timeout_ms"), "200");
    settings.enter(one("retention.days"), "8");
    await saving;
    expect(settings.changed.map(({ key }) => key)).toEqual([
      "delivery.timeout_ms",
      "retention.days",
    ]);
    expect(settings.entered(one("delivery.timeout_ms"))).toBe("200");
  });
});
