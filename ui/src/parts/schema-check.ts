import type { JsonTree } from "./json-tree";
import { isSchema, limit, requiredOf, resolve, types, type Schema } from "./schema";

/** Something that a schema does not allow. */
export interface Violation {
  /** Where, from the value that was checked. */
  path: (string | number)[];
  /** What is wrong there, to be read after the name of the place. */
  words: string;
}

/** More than anyone reads. */
const MOST = 50;
const DEEPEST = 32;
/** A schema that refers to itself again and again must not hold up the page. */
const MOST_STEPS = 20_000;

/**
 * What in a value its schema does not allow, as far as can be said here: the broker has the last word.
 * `members` stands for the first object, where that is not what the text has at its place.
 */
export function check(
  given: unknown,
  tree: JsonTree,
  node: number,
  members?: ReadonlyMap<string, number>,
): Violation[] {
  const root = isSchema(given) ? given : {};
  const found: Violation[] = [];
  const checker = new Checker(root, tree, found, { left: MOST_STEPS });
  if (members === undefined) checker.value(given, node, []);
  else checker.members(resolve(given, root), members, [], 0);
  return found.slice(0, MOST);
}

class Checker {
  readonly #root: Schema;
  readonly #tree: JsonTree;
  readonly #found: Violation[];
  readonly #steps: { left: number };

  constructor(root: Schema, tree: JsonTree, found: Violation[], steps: { left: number }) {
    this.#root = root;
    this.#tree = tree;
    this.#found = found;
    this.#steps = steps;
  }

