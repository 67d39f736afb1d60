import { shortened } from "../../parts/shorten";

/** A name in at most two lines of so many letters: broken only where it has a seam, else shortened. */
export function laneName(name: string, letters: number): string[] {
  const short = shortened(name, letters * 2);
  if (short.length <= letters) return [short];
  // As late as the first line goes, and not so early that the rest would not fit.
  for (let end = letters; end >= short.length - letters && end > 0; end--) {
    if (/[_\-./: …]/.test(short.charAt(end - 1))) return [short.slice(0, end), short.slice(end)];
  }
  // A word broken in its middle reads like two.
  return [`${name.slice(0, letters - 1)}…`];
}
