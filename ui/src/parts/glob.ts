/**
 * Whether a text fits a pattern with wildcards: `*` is any letters, `?` one letter, `[seq]` one of these,
 * `[!seq]` none of these. Everything else stands for itself.
 *
 * Step by step and not by a regular expression: others write patterns, and a hostile one must not hold
 * up the page.
 */
export function fits(pattern: string, text: string): boolean {
  const wanted = pieces(pattern);
  const given = [...text];
  let [w, g] = [0, 0];
  // The last star, and how much of the text it has taken.
  let star = -1;
  let taken = 0;
  while (g < given.length) {
    const piece = wanted[w];
    if (piece === "star") {
      star = w++;
      taken = g;
    } else if (piece?.(given[g] ?? "") === true) {
      w++;
      g++;
    } else if (star >= 0) {
      w = star + 1;
      g = ++taken;
    } else return false;
  }
  while (wanted[w] === "star") w++;
  return w === wanted.length;
}

type Piece = "star" | ((letter: string) => boolean);

function pieces(pattern: string): Piece[] {
  const letters = [...pattern];
  const found: Piece[] = [];
  for (let i = 0; i < letters.length; i++) {
    const letter = letters[i] ?? "";
    if (letter === "*") found.push("star");
    else if (letter === "?") found.push(() => true);
    else if (letter === "[") {
      const not = letters[i + 1] === "!";
      const from = i + (not ? 2 : 1);
      // A bracket right after the opening one is a member, not the end.
      const end = letters.indexOf("]", from + 1);
      if (end < 0) found.push((each) => each === "[");
      else {
        const members = letters.slice(from, end);
        found.push((each) => isMember(each, members) !== not);
        i = end;
      }
    } else found.push((each) => each === letter);
  }
  return found;
}

function isMember(letter: string, members: readonly string[]): boolean {
  for (let i = 0; i < members.length; i++) {
    const first = members[i] ?? "";
    const last = members[i + 2];
    if (members[i + 1] === "-" && last !== undefined) {
      if (first <= letter && letter <= last) return true;
      i += 2;
    } else if (letter === first) return true;
  }
  return false;
}
