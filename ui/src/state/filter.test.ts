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

  test("a space within quotes ends nothing", () => {
    filter.type('agent:"my ');
    expect([chips(), filter.draft]).toEqual([[], 'agent:"my ']);
    filter.type('agent:"my agent" ');
    expect(chips()).toEqual(['agent:"my agent"']);
  });

  test("a chip that is changed keeps its place", () => {
    filter.read("kind:request from:planner state:dead");
    filter.narrow({ key: "from", value: "echo" });
    expect(chips()).toEqual(["kind:request", "from:echo", "state:dead"]);
  });

  test("what is saved or stands in an address is read whole", () => {
    filter.narrow({ key: "kind", value: "event" });
    filter.read('from:"my agent" hello slower:');
    expect([chips(), filter.draft]).toEqual([['from:"my agent"'], "hello slower:"]);
    expect(filter.text, "only what can be used").toBe('from:"my agent" hello');
    expect(asked.at(-1)).toEqual({ from: "my agent", text: "hello" });
  });

  test("a second click on the same takes it away", () => {
    const wishes = [
      { key: "from", value: "a" },
      { key: "to", value: "b" },
    ] as const;
    filter.narrow({ key: "kind", value: "event" });
    filter.toggle(wishes);
    expect(filter.has(wishes)).toBe(true);
    filter.toggle(wishes);
    expect(chips()).toEqual(["kind:event"]);
  });
});
