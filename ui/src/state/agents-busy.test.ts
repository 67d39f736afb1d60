import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { SettingView } from "../api/generated";
import { FakeBroker } from "../testing/fake-broker";
import { busyRow } from "../testing/fake-figures";
import { AgentsBusy, promisedBy } from "./agents-busy.svelte";

describe("what agents did lately", () => {
  let broker: FakeBroker;
  let busy: AgentsBusy;
  let stop: () => void = () => undefined;

  beforeEach(() => {
    vi.useFakeTimers();
    broker = new FakeBroker();
    broker.figures.agents = [busyRow("echo", { accepted: 3 })];
    busy = new AgentsBusy(broker.client);
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  test("is read every few seconds while somebody looks, an hour not quite so often", async () => {
    expect(broker.called("busy")).toEqual([]);
    stop = busy.watch();
    await vi.advanceTimersByTimeAsync(9_000);
    expect(broker.called("busy").length).toBe(1);
    expect(busy.rows.get("echo")?.accepted).toBe(3);
    busy.choose(1);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(broker.called("busy").length).toBe(4);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(broker.called("busy").length).toBe(4);
  });

  test("another time is read at once, and only that is shown", async () => {
    stop = busy.watch();
    busy.choose(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(broker.called("busy").at(-1)).toEqual({ minutes: 1, by: "agent" });
  });

  test("how often a sign of life is promised is a setting", () => {
    const setting = (key: string, value: unknown) => ({ key, value }) as SettingView;
    const section = (settings: SettingView[]) => ({
      sections: [{ name: "heartbeat", title: "", explanation: "", settings }],
    });
    expect(promisedBy(section([setting("heartbeat.interval_ms", 4_000)]))).toEqual({
      everyMs: 4_000,
      misses: 3,
    });
    expect(promisedBy(section([setting("heartbeat.misses", "many")])).misses).toBe(3);
  });
});
