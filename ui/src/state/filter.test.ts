import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { MessageFilter } from "../api/generated";
import { Filter } from "./filter.svelte";
import { written } from "./query";

describe("the filter of the Flow screen", () => {
  let asked: MessageFilter[];
  let filter: Filter;
  const chips = () => filter.chips.map(written);

  beforeEach(() => {
    vi.useFakeTimers();
    asked = [];
    filter = new Filter((question) => asked.push(question));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("asks once after a burst of keys", () => {
    for (const text of ["h", "he", "hel"]) filter.type(text);
    expect(asked).toEqual([]);
    vi.runAllTimers();
    expect(asked).toEqual([{ text: "hel" }]);
  });

  test("a finished part becomes a chip; a word and an unfinished part stay text", () => {
    filter.type("hello kind:request state:d");
    expect(chips()).toEqual(["kind:request"]);
    expect(filter.draft).toBe("hello state:d");
  });

  test("what is typed after a chip does not run into the words before it", () => {
    filter.type("hello kind:request ");
    filter.type(`${filter.draft}state:dead `);
    expect([chips(), filter.draft]).toEqual([["kind:request", "state:dead"], "hello "]);
  });

  test("the last part counts before it is finished", () => {
    filter.type("kind:request");
    vi.runAllTimers();
    expect(asked).toEqual([{ kind: "request" }]);
  });

  test("Enter makes chips and asks at once", () => {
    filter.type("kind:request");
    filter.commit();
    expect(chips()).toEqual(["kind:request"]);
    expect(filter.draft).toBe("");
    expect(asked).toEqual([{ kind: "request" }]);
  });

  test("the same question is not asked twice", () => {
    filter.narrow({ key: "agent", value: "planner" });
    filter.narrow({ key: "agent", value: "planner" });
    expect(asked).toEqual([{ agent: "planner" }]);
  });

  test("a chip can be taken back into the text, or away", () => {
    filter.narrow({ key: "agent", value: "my agent" });
    filter.reopenLast();
    expect([chips(), filter.draft]).toEqual([[], 'agent:"my agent"']);
    filter.commit();
    const [chip] = filter.chips;
    if (chip !== undefined) filter.remove(chip);
    expect(asked.at(-1)).toEqual({});
  });
});
