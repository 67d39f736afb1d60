import { describe, expect, test } from "vitest";
import { Picks } from "./picks.svelte";

const loaded = ["a", "b", "c", "d", "e"];

describe("letters that are picked", () => {
  test("a second click takes one back", () => {
    const picks = new Picks();
    picks.toggle("b", loaded);
    picks.toggle("d", loaded);
    picks.toggle("b", loaded);
    expect([...picks.ids]).toEqual(["d"]);
  });

  test("a range goes from the last one clicked, in either direction, and adds to the others", () => {
    const picks = new Picks();
    picks.toggle("e", loaded);
    picks.toggle("c", loaded);
    picks.range("a", loaded);
    expect([...picks.ids].sort()).toEqual(["a", "b", "c", "e"]);
  });

  test("a range from nowhere is one letter", () => {
    const picks = new Picks();
    picks.range("c", loaded);
    expect([...picks.ids]).toEqual(["c"]);
  });

  test("one taken back from all that match leaves the others that are here", () => {
    const picks = new Picks();
    picks.setAll();
    expect(picks.has("never seen")).toBe(true);
    picks.toggle("c", loaded);
    expect(picks.all).toBe(false);
    expect([...picks.ids]).toEqual(["a", "b", "d", "e"]);
  });

  test("those that are gone are not picked any more", () => {
    const picks = new Picks();
    picks.set(["a", "b"]);
    picks.drop(["a", "c"]);
    expect([...picks.ids]).toEqual(["b"]);
  });
});
