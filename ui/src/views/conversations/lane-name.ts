import { shortened } from "../../parts/shorten";

/** A name in at most two lines of so many letters, broken where it has a seam, shortened if it must be. */
export function laneName(name: string, letters: number): string[] {
  const short = shortened(name, letters * 2);
  if (short.length <= letters) return [short];
  // As late as the first line goes, and not so early that the rest would not fit.
  for (let end = letters; end >= short.length - letters && end > 0; end--) {
    if (/[_\-./: …]/.test(short.charAt(end - 1))) return [short.slice(0, end), short.slice(end)];
  }
  const half = Math.ceil(short.length / 2);
  return [short.slice(0, half), short.slice(half)];
}
