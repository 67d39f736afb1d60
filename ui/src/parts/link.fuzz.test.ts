import { expect, test } from "vitest";
import { linkText, looksLikeLink, parseLink } from "./link";

// The corpus is shared with the desktop app, which only carries links.
const CORPUS = import.meta.glob<string>("../../../fuzz/corpus/link/*", {
  query: "?raw",
  import: "default",
  eager: true,
});
const CASES = 30_000;
const PIECES = [
  "%",
  "/",
  "#",
  "?",
  "%2F",
  "%00",
  "%E2%80%AE",
  "😀",
  "\u202e",
  "\ud800",
  "<b>",
  " ",
  "switchboard://",
  "#/",
  "message",
];

/** The same numbers each time. */
function chance(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) % Math.max(1, most);
  };
}

function changed(corpus: string[], below: (most: number) => number): string {
  let text = corpus[below(corpus.length)] ?? "";
  for (let times = below(4) + 1; times > 0; times--) {
    const at = below(text.length + 1);
    const to = at + below(Math.min(40, text.length - at + 1));
    const middle = [
      "",
      text.slice(at, to).repeat(2),
      PIECES[below(PIECES.length)] ?? "",
      String.fromCharCode(below(0x10000)),
    ][below(4)];
    text = text.slice(0, at) + middle + text.slice(to);
  }
  return text;
}

test("links: all that is kept of earlier trials, and many changes of it", () => {
  const corpus = Object.values(CORPUS);
  expect(corpus.length).toBeGreaterThan(5);
  const below = chance(7);
  let [passed, failed, read] = [0, 0, 0];
  for (let n = 0; n < corpus.length + CASES; n++) {
    const text = corpus[n] ?? changed(corpus, below);
    const link = parseLink(text);
    looksLikeLink(text);
    const holds =
      link === null ||
      (link.id.length <= 512 &&
        !/\p{C}/u.test(link.id) &&
        JSON.stringify(parseLink(linkText(link))) === JSON.stringify(link));
    if (link !== null) read++;
    if (holds) passed++;
    else {
      failed++;
      console.error(JSON.stringify(text), link);
    }
  }
  console.log(`fuzzing link: ${passed} passed, ${failed} failed; ${read} were links`);
  expect(failed).toBe(0);
  expect(read).toBeGreaterThan(corpus.length);
});
