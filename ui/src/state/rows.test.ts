import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { MessageRow } from "../api/generated";
import { row, rows } from "../testing/fixtures";
import { LIVE_LIMIT, Rows } from "./rows";

const seqs = (held: Rows) => Array.from({ length: held.length }, (_, i) => held.at(i)?.seq);
const newestFirst = (given: MessageRow[]) => given.toReversed();

describe("the rows of the Flow screen", () => {
  let held: Rows;
  beforeEach(() => {
    held = new Rows();
    held.replace(newestFirst(rows(1, 5)));
  });

  test("new rows come on top", () => {
    held.add(rows(6, 7), 0);
    expect(seqs(held)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(held.indexOf(6)).toBe(1);
    expect(held.indexOf(99)).toBe(-1);
  });

  test("history continues below, and both parts are found by number", () => {
    held.replace(newestFirst(rows(10, 12)));
    held.addOlder(newestFirst(rows(7, 9)), false);
    expect(seqs(held)).toEqual([12, 11, 10, 9, 8, 7]);
    expect(held.indexOf(8)).toBe(4);
    expect(held.oldestSeq).toBe(7);
  });

  test("a row that moved on is changed where it is", () => {
    held.add([row(6, { state: "waiting", to: null, tookMicros: null })], 0);
    held.move([
      { seq: 6, state: "dead", to: "echo", tookMicros: 900, error: "declined", retryAt: null },
    ]);
    expect(held.at(0)).toMatchObject({
      state: "dead",
      to: "echo",
      tookMicros: 900,
      error: "declined",
    });
  });

  test("a row that still waits has not taken any time", () => {
    held.add([row(6, { state: "waiting", tookMicros: null })], 0);
    held.move([
      { seq: 6, state: "waiting", to: "echo", tookMicros: 900, error: null, retryAt: null },
    ]);
    expect(held.at(0)).toMatchObject({ to: "echo", tookMicros: null });
  });

  test("under a filter for a state, a row that leaves it leaves the screen", () => {
    held.move(
      [{ seq: 3, state: "processed", to: null, tookMicros: 1, error: null, retryAt: null }],
      "waiting",
    );
    expect(seqs(held)).toEqual([5, 4, 2, 1]);
  });

  test("what lies before a hole in the feed is given up, so that the store fills it", () => {
    held.addOlder([], true);
    held.add(rows(100, 102), 94);
    expect(seqs(held)).toEqual([102, 101, 100]);
    expect(held.oldestSeq).toBe(100);
    expect(held.ended).toBe(false);
  });

  test("while held nothing moves, and everything new is counted, also what was left out", () => {
    held.hold();
    held.add(rows(6, 8), 0);
    held.add(rows(50, 51), 41);
    expect(seqs(held)).toEqual([5, 4, 3, 2, 1]);
    expect(held.arrived).toBe(3 + 2 + 41);
  });

  test("released without a hole, the new joins the old", () => {
    held.hold();
    held.add(rows(6, 7), 0);
    held.release();
    expect(seqs(held)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(held.arrived).toBe(0);
  });

  test("released after a hole, only what is whole is kept", () => {
    held.hold();
    held.add(rows(6, 7), 0);
    held.add(rows(50, 51), 42);
    held.release();
    expect(seqs(held)).toEqual([51, 50]);
  });

  test("a row that moves while it waits to be let in is let in as it is by then", () => {
    held.hold();
    held.add([row(6, { state: "waiting" })], 0);
    held.move([
      { seq: 6, state: "processed", to: "echo", tookMicros: 5, error: null, retryAt: null },
    ]);
    held.release();
    expect(held.at(0)).toMatchObject({ seq: 6, state: "processed" });
  });

  test("a snapshot after a lost connection keeps what is being read", () => {
    held.hold();
    held.renew(newestFirst(rows(4, 9)));
    expect(seqs(held)).toEqual([5, 4, 3, 2, 1]);
    expect(held.arrived).toBe(4);
    held.release();
    expect(seqs(held)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("and gives up the old on release if the snapshot does not reach it", () => {
    held.hold();
    held.renew(newestFirst(rows(40, 42)));
    held.release();
    expect(seqs(held)).toEqual([42, 41, 40]);
  });

  test("a late row enters in its place, but never below what is known to be whole", () => {
    held.replace(newestFirst([row(10), row(20)]));
    held.add([row(15)], 0);
    held.add([row(3)], 0);
    expect(seqs(held)).toEqual([20, 15, 10]);
    held.addOlder([row(5)], true);
    held.add([row(3)], 0);
    expect(seqs(held), "all of history is here, so nothing can hide").toEqual([20, 15, 10, 5, 3]);
  });

  test("the live part is bounded, and history is asked for again after a cut", () => {
    held.addOlder([], true);
    held.add(rows(6, LIVE_LIMIT * 2), 0);
    expect(held.length).toBe(LIVE_LIMIT);
    expect(held.at(0)?.seq).toBe(LIVE_LIMIT * 2);
    expect(held.ended).toBe(false);
  });

  test("whatever happens, the rows are unbroken from the newest down", () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("batch" as const),
        shown: fc.integer({ min: 1, max: 400 }),
        skipped: fc.nat(3),
      }),
      fc.record({ kind: fc.constantFrom("hold" as const, "release" as const, "page" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const given = new Rows();
        let last = 10;
        given.replace(newestFirst(rows(1, last)));
        for (const each of steps) {
          if (each.kind === "batch") {
            const skipped = each.skipped === 3 ? 500 : 0;
            given.add(rows(last + skipped + 1, last + skipped + each.shown), skipped);
            last += skipped + each.shown;
          } else if (each.kind === "page") {
            const before = given.oldestSeq ?? 1;
            given.addOlder(newestFirst(rows(Math.max(1, before - 50), before - 1)), before <= 51);
          } else given[each.kind]();
        }
        const all = seqs(given);
        const newest = all[0] ?? 0;
        expect(all).toEqual(all.map((_, i) => newest - i));
      }),
    );
  });
});
