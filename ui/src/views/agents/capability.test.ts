import { expect, test } from "vitest";
import { capability } from "../../testing/fixtures";
import { asks, mayCall } from "./capability";

test.each([
  [null, "everyone may call it", false],
  [[], "everyone may call it", true],
  [["planner", "shopper"], "only planner, shopper may call it", false],
])("callers %j: %s, with a warning: %s", (ids, words, warned) => {
  const found = mayCall(capability("plan", { authorized_requester_ids: ids }));
  expect(found.words).toBe(words);
  expect(found.warning !== null).toBe(warned);
});

test.each([
  [{}, false],
  [true, false],
  [null, false],
  [false, true],
  [{ type: "object" }, true],
])("the schema %j asks for something: %s", (schema, expected) => {
  expect(asks(schema)).toBe(expected);
});
