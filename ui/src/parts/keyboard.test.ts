import { expect, test, vi } from "vitest";
import { Chords } from "./keyboard";

test("two keys in time are a chord, and too late they are two keys", () => {
  const flow = vi.fn();
  const fold = vi.fn();
  const chords = new Chords({ "g f": flow, f: fold });
  chords.take({ key: "g", timeStamp: 0 });
  expect(chords.take({ key: "f", timeStamp: 400 })).toBe(true);
  expect([flow.mock.calls.length, fold.mock.calls.length]).toEqual([1, 0]);
  chords.take({ key: "g", timeStamp: 1_000 });
  chords.take({ key: "f", timeStamp: 2_500 });
  expect([flow.mock.calls.length, fold.mock.calls.length]).toEqual([1, 1]);
});
