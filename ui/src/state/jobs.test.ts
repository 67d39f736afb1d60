import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { batch, job, snapshot } from "../testing/fixtures";
import { Jobs } from "./jobs.svelte";

describe("work on many letters", () => {
  let jobs: Jobs;
  const shown = () => {
    vi.advanceTimersByTime(250);
    return jobs.list.map(({ id, status, done }) => [id, status, done]);
  };

  beforeEach(() => {
    vi.useFakeTimers();
    jobs = new Jobs();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("what ended before anyone looked is not told, what runs or stands still is", () => {
    jobs.take(
      snapshot({ jobs: [job(3), job(2, { status: "stopped" }), job(1, { status: "done" })] }),
    );
    expect(shown().map(([id]) => id)).toEqual([3, 2]);
  });

  test("is followed to its end, which is told for a while", () => {
    jobs.take(snapshot({ jobs: [job(1)] }));
    jobs.take(batch({ jobs: [job(1, { done: 11 })] }));
    expect(shown()).toEqual([[1, "running", 11]]);
    jobs.take(batch({ jobs: [job(1, { done: 18, status: "done" })] }));
    expect(shown()).toEqual([[1, "done", 18]]);
    vi.advanceTimersByTime(20_000);
    jobs.second();
    expect(shown()).toEqual([]);
  });

  test("what failed stays until it is dismissed", () => {
    jobs.take(snapshot({ jobs: [job(1)] }));
    jobs.take(batch({ jobs: [job(1, { done: 17, failed: 1, status: "done" })] }));
    vi.advanceTimersByTime(60_000);
    jobs.second();
    expect(shown()).toHaveLength(1);
    jobs.dismiss(1);
    expect(shown()).toEqual([]);
  });

  test("one letter that is discarded is not called work", () => {
    jobs.update(job(1, { kind: "discard", total: 1, done: 1, status: "done" }));
    expect(shown()).toEqual([]);
  });

  test("that it ended is seen after a lost connection too", () => {
    jobs.take(snapshot({ jobs: [job(1)] }));
    jobs.take(snapshot({ jobs: [job(1, { done: 18, status: "done" })] }));
    expect(shown()).toEqual([[1, "done", 18]]);
  });
});
