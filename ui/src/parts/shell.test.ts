import fc from "fast-check";
import { expect, test } from "vitest";
import { sh } from "../testing/sh";
import { quote } from "./shell";

const said = (words: readonly string[]) =>
  sh(`printf '%s\\0' ${words.map(quote).join(" ")}`)
    .split("\0")
    .slice(0, -1);
const word = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom("'", '"', "\\", "$", "`", "!", "\n", " ", "a", "(", "~", "-"),
    }),
    fc.json(),
  )
  .map((text) => text.replaceAll("\0", ""));

test("a shell hands on every word as it was", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      expect(said(words)).toEqual(words);
    }),
    { numRuns: 60 },
  );
});

test("what needs no quotes has none", () => {
  expect(quote("inbound:chat-1")).toBe("inbound:chat-1");
  expect(quote("")).toBe("''");
  expect(quote("it's")).toBe(`'it'\\''s'`);
  expect(quote("~root")).toBe("'~root'");
});
