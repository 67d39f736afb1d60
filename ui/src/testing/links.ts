import { linkText, looksLikeLink, parseLink } from "../parts/link";

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
export function chance(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) % Math.max(1, most);
  };
}

/** One of the corpus with a few changes. */
export function changed(corpus: string[], below: (most: number) => number): string {
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

/** Whether what must hold of a link holds of this text, and whether it is a link at all. */
export function tried(text: string): { holds: boolean; isLink: boolean } {
  const link = parseLink(text);
  looksLikeLink(text);
  const holds =
    link === null ||
    (link.id.length <= 512 &&
      !/\p{C}/u.test(link.id) &&
      JSON.stringify(parseLink(linkText(link))) === JSON.stringify(link));
  return { holds, isLink: link !== null };
}
