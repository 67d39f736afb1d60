import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTree } from "./json-tree";
import { TreeView } from "./tree-view.svelte";

const view = (text: string, columns = 60): TreeView => {
  const tree = readTree(text);
  if (tree === null) throw new Error("not JSON");
  return new TreeView(tree, columns);
};
const lines = (shown: TreeView): string[] =>
  Array.from({ length: shown.rows.length }, (_, i) => {
    const row = shown.rows.at(i);
    if (row === undefined) return "?";
    const { tree } = shown;
    const name = row.kind === "head" ? tree.key(row.node) : null;
    const text =
      tree.holds(row.node) && row.kind === "head"
        ? tree.text[row.from]
        : tree.text.slice(row.from, row.to);
    return `${name === null ? "" : `${name}: `}${text ?? ""}`;
  });

describe("a tree that someone looks at", () => {
  test("is all open when it is small, with its closing marks", () => {
    const shown = view('{"a": [1, {"b": null}], "c": {}}');
    expect(lines(shown)).toEqual(["{", "a: [", "1", "{", "b: null", "}", "]", "c: {", "}"]);
  });

  test("folds, unfolds, and goes by arrows as a tree does", () => {
    const shown = view('{"a": [1, 2], "b": 3}');
    shown.move(1);
    shown.left();
    expect(lines(shown)).toEqual(["{", "a: [", "b: 3", "}"]);
    shown.right();
    shown.right();
    expect(shown.path(shown.active)).toBe("a[0]");
    shown.left();
    expect(shown.path(shown.active)).toBe("a");
    shown.last();
    expect(shown.path(shown.active)).toBe("b");
    shown.move(-100);
    expect(shown.path(shown.active)).toBe("$");
  });

  test("folding everything leaves the first level and takes along who stood deeper", () => {
    const shown = view('{"a": {"b": {"c": 1}}}');
    shown.last();
    shown.all(true);
    expect(lines(shown)).toEqual(["{", "a: {", "}"]);
    expect(shown.path(shown.active)).toBe("a");
    shown.all(false);
    expect(lines(shown)).toHaveLength(7);
  });

  test("names are found by their first letters, round and round", () => {
    const shown = view('{"price": 1, "item": 2, "prize": 3}');
    shown.typed("p", 0);
    expect(shown.path(shown.active)).toBe("price");
    shown.typed("r", 100);
    shown.typed("i", 200);
    shown.typed("z", 300);
    expect(shown.path(shown.active)).toBe("prize");
    shown.typed("p", 5_000);
    expect(shown.path(shown.active)).toBe("price");
  });

  test("a long string is folded until it is asked for, and then cut into lines without losing a letter", () => {
    const long = JSON.stringify(`first line\nsecond \u{1f680}${"x".repeat(400)}\u0001`);
    const shown = view(`{"text": ${long}}`, 40);
    expect(shown.rows.length).toBe(3);
    shown.toggle(1);
    expect(shown.rows.length).toBeGreaterThan(12);
    const rows = Array.from({ length: shown.rows.length }, (_, i) => shown.rows.at(i)).filter(
      (row) => row?.node === 1,
    );
    expect(rows.map((row) => shown.tree.text.slice(row?.from, row?.to)).join("")).toBe(long);
    expect(shown.tree.text.slice(rows[0]?.from, rows[0]?.to)).toBe('"first line\\n');
  });

  test("whatever the strings, their lines are the whole text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }),
        fc.integer({ min: 1, max: 80 }),
        (given, columns) => {
          const text = JSON.stringify([given]);
          const shown = view(text, columns);
          const all = Array.from({ length: shown.rows.length }, (_, i) => shown.rows.at(i))
            .filter((row) => row?.node === 1)
            .map((row) => text.slice(row?.from, row?.to));
          expect(all.join("")).toBe(JSON.stringify(given));
        },
      ),
    );
  });
});

describe("looking for something in a tree", () => {
  test("counts names and values, unfolds what hides them, and goes round", () => {
    const shown = view('{"Price": 1, "deep": {"er": ["the price is high"]}, "x": true}');
    shown.all(true);
    shown.find("price");
    expect([shown.found.length, shown.path(shown.active)]).toEqual([2, "Price"]);
    shown.again(1);
    expect(shown.path(shown.active)).toBe("deep.er[0]");
    expect(shown.rows.lineOf(shown.active)).not.toBeNull();
    shown.again(1);
    expect(shown.current).toBe(0);
    shown.again(-1);
    expect(shown.current).toBe(1);
  });

  test("does not find the marks between values, nor what is special in expressions", () => {
    expect(view('{"a": [1, 2]}'), "marks").toSatisfy((shown: TreeView) => {
      shown.find(",");
      return shown.found.length === 0;
    });
    const odd = view('["a.c", "abc"]');
    odd.find("a.c");
    expect(odd.found.length).toBe(1);
  });

  test("cuts a text where it is found", () => {
    const shown = view('["banana"]');
    shown.find("an");
    expect(shown.stretches(2, 8).map(({ text, found }) => [text, found])).toEqual([
      ["b", "no"],
      ["an", "current"],
      ["an", "yes"],
      ["a", "no"],
    ]);
  });

  test("in the largest payload is quick", () => {
    const shown = view(`[${'{"id": 1, "name": "somebody"},'.repeat(30_000)}0]`);
    const began = performance.now();
    shown.find("somebody");
    shown.all(false);
    expect(shown.foundMore).toBe(true);
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
