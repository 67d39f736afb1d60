import { describe, expect, test } from "vitest";
import { help } from "./json-typing";

/** Types a key where the bar stands; the bar shows where the cursor is afterwards. */
function type(key: string, given: string): string {
  const at = given.indexOf("|");
  const text = given.replace("|", "");
  const typed = help(key, text, at, at);
  if (typed === null) return "left to the field";
  const [left, right] = typed.eats ?? [0, 0];
  const begin = text.slice(0, at - left) + typed.insert.slice(0, typed.caret);
  return `${begin}|${typed.insert.slice(typed.caret)}${text.slice(at + right)}`;
}

describe("help with typing JSON", () => {
  test.each([
    ["{", "|", "{|}"],
    ["[", '{"a": |}', '{"a": [|]}'],
    ['"', "{|}", '{"|"}'],
    ['"', '{"a|"}', '{"a"|}'],
    ["}", "{|}", "{}|"],
    ['"', "a|", "left to the field"],
    ["{", "|x", "left to the field"],
    ["Backspace", '{"|"}', "{|}"],
    ["Backspace", "{a|}", "left to the field"],
    ["Enter", "{|}", "{\n  |\n}"],
    ["Enter", '  "a": 1,|', '  "a": 1,\n  |'],
    ["Enter", "  [|", "  [\n    |"],
    ["x", "|", "left to the field"],
  ])("%j in %j", (key, given, expected) => {
    expect(type(key, given)).toBe(expected);
  });

  test("a bracket goes around what is selected", () => {
    expect(help("[", "1, 2", 0, 4)).toEqual({ insert: "[1, 2]", caret: 6 });
  });
});
