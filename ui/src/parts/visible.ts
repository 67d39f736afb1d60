// What a sender writes may hold characters that show nothing and yet turn the text around them: a name
// could pass for another, an order of figures for its reverse. They are shown by their numbers.

const HIDDEN =
  // eslint-disable-next-line no-control-regex -- these are the characters that must not act
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A piece of a text: as it is, or the number of a character that would not be seen. */
export interface Piece {
  text: string;
  hidden: boolean;
}

/** The text with every hidden character written as its number: `\u202E`. */
export function visible(text: string): string {
  // Nearly every text holds none, and search leaves no trace in the expression's state.
  return text.search(HIDDEN) < 0 ? text : text.replace(HIDDEN, number);
}

/** The same in pieces, for whoever shows the numbers apart. */
export function pieces(text: string): Piece[] {
  if (text.search(HIDDEN) < 0) return [{ text, hidden: false }];
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index), hidden: false });
    found.push({ text: number(match[0]), hidden: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), hidden: false });
  return found;
}

function number(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
