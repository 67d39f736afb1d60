import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diff, excerpt } from "./diff";

const told = (before: string, after: string) =>
  diff(before, after).map(({ kind, text }) => ({ same: "  ", old: "- ", new: "+ " })[kind] + text);

describe("the difference of two texts", () => {
  test("a changed line is taken away and put in", () => {
    expect(told('{\n  "file": "old.log"\n}', '{\n  "file": "app.log"\n}')).toEqual([
      "  {",
      '-   "file": "old.log"',
      '+   "file": "app.log"',
      "  }",
    ]);
  });

  test("lines in common are found between changes", () => {
    expect(told("a\nb\nc\nd", "x\nb\nc\ny\nd")).toEqual(["- a", "+ x", "  b", "  c", "+ y", "  d"]);
  });

  test("whatever the texts, both can be read from it", () => {
    const text = fc.array(fc.constantFrom("a", "b", "{", ""), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const lines = diff(a.join("\n"), b.join("\n"));
        const side = (left: "old" | "new") =>
          lines
            .filter(({ kind }) => kind !== left)
            .map((line) => line.text)
            .join("\n");
        expect(side("new")).toBe(a.join("\n"));
        expect(side("old")).toBe(b.join("\n"));
      }),
    );
  });

  test("texts too long to compare are told as a whole, and still both can be read", () => {
    const many = (word: string) => Array.from({ length: 1_200 }, (_, i) => word + String(i));
    const lines = diff(many("a").join("\n"), many("b").join("\n"));
    expect(lines.slice(0, 1_200).every(({ kind }) => kind === "old")).toBe(true);
    expect(lines.slice(1_200).every(({ kind }) => kind === "new")).toBe(true);
  });

  test("an excerpt leaves out what is far from a change", () => {
    const lines = diff("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\nsix");
    expect(excerpt(lines, 1).map((line) => line?.text ?? "…")).toEqual(["…", "5", "6", "six"]);
    expect(excerpt(diff("a\nb", "a\nb"), 2)).toEqual([null]);
  });
});