  value(given: unknown, node: number, path: (string | number)[], depth = 0): void {
    if (this.#found.length >= MOST || depth > DEEPEST || this.#steps.left-- <= 0) return;
    if (given === false) return this.#say(path, "must not be there");
    const tree = this.#tree;
    if (isSchema(given) && tree.raw(node) === "null" && allowsNull(given, this.#root)) return;
    const schema = resolve(given, this.#root);
    const wanted = types(schema);
    if (wanted.length > 0 && !wanted.some((type) => isOf(tree, node, type)))
      return this.#say(path, `must be ${wanted.map(typeWords).join(" or ")}`);
    this.#oneOf(schema, node, path);
    switch (tree.kind(node)) {
      case "object":
        this.members(schema, membersOf(tree, node), path, depth);
        break;
      case "list":
        this.#items(schema, node, path, depth);
        break;
      case "string":
        this.#length(
          schema,
          [...tree.plain(node)].length,
          path,
          ["minLength", "maxLength"],
          "letter",
        );
        break;
      case "number":
        this.#number(schema, Number(tree.raw(node)), path);
        break;
      case "literal":
        break;
    }
    if (Array.isArray(schema.allOf))
      for (const each of schema.allOf) this.value(each, node, path, depth + 1);
    this.#ways(schema, node, path, depth);
  }

  members(
    schema: Schema,
    members: ReadonlyMap<string, number>,
    path: (string | number)[],
    depth: number,
  ): void {
    for (const name of requiredOf(schema))
      if (!members.has(name)) this.#say([...path, name], "is missing");
    const known = isSchema(schema.properties) ? schema.properties : {};
    const others = schema.additionalProperties;
    const closed = others === false && schema.patternProperties === undefined;
    for (const [name, node] of members) {
      if (Object.hasOwn(known, name)) this.value(known[name], node, [...path, name], depth + 1);
      else if (closed) this.#say([...path, name], "is not known here");
      else if (isSchema(others)) this.value(others, node, [...path, name], depth + 1);
    }
  }

  #items(schema: Schema, node: number, path: (string | number)[], depth: number): void {
    const inside = this.#tree.inside(node);
    this.#length(schema, inside.length, path, ["minItems", "maxItems"], "item");
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    inside.forEach((item, i) => {
      const rule: unknown = i < first.length ? first[i] : schema.items;
      if (rule !== undefined && rule !== true) this.value(rule, item, [...path, i], depth + 1);
    });
    if (schema.uniqueItems === true) {
      const seen = inside.map((item) => canonical(parsed(this.#tree.raw(item))));
      if (new Set(seen).size < seen.length) this.#say(path, "must not hold the same twice");
    }
  }

  #length(
    schema: Schema,
    length: number,
    path: (string | number)[],
    [least, most]: readonly [string, string],
    what: string,
  ): void {
    const [min, max] = [limit(schema, least), limit(schema, most)];
    const many = (n: number) => `${String(n)} ${what}${n === 1 ? "" : "s"}`;
    if (min !== null && length < min) this.#say(path, `must have at least ${many(min)}`);
    if (max !== null && length > max)
      this.#say(path, `must have at most ${many(max)}, and has ${String(length)}`);
  }

  #number(schema: Schema, value: number, path: (string | number)[]): void {
    const rules = [
      ["minimum", (to: number) => value >= to, "at least"],
      ["maximum", (to: number) => value <= to, "at most"],
      ["exclusiveMinimum", (to: number) => value > to, "more than"],
      ["exclusiveMaximum", (to: number) => value < to, "less than"],
    ] as const;
    for (const [key, holds, words] of rules) {
      const to = limit(schema, key);
      if (to !== null && !holds(to)) this.#say(path, `must be ${words} ${String(to)}`);
    }
  }

  /** Whether it is one of the values that are allowed. */
  #oneOf(schema: Schema, node: number, path: (string | number)[]): void {
    const value = () => canonical(parsed(this.#tree.raw(node)));
    if (Object.hasOwn(schema, "const") && value() !== canonical(schema.const))
      this.#say(path, `must be ${shown(schema.const)}`);
    if (!Array.isArray(schema.enum)) return;
    const mine = value();
    if (schema.enum.some((each) => canonical(each) === mine)) return;
    const some = schema.enum.slice(0, 6).map(shown).join(", ");
    this.#say(path, `must be one of ${some}${schema.enum.length > 6 ? ", …" : ""}`);
  }

  /** Whether it is written in one of the ways that are allowed. */
  #ways(schema: Schema, node: number, path: (string | number)[], depth: number): void {
    for (const key of ["anyOf", "oneOf"]) {
      const ways = schema[key];
      if (!Array.isArray(ways)) continue;
      const fits = ways.some((way) => {
        const found: Violation[] = [];
        new Checker(this.#root, this.#tree, found, this.#steps).value(way, node, path, depth + 1);
        return found.length === 0;
      });
      if (!fits) this.#say(path, "is written in none of the ways that are allowed");
    }
  }

  #say(path: (string | number)[], words: string): void {
    this.#found.push({ path, words });
  }
}

function membersOf(tree: JsonTree, node: number): Map<string, number> {
  return new Map(tree.inside(node).map((each) => [tree.key(each) ?? "", each]));
}

function allowsNull(schema: Schema, root: Schema): boolean {
  const ways = [schema.anyOf, schema.oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
  return [schema, ...ways].some(
    (way) => isSchema(way) && types(resolve(way, root)).includes("null"),
  );
}

function isOf(tree: JsonTree, node: number, type: string): boolean {
  const kind = tree.kind(node);
  switch (type) {
    case "object":
    case "string":
      return kind === type;
    case "array":
      return kind === "list";
    case "number":
      return kind === "number";
    case "integer":
      return kind === "number" && Number.isInteger(Number(tree.raw(node)));
    case "boolean":
      return kind === "literal" && tree.raw(node) !== "null";
    case "null":
      return kind === "literal" && tree.raw(node) === "null";
    default:
      return true;
  }
}

function typeWords(type: string): string {
  const words: Record<string, string> = {
    object: "an object",
    array: "a list",
    string: "a text",
    number: "a number",
    integer: "a whole number",
    boolean: "true or false",
    null: "null",
  };
  return words[type] ?? type;
}

function parsed(raw: string): unknown {
  return JSON.parse(raw);
}

/** The same for values that are the same, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isSchema(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? `“${value}”` : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
