import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Player } from "./moment-player.svelte";

let player: Player;
beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  player = new Player();
  player.follow([0, 3_000, 18_000, 900_000, 90_000_000]);
});
afterEach(() => {
  player.pause();
  vi.useRealTimers();
});

test("nothing is later until somebody looks back", () => {
  expect(player.step).toBeNull();
  expect(player.place).toBe(4);
  expect(player.isLater(4)).toBe(false);
  player.by(-1);
  expect([player.step, player.isLater(3), player.isLater(4)]).toEqual([3, false, true]);
  player.now();
  expect(player.isLater(4)).toBe(false);
});

test("however it is moved, it stands on a step", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -9, max: 9 })), fc.nat(9), (moves, count) => {
      const some = new Player();
      some.follow(Array.from({ length: count }, (_, i) => i));
      for (const move of moves) some.by(move);
      if (count === 0) expect(some.step).toBeNull();
      else expect(some.place).toBeGreaterThanOrEqual(0);
      expect(some.place).toBeLessThan(Math.max(count, 1));
    }),
  );
});

test("plays so many steps a second, from the beginning if it stands at the end", () => {
  player.choose("4");
  player.toggle();
  expect([player.playing, player.step]).toEqual([true, 0]);
  vi.advanceTimersByTime(500);
  expect(player.step).toBe(2);
  player.toggle();
  vi.advanceTimersByTime(5_000);
  expect(player.step, "it is held").toBe(2);
  player.toggle();
  vi.advanceTimersByTime(5_000);
  expect([player.step, player.playing], "it stays at the end").toEqual([4, false]);
});

test("plays as fast as it happened, but waits for nothing longer than a second", () => {
  player.choose("real");
  player.go(0);
  player.play();
  vi.advanceTimersByTime(100);
  expect(player.step).toBe(2);
  vi.advanceTimersByTime(850);
  expect(player.step).toBe(3);
  vi.advanceTimersByTime(1_100);
  expect(player.step, "89 seconds are shortened").toBe(4);
});

test("what is added comes later for whoever looks back, and is there for whoever does not", () => {
  player.go(4);
  player.follow([0, 3_000, 18_000, 900_000, 90_000_000, 91_000_000]);
  expect(player.isLater(5)).toBe(true);
  player.now();
  expect(player.place).toBe(5);
  player.go(5);
  player.follow([0, 1]);
  expect(player.step, "what it stood on is gone").toBeNull();
});

test("the pace is remembered", () => {
  player.choose("20");
  expect(new Player().pace).toBe("20");
});
