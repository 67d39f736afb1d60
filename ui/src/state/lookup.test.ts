import { expect, test } from "vitest";
import { CallError } from "../api/error";
import { Lookup } from "./lookup.svelte";

test("what is known is of the message asked about last, whichever answer comes first", async () => {
  const answers = new Map<string, (known: string) => void>();
  const lookup = new Lookup((id) => new Promise<string>((resolve) => answers.set(id, resolve)));
  const first = lookup.about("a");
  const second = lookup.about("b");
  answers.get("b")?.("of b");
  answers.get("a")?.("of a");
  await Promise.all([first, second]);
  expect(lookup.known).toBe("of b");
  const again = lookup.about("b");
  expect(lookup.known, "kept while it is asked anew").toBe("of b");
  answers.get("b")?.("later");
  await again;
  expect(lookup.known).toBe("later");
});

test("what cannot be known is said", async () => {
  const lookup = new Lookup(() => Promise.reject(new CallError("notFound", "it is gone")));
  await lookup.about("a");
  expect([lookup.known, lookup.trouble]).toEqual([null, "it is gone"]);
});
