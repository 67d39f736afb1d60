import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitFor, fitted, gridFor, nameable, place, type Size } from "./grid";

const ids = (count: number) => Array.from({ length: count }, (_, i) => `agent-${String(i)}`);
const usual: Size = { width: 1_250, height: 250 };

describe("where jacks sit", () => {
  test("a few sit in two rows, about a hundred in more, with their names", () => {
    expect(gridFor(7, usual).rows).toBe(2);
    expect(gridFor(24, usual).rows).toBe(2);
    expect(gridFor(60, usual).rows).toBeGreaterThan(2);
    expect(fitFor(gridFor(60, usual), 1, usual).named).toBe(true);
    expect(nameable(usual)).toBeGreaterThanOrEqual(100);
    expect(fitFor(gridFor(100, usual), 1, usual).named).toBe(true);
  });

  test("two thousand are a panel of lamps, and get their names when one looks closer", () => {
    const grid = gridFor(2_000, usual);
    const whole = fitFor(grid, 1, usual);
    expect(whole.named).toBe(false);
    expect(whole.radius).toBeGreaterThanOrEqual(2.5);
    expect(fitFor(grid, 12, usual).named).toBe(true);
  });

  test("all are inside, and no two in one place", () => {
    const size = fc.record({
      width: fc.integer({ min: 300, max: 2_600 }),
      height: fc.integer({ min: 120, max: 900 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), size, (count, size) => {
        const seats = place(ids(count), gridFor(count, size), size);
        const inside = seats.every(
          ({ x, y }) => x > 0 && x < size.width && y > 0 && y < size.height,
        );
        expect(inside).toBe(true);
        expect(new Set(seats.map(({ x, y }) => `${String(x)} ${String(y)}`)).size).toBe(count);
      }),
      { numRuns: 60 },
    );
  });

  test("names touch neither the edge nor each other", () => {
    for (const count of [1, 2, 3, 4, 9, 24, 80]) {
      for (const width of [400, 850, 1_250]) {
        const size = { width, height: 250 };
        const grid = gridFor(count, size);
        const { room, named } = fitFor(grid, 1, size);
        if (!named) continue;
        const xs = [...new Set(place(ids(count), grid, size).map((seat) => seat.x))];
        for (const [i, x] of xs.sort((a, b) => a - b).entries()) {
          expect(x - room / 2).toBeGreaterThanOrEqual(0);
          expect(x + room / 2).toBeLessThanOrEqual(width);
          expect(x + room).toBeLessThanOrEqual(xs[i + 1] ?? Infinity);
        }
      }
    }
  });

  test("a name that is cut keeps its number, in any script", () => {
    expect(fitted("planner", 90)).toBe("planner");
    expect(fitted("a-very-long-name-of-an-agent", 90)).toBe("a-very-long-…");
    expect(fitted("a-worker-of-many-17", 60)).toBe("a-work…17");
    expect(fitted("worker-eu-", 50)).toBe("wor…eu-");
    expect(fitted("summarizer-", 50)).toBe("summar…");
    expect(fitted("代理".repeat(8), 90)).toBe("代理代理代理…");
  });
});
