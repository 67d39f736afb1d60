import { beforeEach, describe, expect, test } from "vitest";
import { ColumnChoice } from "./columns.svelte";
import { remember } from "./remembered";

describe("the choice of columns", () => {
  beforeEach(() => window.localStorage.clear());

  test("is remembered, and can be taken back", () => {
    const choice = new ColumnChoice("columns");
    choice.show("Door", false);
    choice.resize("From", 200);
    choice.resize("To", 90);
    choice.resize("To", null);
    const again = new ColumnChoice("columns");
    expect(again.isShown("Door", true)).toBe(false);
    expect(again.isShown("Took", true)).toBe(true);
    expect(again.widths).toEqual({ From: 200 });
    again.reset();
    expect(new ColumnChoice("columns").changed).toBe(false);
  });

  test.each(["", "null", "[]", "nonsense", '{"widths":{"From":"wide","To":1e9},"shown":7}'])(
    "what makes no sense is not remembered: %s",
    (text) => {
      remember("columns", text);
      expect(new ColumnChoice("columns").changed).toBe(false);
    },
  );
});
