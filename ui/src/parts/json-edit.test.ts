import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { put, remove } from "./json-edit";
import { readTree } from "./json-tree";

const flat = (text: string) => text.replaceAll(/\s/g, "");

describe("changing one place in a JSON text", () => {
  test("leaves every other number as it was written", () => {
    const text = '{"id": 12345678901234567890, "price": 108.80, "n": 1}';
    expect(flat(put(text, ["n"], "2.50"))).toBe(
      '{"id":12345678901234567890,"price":108.80,"n":2.50}',
    );
  });

  test("makes what is missing on the way", () => {
    expect(flat(put("{}", ["a", "b", 0], "1"))).toBe('{"a":{"b":[1]}}');
    expect(flat(put('{"a":[1]}', ["a", 1], "2"))).toBe('{"a":[1,2]}');
    expect(flat(put('{"a":"text"}', ["a", "b"], "1")), "a text cannot hold it").toBe(
      '{"a":{"b":1}}',
    );
    expect(flat(put("null", [], "1"))).toBe("1");
  });

  test("takes members and items away with their commas", () => {
    expect(flat(remove('{"a":1,"b":2,"c":3}', ["a"]))).toBe('{"b":2,"c":3}');
    expect(flat(remove('{"a":1,"b":2,"c":3}', ["c"]))).toBe('{"a":1,"b":2}');
    expect(flat(remove('{"a":1}', ["a"]))).toBe("{}");
    expect(flat(remove("[1,2,3]", [1]))).toBe("[1,3]");
    expect(remove('{"a":1}', ["x"])).toBe('{"a":1}');
  });

  test("text that is no JSON stays", () => {
    expect(put("{", ["a"], "1")).toBe("{");
    expect(remove("{", ["a"])).toBe("{");
  });

  test("what was put is found there, whatever was there before", () => {
    const paths = fc.array(fc.oneof(fc.string(), fc.constantFrom("a", "b")), { maxLength: 3 });
    fc.assert(
      fc.property(fc.json(), paths, (text, path) => {
        const tree = readTree(put(text, path, '"here"'));
        expect(tree?.raw(tree.at(path) ?? -1)).toBe('"here"');
      }),
    );
  });

  test("what was removed is gone, and the rest is JSON", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, pick) => {
        const tree = readTree(text);
        if (tree === null || tree.size === 1) return;
        const node = 1 + (pick % (tree.size - 1));
        const left = readTree(remove(text, tree.path(node)));
        expect(left).not.toBeNull();
        expect(left?.size).toBe(tree.size - ((tree.next[node] ?? 0) - node));
      }),
    );
  });
});
