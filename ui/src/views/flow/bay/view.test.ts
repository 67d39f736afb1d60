import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { neighbour } from "./neighbour";
import { MOST_ZOOM, revealed, shown, WHOLE, zoomed } from "./view";

const size = { width: 1_000, height: 250 };

describe("what is in sight", () => {
  test("what is under the pointer stays there while one zooms", () => {
    const at = { x: 640, y: 90 };
    const near = zoomed(WHOLE, 3, at, size);
    const place = { x: (near.x + at.x) / near.zoom, y: (near.y + at.y) / near.zoom };
    expect(place.x).toBeCloseTo(at.x);
    expect(place.y).toBeCloseTo(at.y);
    expect(zoomed(near, 1 / 9, at, size)).toEqual(WHOLE);
  });

  test("nothing outside of the bay comes into sight", () => {
    const x = fc.integer({ min: 0, max: 1_000 });
    const y = fc.integer({ min: 0, max: 250 });
    const step = fc.record({ factor: fc.double({ min: 0.2, max: 5, noNaN: true }), x, y });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const view = steps.reduce(
          (view, { factor, x, y }) => zoomed(view, factor, { x, y }, size),
          WHOLE,
        );
        expect(view.zoom).toBeGreaterThanOrEqual(1);
        expect(view.zoom).toBeLessThanOrEqual(MOST_ZOOM);
        expect(shown({ x: 0, y: 0 }, view).x).toBeLessThanOrEqual(0.001);
        expect(shown({ x: 1_000, y: 250 }, view).x).toBeGreaterThanOrEqual(999.999);
      }),
    );
  });

  test("a jack is brought into sight by the shortest way", () => {
    const near = zoomed(WHOLE, 4, { x: 0, y: 0 }, size);
    const { x, y } = shown({ x: 900, y: 200 }, revealed(near, { x: 900, y: 200 }, size));
    expect(x).toBeLessThanOrEqual(size.width);
    expect(y).toBeLessThanOrEqual(size.height);
    expect(revealed(near, { x: 100, y: 30 }, size)).toEqual(near);
  });
});

test("the arrows lead to the jack that lies there", () => {
  const seats = [
    { id: "a", x: 0, y: 0 },
    { id: "b", x: 100, y: 0 },
    { id: "c", x: 0, y: 80 },
    { id: "d", x: 100, y: 80 },
  ];
  expect(neighbour(seats, "a", "right")).toBe("b");
  expect(neighbour(seats, "a", "down")).toBe("c");
  expect(neighbour(seats, "d", "up")).toBe("b");
  expect(neighbour(seats, "a", "left"), "there is none").toBe("a");
});
