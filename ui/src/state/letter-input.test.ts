import { expect, test } from "vitest";
import type { Dialect } from "../api/generated";
import { readTree } from "../parts/json-tree";
import { askedFor, inputViolations } from "./letter-input";

const schema = {
  type: "object",
  properties: { item: { type: "string" } },
  required: ["item"],
  additionalProperties: false,
};
const judged = (dialect: Dialect, payload: unknown) => {
  const tree = readTree(JSON.stringify(payload));
  if (tree === null) throw new Error("not JSON");
  return {
    asks: askedFor(tree, dialect, "before"),
    wrong: inputViolations(schema, tree, dialect).map(({ path }) => path.join(".")),
  };
};

test.each<[Dialect, unknown]>([
  ["bus", { type: "find", capability: "find", item: "kettle" }],
  ["lobby", { capability_name: "find", item: "kettle" }],
  ["collaboration", { action: "find", parameters: { item: "kettle" } }],
  ["aacp", { action: "find", input: { item: "kettle" } }],
])("what a call says in the words of %s is judged without its envelope", (dialect, payload) => {
  const outcome = judged(dialect, payload);
  expect(outcome.wrong).toEqual([]);
  if (dialect !== "bus") expect(outcome.asks).toBe("find");
});

test("what does not fit is named where it stands", () => {
  expect(judged("collaboration", { action: "find", parameters: { item: 7 } }).wrong).toEqual([
    "parameters.item",
  ]);
  expect(judged("lobby", { capability_name: "find" }).wrong).toEqual(["item"]);
});

test("a payload that names nothing asks for what it asked for before", () => {
  expect(judged("lobby", { item: "kettle" }).asks).toBe("before");
});
