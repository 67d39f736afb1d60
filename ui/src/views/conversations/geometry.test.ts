import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fitting,
  inSight,
  laneGap,
  laneX,
  most,
  reveal,
  scales,
  slots,
  TIMES,
  widthOf,
} from "./geometry";
import { laneName } from "./lane-name";
import { stroke } from "./stroke";

const { roomy, tight } = scales;
const ROW = roomy.row;

test("few lanes share the room, many keep a width that can be read", () => {
  expect(laneGap(900, 4, roomy)).toBe(204);
  expect(laneGap(2_000, 2, roomy), "arrows do not grow without end").toBe(250);
  expect(laneGap(900, 20, roomy)).toBe(104);
  expect(laneGap(0, 0, roomy)).toBe(104);
  expect(widthOf(20, 104)).toBe(TIMES + 2_080);
});

test("until somebody chooses, it is drawn as large as lets all lanes be seen", () => {
  expect(fitting(0, 20), "nothing is known of the room yet").toBe("roomy");
  expect(fitting(1_000, 4)).toBe("roomy");
  expect(fitting(1_000, 10)).toBe("close");
  expect(fitting(1_300, 20)).toBe("tight");
  expect(fitting(600, 20), "as many as can be").toBe("tight");
});

test("only rows in sight are drawn, however many there are", () => {
  fc.assert(
    fc.property(fc.nat(200_000), fc.nat(4_000), fc.nat(4_000), (top, height, rows) => {
      const { first, end } = inSight({ top, height }, rows, ROW);
      expect(end - first).toBeLessThanOrEqual(Math.ceil(height / ROW) + 14);
      for (let row = 0; row < rows; row++) {
        const visible = row * ROW < top + height && (row + 1) * ROW > top;
        if (visible) expect(row >= first && row < end).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});

test("a row keeps its slot while it is in sight, and each has its own", () => {
  fc.assert(
    fc.property(fc.nat(500 * ROW), fc.nat(900), fc.nat(80), (top, height, by) => {
      const size = most(height, ROW);
      const sight = (where: number) => inSight({ top: where, height }, 500, ROW);
      const [before, after] = [top, top + by].map((where) => slots(sight(where), size));
      const { first, end } = sight(top);
      expect(before).toHaveLength(size);
      expect(before?.filter((row) => row !== null)).toHaveLength(end - first);
      before?.forEach((row, slot) => {
        const place = row === null ? -1 : (after?.indexOf(row) ?? -1);
        if (place >= 0) expect(place).toBe(slot);
      });
    }),
  );
});

test("scrolls as little as needed", () => {
  expect(reveal(100, 400, 200, 42), "it is in sight").toBe(100);
  expect(reveal(100, 400, 60, 42)).toBe(60);
  expect(reveal(100, 400, 480, 42)).toBe(122);
  expect(reveal(100, 400, -30, 42)).toBe(0);
  expect(reveal(100, 400, 300, 900), "too large: its beginning").toBe(300);
});

test("an arrow runs between the middles of its lanes", () => {
  const drawn = stroke({ from: 0, to: 2, reach: "arrives" }, 3, 200, roomy);
  expect(drawn).toMatchObject({ left: laneX(0, 200), right: laneX(2, 200), cross: null });
  expect(drawn.line).toBe(`M${String(laneX(0, 200))} 30H${String(laneX(2, 200) - 7)}`);
  const back = stroke({ from: 2, to: 0, reach: "arrives" }, 3, 200, roomy);
  expect(back.line).toBe(`M${String(laneX(2, 200))} 30H${String(laneX(0, 200) + 7)}`);
  expect(back.heads).toHaveLength(1);
});

test("what was refused stops halfway, with a cross", () => {
  const drawn = stroke({ from: 0, to: 1, reach: "halfway" }, 2, 200, roomy);
  expect(drawn.heads).toEqual([]);
  expect(drawn.cross).toContain(`M${String((laneX(0, 200) + laneX(1, 200)) / 2 - 4)}`);
});

test("what is for everyone goes both ways, or to the far side from the rim", () => {
  const heads = (from: number, lanes: number) =>
    stroke({ from, to: null, reach: "everyone" }, lanes, 200, roomy).heads.length;
  expect(heads(1, 3)).toBe(2);
  expect(heads(0, 3)).toBe(1);
  expect(heads(2, 3)).toBe(1);
  expect(heads(0, 1), "also alone").toBe(1);
});

test("a label stands in the middle of its arrow, however narrow the lanes are", () => {
  for (const [from, to] of [
    [0, 1],
    [1, 0],
    [18, 19],
  ] as const) {
    const { label, left, right } = stroke({ from, to, reach: "arrives" }, 20, 104, roomy);
    expect(label.left + label.width / 2).toBe((left + right) / 2);
  }
});

test("labels stay inside the diagram, beside the times", () => {
  const reaches = ["arrives", "halfway", "everyone"] as const;
  fc.assert(
    fc.property(fc.nat(19), fc.nat(19), fc.constantFrom(...reaches), (from, to, reach) => {
      const { label } = stroke({ from, to, reach }, 20, 104, roomy);
      expect(label.left).toBeGreaterThanOrEqual(TIMES);
      expect(label.left + label.width).toBeLessThanOrEqual(widthOf(20, 104));
    }),
  );
});

test("where lines stand close, labels stand beside their arrows, on the side with room", () => {
  fc.assert(
    fc.property(fc.nat(19), fc.nat(19), (from, to) => {
      const { label, left, right } = stroke({ from, to, reach: "arrives" }, 20, 58, tight);
      expect(label.left >= right || label.left + label.width <= left).toBe(true);
      expect(label.width).toBeGreaterThanOrEqual(40);
    }),
  );
});

test.each([
  ["planner", ["planner"]],
  ["price_hunter_A2", ["price_", "hunter_A2"]],
  ["interpreterbot", ["interprete…"]],
  ["x-interpreterbot", ["x-interpre…"]],
  ["a-very-long-name-of-an-agent-42", null],
])("the heading of %s", (name, lines) => {
  const found = laneName(name, 11);
  if (lines !== null) expect(found).toEqual(lines);
  expect(found.length).toBeLessThanOrEqual(2);
  for (const line of found) expect(line.length).toBeLessThanOrEqual(11);
});
