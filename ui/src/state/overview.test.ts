import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import { busyRow, figureHistory } from "../testing/fake-figures";
import type { Minutes } from "./figures";
import { Overview } from "./overview.svelte";

describe("the Overview", () => {
  let broker: FakeBroker;
  let overview: Overview;
  let stop: () => void = () => undefined;

  beforeEach(() => {
    vi.useFakeTimers();
    window.localStorage.clear();
    broker = new FakeBroker();
    broker.figures.history = ({ minutes }) =>
      figureHistory(Array.from({ length: minutes * 6 }, (_, i) => (i < minutes * 3 ? 1 : 2)));
    overview = new Overview(broker.client);
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });
  const settle = () => vi.advanceTimersByTimeAsync(0);

  test("reads nothing until somebody looks, and nothing after", async () => {
    expect(broker.calls).toEqual([]);
    stop = overview.watch();
    await settle();
    expect(overview.history?.stepSeconds).toBe(10);
    stop();
    const asked = broker.calls.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(broker.calls.length).toBe(asked);
  });

  test("a short range is read every second, a week only now and then", async () => {
    overview.choose(5);
    stop = overview.watch();
    await vi.advanceTimersByTimeAsync(5_500);
    const short = broker
      .called("figureHistory")
      .filter((query) => "minutes" in query && query.minutes === 5);
    expect(short.length).toBe(6);
    overview.choose(10_080);
    await vi.advanceTimersByTimeAsync(5_500);
    const long = broker
      .called("figureHistory")
      .filter((query) => "minutes" in query && query.minutes === 10_080);
    expect(long.length).toBe(1);
  });

  test("as long a time before is summed for comparison, but not before a week", async () => {
    overview.choose(60);
    stop = overview.watch();
    await settle();
    expect(overview.before).toMatchObject({ accepted: 360, seconds: 3_600 });
    overview.choose(10_080);
    await settle();
    expect(overview.before).toBeNull();
  });

  test("the range is remembered, and a new one forgets the closer look", async () => {
    stop = overview.watch();
    await settle();
    overview.look({ from: 1_000, to: 1_100 });
    expect(overview.zoom).not.toBeNull();
    overview.choose(360);
    expect(overview.zoom).toBeNull();
    expect(new Overview(broker.client).minutes).toBe(360);
  });

  test("a look at less than two steps changes nothing", async () => {
    stop = overview.watch();
    await settle();
    overview.look({ from: 1_000, to: 1_005 });
    expect(overview.zoom).toBeNull();
  });

  test("one door or one agent can be looked at alone", async () => {
    broker.figures.doors = [busyRow("bus")];
    stop = overview.watch();
    overview.show({ door: "bus" });
    await settle();
    expect(broker.called("figureHistory").at(-1)).toMatchObject({ door: "bus" });
    expect(overview.doors?.rows).toHaveLength(1);
  });

  test("an answer to an earlier question is not shown", async () => {
    let late: (() => void) | null = null;
    broker.figures.history = ({ minutes }) => figureHistory([minutes]);
    const call = broker.call.bind(broker);
    vi.spyOn(broker, "call").mockImplementation((asked) => {
      const answer = call(asked);
      if (asked.method !== "figureHistory" || asked.params.minutes !== 60) return answer;
      return new Promise((resolve) => (late = () => resolve(answer)));
    });
    stop = overview.watch();
    overview.choose(5);
    await settle();
    (late as (() => void) | null)?.();
    await settle();
    expect(overview.history?.accepted).toEqual([5]);
  });

  test("trouble is told until the figures come again", async () => {
    broker.figures.history = () => {
      throw new CallError("busy", "too busy");
    };
    stop = overview.watch();
    await settle();
    expect(overview.trouble).toBe("too busy");
    broker.figures.history = () => figureHistory([1]);
    overview.retry();
    await settle();
    expect(overview.trouble).toBeNull();
    expect(overview.history).not.toBeNull();
  });

  test("who is busy is asked the less often the longer the range", async () => {
    stop = overview.watch();
    const asked = async (minutes: Minutes) => {
      const before = broker.called("busy").length;
      overview.choose(minutes);
      await vi.advanceTimersByTimeAsync(61_000);
      return (broker.called("busy").length - before) / 2;
    };
    expect(await asked(5)).toBe(16);
    expect(await asked(60)).toBe(7);
    expect(await asked(360)).toBe(3);
  });
});
