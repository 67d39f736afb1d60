import { expect, test } from "vitest";
import { chance, changed, tried } from "../testing/links";

// The corpus is shared with the desktop app, which only carries links.
const CORPUS = import.meta.glob<string>("../../../fuzz/corpus/link/*", {
  query: "?raw",
  import: "default",
  eager: true,
});
const CASES = 30_000;

test("links: all that is kept of earlier trials, and many changes of it", () => {
  const corpus = Object.values(CORPUS);
  expect(corpus.length).toBeGreaterThan(5);
  const below = chance(7);
  let [passed, failed, read] = [0, 0, 0];
  for (let n = 0; n < corpus.length + CASES; n++) {
    const text = corpus[n] ?? changed(corpus, below);
    const { holds, isLink } = tried(text);
    if (isLink) read++;
    if (holds) passed++;
    else {
      failed++;
      console.error(JSON.stringify(text));
    }
  }
  console.log(`fuzzing link: ${passed} passed, ${failed} failed; ${read} were links`);
  expect(failed).toBe(0);
  expect(read).toBeGreaterThan(corpus.length);
});
