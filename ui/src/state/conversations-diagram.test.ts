import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { Diagram } from "./conversations-diagram.svelte";

const lanes = ["a", "b", "c", "d"];
beforeEach(() => localStorage.clear());

test("lanes stand as they appeared until they are moved or hidden", () => {
  const diagram = new Diagram();
  expect(diagram.shown(lanes)).toEqual(lanes);
  diagram.move("d", 0, lanes);
  expect(diagram.shown(lanes)).toEqual(["d", "a", "b", "c"]);
  diagram.hide("a");
  expect(diagram.shown(lanes)).toEqual(["d", "b", "c"]);
  diagram.move("d", 1, lanes);
  expect(diagram.shown([...lanes, "e"]), "who comes later stands last").toEqual([
    "b",
    "d",
    "c",
    "e",
  ]);
  diagram.showAll();
  expect(diagram.shown(lanes)).toEqual(["b", "d", "c", "a"]);
  diagram.only(new Set(["a", "c"]), lanes);
  expect(diagram.shown(lanes)).toEqual(["c", "a"]);
  diagram.reset();
  expect(diagram.shown(lanes)).toEqual(lanes);
});

test("no lane is lost by moving", () => {
  const move = fc.record({ lane: fc.constantFrom(...lanes), to: fc.integer({ min: -2, max: 6 }) });
  fc.assert(
    fc.property(fc.array(move), (moves) => {
      const diagram = new Diagram();
      for (const { lane, to } of moves) diagram.move(lane, to, lanes);
      expect(diagram.shown(lanes).toSorted()).toEqual(lanes);
    }),
  );
});

test("what was chosen for one conversation holds for the next", () => {
  const diagram = new Diagram();
  expect(diagram.density, "nobody has chosen yet").toBeNull();
  diagram.zoom(1, "roomy");
  diagram.fold(true);
  expect(new Diagram()).toMatchObject({ density: "close", folding: true });
  diagram.zoom(5, "close");
  expect(diagram.density).toBe("tight");
  diagram.zoom(-9, "tight");
  expect(diagram.density).toBe("roomy");
});
