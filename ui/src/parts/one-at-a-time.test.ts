import { expect, test } from "vitest";
import { oneAtATime } from "./one-at-a-time";

test("whoever asks while it runs is served by one more run, not by many", async () => {
  const ends: (() => void)[] = [];
  const run = oneAtATime(() => new Promise<void>((resolve) => ends.push(resolve)));
  const asked = [run(), run(), run()];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(ends, "the two that came late share one").toHaveLength(2);
  ends[1]?.();
  await Promise.all(asked);
  void run();
  expect(ends).toHaveLength(3);
});

test("one that failed does not stand in the way of the next", async () => {
  let runs = 0;
  const run = oneAtATime(() => {
    runs++;
    return runs === 1 ? Promise.reject(new Error("no")) : Promise.resolve();
  });
  await expect(run()).rejects.toThrow("no");
  await run();
  expect(runs).toBe(2);
});
