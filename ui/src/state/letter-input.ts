import type { Dialect } from "../api/generated";
import type { JsonTree } from "../parts/json-tree";
import { check, type Violation } from "../parts/schema-check";
import { busCapability, busInput } from "./bus-words";

/** What a payload asks for, in the words of the door that it came in by. */
export function askedFor(tree: JsonTree, dialect: Dialect, before: string | null): string | null {
  switch (dialect) {
    case "bus":
      return busCapability(tree) ?? before;
    case "lobby":
      return text(tree, "capability_name") ?? before;
    case "collaboration":
    case "aacp":
      return text(tree, "action") ?? before;
  }
}

/** What in a payload the schema of a capability's input does not allow. */
export function inputViolations(schema: unknown, tree: JsonTree, dialect: Dialect): Violation[] {
  switch (dialect) {
    case "bus":
      return check(schema, tree, 0, busInput(tree));
    case "lobby":
      return check(schema, tree, 0, without(tree, "capability_name"));
    case "collaboration":
      return within(schema, tree, "parameters", new Map());
    case "aacp":
      return within(schema, tree, "input", without(tree, "action"));
  }
}

function within(
  schema: unknown,
  tree: JsonTree,
  key: string,
  otherwise: ReadonlyMap<string, number>,
): Violation[] {
  const node = tree.member(0, key);
  if (node === null) return check(schema, tree, 0, otherwise);
  const prefix = (each: Violation) => ({ ...each, path: [key, ...each.path] });
  return check(schema, tree, node).map(prefix);
}

function without(tree: JsonTree, own: string): Map<string, number> {
  if (tree.kind(0) !== "object") return new Map();
  const members = tree.inside(0).map((node) => [tree.key(node) ?? "", node] as const);
  return new Map(members.filter(([key]) => key !== own));
}

function text(tree: JsonTree, key: string): string | null {
  const node = tree.member(0, key);
  return node !== null && tree.kind(node) === "string" ? tree.plain(node) : null;
}
