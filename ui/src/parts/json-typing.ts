/** What a key does in a JSON text beyond its letter. */
export interface Typing {
  /** Written in the place of what is selected. */
  insert: string;
  /** Where the cursor stands afterwards, from the beginning of what was inserted. */
  caret: number;
  /** How many letters before and after the selection go with it. */
  eats?: [number, number];
}

const PAIRS: Record<string, string> = { "{": "}", "[": "]", '"': '"' };

/** Help with brackets, quotes and indentation; null leaves the key to the field. */
export function help(key: string, text: string, start: number, end: number): Typing | null {
  const before = text[start - 1] ?? "";
  const after = text[end] ?? "";
  if (key === "Enter") return newLine(text, start, end);
  if (key === "Backspace")
    return start === end && before in PAIRS && PAIRS[before] === after
      ? { insert: "", caret: 0, eats: [1, 1] }
      : null;
  if (start === end && key === after && ["}", "]", '"'].includes(key) && before !== "\\")
    return { insert: key, caret: 1, eats: [0, 1] };
  const close = PAIRS[key];
  if (close === undefined) return null;
  if (start < end) return { insert: key + text.slice(start, end) + close, caret: end - start + 2 };
  // A quote at the end of a word closes it; before a word it is only a quote.
  const alone = /^[\s,}\]:]?$/.test(after) && !(key === '"' && /[\w"\\]/.test(before));
  return alone ? { insert: key + close, caret: 1 } : null;
}

function newLine(text: string, start: number, end: number): Typing {
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  const opens = /[{[]\s*$/.test(line);
  if (!opens) return { insert: `\n${indent}`, caret: indent.length + 1 };
  const inner = `\n${indent}  `;
  const closes = /^[}\]]/.test(text.slice(end));
  return { insert: closes ? `${inner}\n${indent}` : inner, caret: inner.length };
}
