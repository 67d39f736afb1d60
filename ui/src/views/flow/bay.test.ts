import { describe, expect, test } from "vitest";
import {
  along,
  cordCurve,
  fitted,
  jackRoom,
  lanes,
  MOST_JACKS,
  nameRoom,
  place,
  seated,
  strength,
  type Guest,
} from "./bay";

const guest = (id: string, change: Partial<Guest> = {}): Guest => ({
  id,
  present: true,
  weight: 0,
  ...change,
});
const many = Array.from({ length: 40 }, (_, i) => guest(`agent-${String(i).padStart(2, "0")}`));

describe("the patch bay", () => {
  test("those who sit keep their places when others come or talk more", () => {
    const before = seated([], [guest("a"), guest("b")]);
    expect(
      seated(before, [guest("0", { weight: 99 }), guest("b", { weight: 9 }), guest("a")]),
    ).toEqual(["a", "b", "0"]);
  });

  test("when there is no room, the busy sit and the quiet stand, without swapping for ever", () => {
    const first = seated([], many);
    expect(first).toHaveLength(MOST_JACKS);
    expect(seated(first, many)).toEqual(first);
    const busy = many.map((each) => (each.id === "agent-39" ? { ...each, weight: 5 } : each));
    expect(seated(first, busy)).toContain("agent-39");
  });

  test("in a narrow bay fewer sit, so that their names can be read", () => {
    expect([0, 476, 776, 1_250].map(jackRoom)).toEqual([2, 10, 18, 24]);
    expect(seated([], many, jackRoom(476))).toHaveLength(10);
    expect(nameRoom(jackRoom(476), 476)).toBeGreaterThan(60);
  });

  test("an agent that is forgotten leaves its jack", () => {
    expect(seated(["a", "b"], [guest("b")])).toEqual(["b"]);
  });

  test("jacks stay inside, in two rows", () => {
    for (const count of [1, 2, 3, 9, 24]) {
      const seats = place(
        many.slice(0, count).map(({ id }) => id),
        640,
        180,
      );
      expect(seats).toHaveLength(count);
      for (const seat of seats) {
        expect(seat.x).toBeGreaterThan(20);
        expect(seat.x).toBeLessThan(620);
      }
      expect(new Set(seats.map((seat) => `${String(seat.x)} ${String(seat.y)}`)).size).toBe(count);
    }
  });

  test("cords between the same two hang side by side, whichever way they go", () => {
    const cord = (from: string, to: string) => ({ from, to, kind: "event" as const, weight: 1 });
    const hung = lanes([cord("a", "b"), cord("b", "a"), cord("a", "b"), cord("a", "c")]);
    expect(new Set(hung.slice(0, 3)).size).toBe(3);
    expect(hung[3]).toBe(0);
  });

  test("names touch neither the edge nor each other, in any script", () => {
    for (const count of [1, 2, 3, 4, 9, 24]) {
      for (const width of [400, 850, 1_250]) {
        const ids = many.slice(0, count).map(({ id }) => id);
        const room = nameRoom(count, width);
        const xs = [...new Set(place(ids, width, 200).map((seat) => seat.x))].sort((a, b) => a - b);
        for (const [i, x] of xs.entries()) {
          expect(x - room / 2).toBeGreaterThanOrEqual(0);
          expect(x + room / 2).toBeLessThanOrEqual(width);
          expect(x + room).toBeLessThanOrEqual(xs[i + 1] ?? Infinity);
        }
      }
    }
    expect(fitted("planner", 90)).toBe("planner");
    expect(fitted("a-very-long-name-of-an-agent", 90)).toBe("a-very-long-…");
    expect(fitted("a-worker-of-many-17", 60)).toBe("a-work…17");
    expect(fitted("代理".repeat(8), 90)).toBe("代理代理代理…");
  });

  test("cords between the same two hang well apart", () => {
    const seats = place(["a", "b", "c"], 900, 260);
    const [a, b, c] = seats;
    if (a === undefined || b === undefined || c === undefined) throw new Error("three sit");
    for (const end of [b, c]) {
      const [first, second] = [0, 1].map((lane) => along(cordCurve(a, end, lane), 0.5));
      const apart = Math.hypot(
        (first?.x ?? 0) - (second?.x ?? 0),
        (first?.y ?? 0) - (second?.y ?? 0),
      );
      expect(apart).toBeGreaterThanOrEqual(16);
    }
    const ends = [-2, -1, 0, 1, 2].map((lane) => cordCurve(a, b, lane)[0].x - a.x);
    expect(ends).toEqual([-4, -4, 0, 4, 4]);
  });

  test("strength grows with traffic and stays between nothing and all", () => {
    expect(strength(0, 100)).toBe(0);
    expect(strength(10, 1_000)).toBeLessThan(strength(100, 1_000));
    expect(strength(1_000, 1_000)).toBe(1);
    expect(strength(1, 1), "a quiet board stays pale").toBeLessThan(0.3);
    expect(strength(500, 1_000)).toBe(strength(510, 1_000));
  });
});
