import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { poll } from "./poll";

describe("poll", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("runs at once, then again and again, until it is stopped", async () => {
    const run = vi.fn(() => Promise.resolve());
    const stop = poll(run, 1_000);
    expect(run).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(run).toHaveBeenCalledTimes(3);
    stop();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(run).toHaveBeenCalledTimes(3);
  });

  test("waits for the last time to end, however long that takes", async () => {
    let end: () => void = () => undefined;
    const run = vi.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const stop = poll(run, 1_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(run).toHaveBeenCalledTimes(1);
    end();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(run).toHaveBeenCalledTimes(2);
    stop();
  });

  test("rests while nobody sees the page, and goes on at once when somebody does", async () => {
    let hidden = true;
    const page = new EventTarget() as Document;
    Object.defineProperty(page, "hidden", { get: () => hidden });
    const run = vi.fn(() => Promise.resolve());
    const stop = poll(run, 1_000, page);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(run).not.toHaveBeenCalled();
    hidden = false;
    page.dispatchEvent(new Event("visibilitychange"));
    expect(run).toHaveBeenCalledTimes(1);
    stop();
  });
});
