import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../api/client";
import { CallError } from "../api/error";
import type { Call, Moment } from "../api/generated";
import { Moments } from "./moment.svelte";

const at = (second: number) => `2026-11-16T12:04:0${String(second)}Z`;
let calls: string[];
let answer: (at: string) => Promise<Moment>;
let moments: Moments;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-16T13:00:00Z") });
  localStorage.clear();
  calls = [];
  answer = (when) =>
    Promise.resolve({ at: when, agents: [], rules: [], openLetters: 0, keptSince: at(0) });
  const call = ({ params }: Call) => {
    const { at: when } = params as { at: string };
    calls.push(when);
    return answer(when);
  };
  moments = new Moments(new Client({ call, watch: () => () => undefined }));
  moments.toggle();
});
afterEach(() => {
  moments.stop();
  vi.useRealTimers();
});
const past = () => calls.filter((when) => when < "2026-11-16T13");

test("whoever runs through time asks only about where they stop", async () => {
  for (const second of [1, 2, 3]) moments.look(at(second));
  expect(moments.then).toBeNull();
  await vi.advanceTimersByTimeAsync(200);
  expect(past()).toEqual([at(3)]);
  expect(moments.then?.at).toBe(at(3));
  expect(moments.now?.at, "now is a minute ahead of a clock that may be wrong").toBe(
    "2026-11-16T13:01:00.000Z",
  );
});

test("what is known is not asked again, and is there at once", async () => {
  moments.look(at(1));
  await vi.advanceTimersByTimeAsync(200);
  moments.look(at(2));
  await vi.advanceTimersByTimeAsync(200);
  moments.look(at(1));
  expect(moments.then?.at).toBe(at(1));
  await vi.advanceTimersByTimeAsync(200);
  expect(past()).toEqual([at(1), at(2)]);
});

test("nothing is asked while nobody wants to see it", async () => {
  moments.toggle();
  moments.look(at(1));
  moments.stirred();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(calls).toEqual([]);
  moments.toggle();
  await vi.advanceTimersByTimeAsync(200);
  expect(moments.then?.at).toBe(at(1));
});

test("what cannot be read is said, and tried again", async () => {
  answer = () => Promise.reject(new CallError("storageFailed", "the disk is slow"));
  moments.look(at(1));
  await vi.advanceTimersByTimeAsync(200);
  expect(moments.trouble).toBe("the disk is slow");
  answer = (when) =>
    Promise.resolve({ at: when, agents: [], rules: [], openLetters: 2, keptSince: at(0) });
  moments.retry();
  await vi.advanceTimersByTimeAsync(10);
  expect([moments.trouble, moments.then?.openLetters]).toEqual([null, 2]);
});

test("how things stand now is followed, not too often", async () => {
  moments.look(at(1));
  await vi.advanceTimersByTimeAsync(200);
  const before = calls.length;
  for (let i = 0; i < 20; i++) moments.stirred();
  await vi.advanceTimersByTimeAsync(3_100);
  expect(calls.length).toBe(before + 1);
});

test("whoever has left is not told how things stand, and finds it again", async () => {
  moments.look(at(1));
  await vi.advanceTimersByTimeAsync(200);
  moments.stop();
  const before = calls.length;
  moments.stirred();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(calls.length).toBe(before);
  moments.look(at(1));
  expect(moments.then?.at).toBe(at(1));
});
