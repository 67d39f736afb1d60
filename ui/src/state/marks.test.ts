import { describe, expect, test } from "vitest";
import { row, rows } from "../testing/fixtures";
import { Marks } from "./marks.svelte";
import { Rows } from "./rows";

describe("rows that are picked", () => {
  const flow = new Rows();
  flow.replace(rows(1, 9).toReversed());
  const seqs = (marks: Marks) => marks.list.map(({ seq }) => seq);

  test("one by one, and back", () => {
    const marks = new Marks();
    marks.toggle(row(3));
    marks.toggle(row(7));
    expect(seqs(marks)).toEqual([7, 3]);
    marks.toggle(row(3));
    expect(seqs(marks)).toEqual([7]);
  });

  test("a range goes from the row looked at to the one clicked, either way, and can be drawn anew", () => {
    const marks = new Marks();
    marks.begin(5);
    marks.range(row(8), flow);
    expect(seqs(marks)).toEqual([8, 7, 6, 5]);
    marks.range(row(4), flow);
    expect(seqs(marks)).toEqual([5, 4]);
  });

  test("a range from a row that is gone is the one row", () => {
    const marks = new Marks();
    marks.begin(99);
    marks.range(row(4), flow);
    expect(seqs(marks)).toEqual([4]);
  });
});
