import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTree, writePath, type JsonTree } from "./json-tree";

/** JSON, and JSON with something broken in it. */
const jsonish = fc.oneof(
  fc.json(),
  fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", '"', "{", "]", "0", "\\", "x", ":", "\n"))
    .map(([json, at, put]) => {
      const cut = at % (json.length + 1);
      return json.slice(0, cut) + put + json.slice(cut + 1);
    }),
);
const isJson = (given: string) => {
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
};
const read = (text: string): JsonTree => {
  const tree = readTree(text);
  if (tree === null) throw new Error(`not JSON: ${text}`);
  return tree;
};
/** The value again, from the tree alone. */
function value(tree: JsonTree, node = 0): unknown {
  const inside = tree.inside(node);
  switch (tree.kind(node)) {
    case "list":
      return inside.map((each) => value(tree, each));
    case "object":
      return Object.fromEntries(inside.map((each) => [tree.key(each), value(tree, each)]));
    default:
      return JSON.parse(tree.raw(node));
  }
}

describe("a tree over JSON text", () => {
  test("exists exactly where JSON.parse finds JSON", () => {
    fc.assert(
      fc.property(jsonish, (given) => (readTree(given) !== null) === isJson(given)),
      { numRuns: 2_000 },
    );
  });

  test("means what the text means", () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (given) => {
        expect(value(read(given))).toEqual(value(read(JSON.stringify(JSON.parse(given)))));
        expect(JSON.stringify(value(read(given)))).toBe(JSON.stringify(JSON.parse(given)));
      }),
    );
  });

  test("every node is found again by its path", () => {
    fc.assert(
      fc.property(fc.json(), (given) => {
        const tree = read(given);
        for (let node = 0; node < tree.size; node++) expect(tree.at(tree.path(node))).toBe(node);
      }),
    );
  });

  test("numbers keep their digits", () => {
    const tree = read('{"id": 123456789012345678901234567890, "price": 108.80}');
    expect(tree.inside(0).map((node) => tree.raw(node))).toEqual([
      "123456789012345678901234567890",
      "108.80",
    ]);
  });

  test("of two with the same name the last counts", () => {
    const tree = read('{"a":1,"a":2}');
    expect(tree.raw(tree.at(["a"]) ?? -1)).toBe("2");
  });

  test("hostile nesting does not exhaust the stack", () => {
    expect(readTree("[".repeat(200_000))).toBeNull();
    const deep = read("[".repeat(200_000) + "]".repeat(200_000));
    expect(deep.depth.at(-1)).toBe(199_999);
  });

  test("a payload of the largest size is read in no time", () => {
    const many = `[${"1,".repeat(500_000)}1]`;
    const began = performance.now();
    expect(read(many).size).toBe(500_002);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

test("paths are written as one would in a program", () => {
  expect(writePath([])).toBe("$");
  expect(writePath(["items", 3, "price"])).toBe("items[3].price");
  expect(writePath([0, "odd name", 'a"b'])).toBe('[0]["odd name"]["a\\"b"]');
});
