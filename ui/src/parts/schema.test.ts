import { describe, expect, test } from "vitest";
import { readTree } from "./json-tree";
import { hints, resolve, shape, skeleton } from "./schema";
import { check } from "./schema-check";

const kind = (schema: Record<string, unknown>) => shape(resolve(schema, schema)).kind;

describe("the field for a schema", () => {
  test("is chosen by what the schema allows", () => {
    expect(kind({ type: "string" })).toBe("text");
    expect(kind({ type: ["integer", "null"] })).toBe("number");
    expect(kind({ type: "boolean" })).toBe("switch");
    expect(kind({ enum: ["a", 1, null] })).toBe("choice");
    expect(kind({ oneOf: [{ const: 1, title: "one" }, { const: 2 }] })).toBe("choice");
    expect(kind({ const: "x" })).toBe("constant");
    expect(kind({ type: "array", items: { type: "string" } })).toBe("list");
    expect(kind({ properties: { a: {} } })).toBe("object");
    expect(kind({ anyOf: [{ type: "string" }, { type: "null" }] })).toBe("text");
  });

  test("is JSON where no field can be made of it", () => {
    expect(kind({})).toBe("json");
    expect(kind({ anyOf: [{ type: "string" }, { type: "number" }] })).toBe("json");
    expect(kind({ type: "array", prefixItems: [{}] })).toBe("json");
    expect(kind({ type: ["string", "number"] })).toBe("json");
  });

  test("references into the document are followed, and those in circles end", () => {
    const root = { $defs: { item: { type: "integer", minimum: 3 } }, $ref: "#/$defs/item" };
    expect(resolve(root, root)).toMatchObject({ type: "integer" });
    const round = { $ref: "#" };
    expect(resolve(round, round)).toEqual({});
    expect(resolve({ $ref: "https://example.org/x" }, {})).toEqual({});
  });

  test("limits are said in words", () => {
    expect(hints({ minimum: 1, maximum: 10 })).toEqual(["1 to 10"]);
    expect(hints({ maxLength: 20, pattern: "^a" })).toEqual(["at most 20 letters", "like ^a"]);
    expect(hints({ format: "date" })).toEqual(["a date like 2026-11-16"]);
  });

  test("a value to begin with has what is required and what is offered", () => {
    const schema = {
      type: "object",
      required: ["item", "sort"],
      properties: {
        item: { type: "string" },
        sort: { enum: ["price", "name"] },
        max: { type: "number" },
        shops: { type: "array", items: {}, default: ["a"] },
      },
    };
    expect(skeleton(schema, schema)).toBe('{"item":"","sort":"price","shops":["a"]}');
    const round = { type: "object", required: ["me"], properties: { me: { $ref: "#" } } };
    expect(skeleton(round, round).length).toBeLessThan(5_000);
  });
});

describe("what a schema does not allow", () => {
  const schema = {
    type: "object",
    required: ["item"],
    additionalProperties: false,
    properties: {
      item: { type: "string", minLength: 1 },
      max: { type: "number", minimum: 0 },
      many: { type: "integer" },
      sort: { enum: ["price", "name"] },
      shops: { type: "array", items: { type: "string" }, maxItems: 2, uniqueItems: true },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
      id: { oneOf: [{ type: "string" }, { type: "integer" }] },
    },
  };
  const wrong = (text: string) => {
    const tree = readTree(text);
    if (tree === null) throw new Error("not JSON");
    return check(schema, tree, 0).map(({ path, words }) => `${path.join(".")} ${words}`);
  };

  test.each([
    ['{"item":"x","max":1.5,"many":2.0,"note":null,"id":7}', []],
    ["{}", ["item is missing"]],
    ['{"item":""}', ["item must have at least 1 letter"]],
    ['{"item":1}', ["item must be a text"]],
    ['{"item":"x","max":-1}', ["max must be at least 0"]],
    ['{"item":"x","many":1.5}', ["many must be a whole number"]],
    ['{"item":"x","sort":"size"}', ["sort must be one of “price”, “name”"]],
    ['{"item":"x","shops":["a",1]}', ["shops.1 must be a text"]],
    ['{"item":"x","shops":["a","a"]}', ["shops must not hold the same twice"]],
    ['{"item":"x","extra":1}', ["extra is not known here"]],
    ['{"item":"x","id":true}', ["id is written in none of the ways that are allowed"]],
    ["[]", [" must be an object"]],
  ])("%s", (text, expected) => {
    expect(wrong(text)).toEqual(expected);
  });

  test("a schema that refers to itself does not hold up the page", () => {
    const round = { properties: { me: { $ref: "#" } }, allOf: [{ $ref: "#" }, { $ref: "#" }] };
    const tree = readTree('{"me":{"me":{"me":{}}}}');
    if (tree === null) throw new Error("not JSON");
    expect(check(round, tree, 0)).toEqual([]);
  });
});
