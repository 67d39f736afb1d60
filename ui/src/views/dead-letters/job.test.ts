import { expect, test } from "vitest";
import { job } from "../../testing/fixtures";
import { jobTitle, outcomes, secondsLeft } from "./job";

test("what became of what was sent again", () => {
  const replay = job(1, { total: 12, done: 12, processed: 10, diedAgain: 1 });
  expect(outcomes(replay).map(({ text }) => text)).toEqual([
    "10 processed",
    "1 died again",
    "1 on the way",
  ]);
  expect(outcomes({ ...replay, kind: "discard" })).toEqual([]);
});

test("how long it takes yet, where there is a rate", () => {
  const running = job(1, { status: "running", total: 100, done: 20, failed: 0, perSecond: 10 });
  expect(secondsLeft(running)).toBe(8);
  expect(secondsLeft({ ...running, perSecond: null })).toBeNull();
  expect(secondsLeft({ ...running, status: "done" })).toBeNull();
  expect(jobTitle(running)).toBe("Replaying 20 of 100, 10 a second");
});
