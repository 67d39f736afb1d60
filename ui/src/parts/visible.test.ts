import fc from "fast-check";
import { expect, test } from "vitest";
import { pieces, visible } from "./visible";

test("characters that turn or hide text are shown by their numbers", () => {
  expect(visible("admin\u202Etxt.exe")).toBe("admin\\u202Etxt.exe");
  expect(visible("a\u0007b\u200Fc\u2066d")).toBe("a\\u0007b\\u200Fc\\u2066d");
});

test("letters of every script, lines and tabs stay as they are", () => {
  const text = "plain שלום سلام 漢字 👩‍🚀\n\tline";
  expect(visible(text)).toBe(text);
});

test("the pieces are the visible text, and only the numbers are apart", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(
        pieces(text)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(visible(text));
    }),
  );
  expect(pieces("a\u202Eb")).toEqual([
    { text: "a", hidden: false },
    { text: "\\u202E", hidden: true },
    { text: "b", hidden: false },
  ]);
});
