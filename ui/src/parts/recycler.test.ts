import { beforeEach, describe, expect, test } from "vitest";
import { Recycler, type Column } from "./recycler";

const columns: Column<number>[] = [
  { title: "Number", width: "1fr", text: String },
  { title: "Parity", width: "1fr", text: () => "", look: (n) => (n % 2 === 0 ? "even" : "odd") },
];
const HEIGHT = 10;
const none = () => false;

function shown(body: HTMLElement): string[] {
  return [...body.querySelectorAll<HTMLElement>(".row:not([hidden])")]
    .sort(
      (a, b) => Number(a.getAttribute("aria-rowindex")) - Number(b.getAttribute("aria-rowindex")),
    )
    .map((element) => element.textContent);
}

describe("a recycled table", () => {
  let body: HTMLElement;
  let recycler: Recycler<number>;
  const rows = Array.from({ length: 1_000 }, (_, i) => i);

  beforeEach(() => {
    body = document.createElement("div");
    recycler = new Recycler(body, columns, HEIGHT, "row");
  });

  test("shows exactly the rows in sight, at their places", () => {
    recycler.paint(rows, { top: 50, height: 30 }, none);
    expect(shown(body)).toEqual(["5", "6", "7", "8"]);
    const fifth = body.querySelector<HTMLElement>('[aria-rowindex="7"]');
    expect(fifth?.style.transform).toBe("translateY(50px)");
    expect(body.style.height).toBe("10000px");
  });

  test("a checkbox is named and set by its row, and is painted anew when that changes", () => {
    const set = new Set([6]);
    const check = { title: "", width: "1fr", text: (n: number) => `Pick ${String(n)}` };
    recycler = new Recycler(
      body,
      [{ ...check, checked: (n) => set.has(n) }, ...columns],
      HEIGHT,
      "box",
    );
    const boxes = () =>
      [...body.querySelectorAll<HTMLElement>("[role=checkbox]")]
        .filter((box) => box.getAttribute("aria-checked") === "true")
        .map((box) => box.getAttribute("aria-label"));
    recycler.paint(rows, { top: 50, height: 30 }, none);
    expect(boxes()).toEqual(["Pick 6"]);
    set.add(7);
    recycler.paint(rows, { top: 50, height: 30 }, none);
    expect(boxes()).toEqual(["Pick 6", "Pick 7"]);
    expect(shown(body)).toEqual(["5", "6", "7", "8"]);
  });

  test("a place whose selected row went away does not mark the next row there", () => {
    recycler.paint([1, 2], { top: 0, height: 20 }, (n) => n === 2);
    recycler.paint([1], { top: 0, height: 20 }, none);
    recycler.paint([1, 3], { top: 0, height: 20 }, none);
    expect(shown(body)).toEqual(["1", "3"]);
    expect(body.querySelectorAll('[aria-selected="true"]')).toHaveLength(0);
  });

  test("makes no element for new rows or for scrolling, ever", () => {
    recycler.paint(rows, { top: 0, height: 30 }, none);
    const made = [...body.children];
    for (let top = 0; top < 9_000; top += 37) recycler.paint(rows, { top, height: 30 }, none);
    recycler.paint(rows.toReversed(), { top: 0, height: 30 }, none);
    expect([...body.children]).toEqual(made);
    expect(shown(body)).toEqual(["999", "998", "997", "996"]);
  });

  test("hides what it has no row for, and shows it again when one comes", () => {
    recycler.paint([1, 2, 3], { top: 0, height: 30 }, none);
    recycler.paint([7], { top: 0, height: 30 }, none);
    expect(shown(body)).toEqual(["7"]);
    recycler.paint([7, 8], { top: 0, height: 30 }, none);
    expect(shown(body)).toEqual(["7", "8"]);
  });

  test("with very little room a column may say less", () => {
    const brief = new Recycler<number>(
      body,
      [
        {
          title: "Number",
          width: "1fr",
          text: (n) => `number ${String(n)}`,
          tight: { text: String },
        },
      ],
      HEIGHT,
      "row",
    );
    brief.paint([7], { top: 0, height: 10, tight: true }, none);
    expect(shown(body)).toEqual(["7"]);
    brief.paint([7], { top: 0, height: 10, tight: false }, none);
    expect(shown(body)).toEqual(["number 7"]);
  });

  test("a character that would turn the text around is shown by its number", () => {
    const names = new Recycler<string>(
      body,
      [{ title: "Name", width: "1fr", text: String }],
      10,
      "r",
    );
    names.paint(["a\u202Eb"], { top: 0, height: 10 }, none);
    expect(shown(body)).toEqual(["a\\u202Eb"]);
  });

  test("a look follows its row, not its element", () => {
    recycler.paint([2], { top: 0, height: 10 }, none);
    expect(body.querySelector(".even")).not.toBeNull();
    recycler.paint([3], { top: 0, height: 10 }, none);
    expect(body.querySelector(".even")).toBeNull();
    expect(body.querySelector(".odd")).not.toBeNull();
  });

  test("says which element is selected, and knows the row under an element", () => {
    const active = recycler.paint(rows, { top: 0, height: 30 }, (n) => n === 2);
    const element = body.querySelector('[aria-selected="true"]');
    expect(element?.id).toBe(active);
    expect(element).not.toBeNull();
    if (element !== null) expect(recycler.shownAt(element)).toEqual({ row: 2, index: 2 });
    expect(recycler.paint(rows, { top: 500, height: 30 }, (n) => n === 2)).toBeNull();
  });
});
