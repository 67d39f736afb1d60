import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { figureHistory } from "../testing/fake-figures";
import {
  gaps,
  grown,
  growth,
  isSilent,
  latest,
  measured,
  peak,
  perSecond,
  spanOf,
  sums,
  typical,
} from "./figures";

describe("figures", () => {
  const history = figureHistory([20, null, null, 40, 10], {
    p50Micros: [400, null, null, null, 900],
    queued: [1, null, null, 7, 2],
    dead: [0, null, null, 3, 0],
  });

  test("a history goes from its first step to the end of its last", () => {
    expect(spanOf(history)).toEqual({ from: 1_000, to: 1_050 });
    expect(spanOf(figureHistory([]))).toBeNull();
  });

  test("the last step counts by what of it has passed, and not at all in its first moments", () => {
    expect(perSecond(history, "accepted", 1_045_000)).toEqual([2, null, null, 4, 2]);
    expect(perSecond(history, "accepted", 1_041_000)).toEqual([2, null, null, 4, undefined]);
    expect(perSecond(history, "accepted", 9_999_000), "long over").toEqual([2, null, null, 4, 1]);
    expect(perSecond(history, "accepted", 0), "another clock").toEqual([2, null, null, 4, 1]);
  });

  test("a line goes on where nothing was settled, and breaks where the broker did not run", () => {
    expect(measured(history, "p50Micros")).toEqual([400, null, null, undefined, 900]);
  });

  test("when the broker did not run is one span, however many steps that were", () => {
    expect(gaps(history)).toEqual([{ from: 1_010, to: 1_030 }]);
    expect(gaps(figureHistory([null, 1, null]))).toEqual([
      { from: 1_000, to: 1_010 },
      { from: 1_020, to: 1_030 },
    ]);
  });

  test("sums are of what is asked for, over the time that the broker ran", () => {
    expect(sums(history)).toEqual({
      accepted: 70,
      processed: 70,
      refused: 0,
      dead: 3,
      seconds: 30,
    });
    expect(sums(history, { from: 1_000, to: 1_040 })).toMatchObject({ accepted: 60, seconds: 20 });
  });

  test("two halves have together what the whole has", () => {
    const counts = fc.array(fc.option(fc.nat(1_000)), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(counts, fc.nat(500), (accepted, cut) => {
        const whole = figureHistory(accepted);
        const at = 1_000 + cut;
        const first = sums(whole, { from: 0, to: at });
        const second = sums(whole, { from: at, to: Infinity });
        expect(first.accepted + second.accepted).toBe(sums(whole).accepted);
        expect(first.seconds + second.seconds).toBe(sums(whole).seconds);
      }),
    );
  });

  test.each([
    [112, 100, "+12 %"],
    [97, 100, "−3 %"],
    [100, 100, "as before"],
    [1_400, 100, "×14"],
  ])("%d after %d is %s", (now, before, words) => {
    expect(grown(growth(now, before) ?? 0)).toBe(words);
  });

  test("nothing grows from nothing", () => {
    expect(growth(5, 0)).toBeNull();
  });

  test("what is typical is weighed by how many messages it was so for", () => {
    const busy = figureHistory([1, 1_000, 1], { p50Micros: [10, 500, 90_000] });
    expect(typical(busy, "p50Micros")).toBe(500);
    expect(typical(figureHistory([0], { p50Micros: [null] }), "p50Micros")).toBeNull();
    expect(typical(figureHistory([0], { p50Micros: [70] }), "p50Micros"), "none processed").toBe(
      70,
    );
  });

  test("the peak says when it was, the latest is the last that there is", () => {
    expect(peak(history, "queued")).toEqual({ value: 7, at: 1_030 });
    expect(peak(figureHistory([null]), "queued")).toBeNull();
    expect(latest([1, 2, null])).toBe(2);
    expect(latest([null])).toBeNull();
  });

  test("silence is when nothing was accepted, refused or lost", () => {
    expect(isSilent(figureHistory([0, null, 0]))).toBe(true);
    expect(isSilent(figureHistory([0], { refused: [1] }))).toBe(false);
  });
});
