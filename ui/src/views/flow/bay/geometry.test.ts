import { describe, expect, test } from "vitest";
import { along, cordCurve, distance, lanes, looseCurve, strength, type Seat } from "./geometry";

const seat = (id: string, x: number, y: number): Seat => ({ id, x, y, top: y < 130, above: false });

describe("cords", () => {
  test("between the same two hang side by side, whichever way they go", () => {
    const cord = (from: string, to: string) => ({ from, to });
    const hung = lanes([cord("a", "b"), cord("b", "a"), cord("a", "b"), cord("a", "c")]);
    expect(new Set(hung.slice(0, 3)).size).toBe(3);
    expect(hung[3]).toBe(0);
  });

  test("between the same two hang well apart", () => {
    const [a, b, c] = [seat("a", 90, 56), seat("b", 90, 204), seat("c", 810, 56)];
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

  test("of one row stay within the room there is", () => {
    for (const lane of [0, 1]) {
      const [, bend] = cordCurve(seat("a", 90, 56), seat("c", 810, 56), lane, 60);
      expect(bend.y - 56).toBeLessThanOrEqual(60);
    }
  });

  test("that lead to nobody end near their jack, within the room there is", () => {
    for (const at of [seat("a", 90, 56), seat("b", 90, 204)]) {
      const [begin, , , end] = looseCurve(at, 40);
      expect(begin).toEqual({ x: at.x, y: at.y });
      expect(Math.hypot(end.x - at.x, end.y - at.y)).toBeLessThan(46);
      expect(Math.sign(end.y - at.y), "where other cords hang, too").toBe(at.top ? 1 : -1);
    }
  });

  test("are found by a point on them, and not beside them", () => {
    const curve = cordCurve(seat("a", 90, 56), seat("c", 810, 204), 0);
    for (const t of [0.1, 0.5, 0.9]) {
      const { x, y } = along(curve, t);
      expect(distance(curve, { x, y })).toBeLessThan(1.5);
      expect(distance(curve, { x, y: y + 40 })).toBeGreaterThan(6);
    }
  });

  test("grow stronger with traffic and stay between nothing and all", () => {
    expect(strength(0, 100)).toBe(0);
    expect(strength(10, 1_000)).toBeLessThan(strength(100, 1_000));
    expect(strength(1_000, 1_000)).toBe(1);
    expect(strength(1, 1), "a quiet board stays pale").toBeLessThan(0.3);
    expect(strength(500, 1_000)).toBe(strength(510, 1_000));
  });
});
