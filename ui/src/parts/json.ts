// JSON as text. Payloads are shown to the letter, so nothing here goes through JSON.parse: numbers
// keep their digits, keys their order, and broken text is still shown.

export type TokenKind = "key" | "string" | "number" | "word" | "mark" | "space" | "other";

export interface Token {
  kind: TokenKind;
  text: string;
}

const TOKEN =
  /("(?:[^"\\]|\\[^])*"?)|(-?\d[\d.eE+-]*)|(true|false|null)(?![A-Za-z0-9_])|([{}[\],:])|(\s+)|([^\s"{}[\],:]+)/g;

/** Cuts text into tokens; joined again they are the same text, whatever it was. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [whole, string, number, word, mark, space] = match;
    const kind: TokenKind =
      string !== undefined
        ? "string"
        : number !== undefined
          ? "number"
          : word !== undefined
            ? "word"
            : mark !== undefined
              ? "mark"
              : space !== undefined
                ? "space"
                : "other";
    if (mark === ":") markKey(tokens);
    tokens.push({ kind, text: whole });
  }
  return tokens;
}

/** A string before a colon is a key. */
function markKey(tokens: Token[]): void {
  for (let i = tokens.length - 1; i >= 0; i--) {
    const token = tokens[i];
    if (token === undefined || token.kind === "space") continue;
    if (token.kind === "string") token.kind = "key";
    return;
  }
}

/** The same JSON, a member a line; text that is not JSON comes back as it is. */
export function pretty(text: string): Token[] {
  if (problem(text) !== null) return tokenize(text);
  const out: Token[] = [];
  let depth = 0;
  const newline = () => out.push({ kind: "space", text: `\n${"  ".repeat(depth)}` });
  const tokens = tokenize(text).filter((token) => token.kind !== "space");
  tokens.forEach((token, i) => {
    const opens = token.text === "{" || token.text === "[";
    const closes = token.text === "}" || token.text === "]";
    const empty = closes && (tokens[i - 1]?.text === "{" || tokens[i - 1]?.text === "[");
    if (token.kind === "mark" && closes) {
      depth--;
      if (!empty) newline();
    }
    out.push(token);
    if (token.kind !== "mark") return;
    if (opens) {
      depth++;
      const next = tokens[i + 1]?.text;
      if (next !== "}" && next !== "]") newline();
    } else if (token.text === ",") newline();
    else if (token.text === ":") out.push({ kind: "space", text: " " });
  });
  return out;
}

/** The beginning of a text in tokens: at most so many characters, a long token cut in its midst. */
export function beginning(tokens: readonly Token[], characters: number): Token[] {
  const some: Token[] = [];
  let left = characters;
  for (const token of tokens) {
    if (left <= 0) break;
    some.push(token.text.length <= left ? token : { ...token, text: token.text.slice(0, left) });
    left -= token.text.length;
  }
  return some;
}

export interface Problem {
  line: number;
  column: number;
  message: string;
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
// eslint-disable-next-line no-control-regex -- JSON forbids exactly these inside a string
const STRING = /^"([^"\\\u0000-\u001f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"$/;

/**
 * The first thing that keeps the text from being JSON, and where; null if it is JSON. Engines word
 * this differently and WebKit does not say where, so it is found here.
 */
export function problem(text: string): Problem | null {
  let offset = 0;
  const tokens: { kind: TokenKind; text: string; offset: number }[] = [];
  for (const token of tokenize(text)) {
    if (token.kind !== "space" || /[^ \t\r\n]/.test(token.text)) tokens.push({ ...token, offset });
    offset += token.text.length;
  }
  // What may come next. A stack instead of recursion: hostile nesting must not end the page.
  const open: ("{" | "[")[] = [];
  let want: "value" | "first" | "key" | "firstKey" | "colon" | "more" | "end" = "value";
  const after = () => (open.length === 0 ? "end" : "more");

  for (const token of tokens) {
    const fail = (message: string) => ({ ...position(text, token.offset), message });
    const isValue = token.kind === "string" || token.kind === "number" || token.kind === "word";
    if (token.kind === "other" || token.kind === "space")
      return fail(`“${cut(token.text)}” is not JSON`);
    if (token.kind === "number" && !NUMBER.test(token.text))
      return fail(`“${cut(token.text)}” is not a number`);
    if ((token.kind === "string" || token.kind === "key") && !STRING.test(token.text)) {
      return fail(
        token.text.endsWith('"') && token.text.length > 1
          ? "this text has a character that must be escaped"
          : "this text has no closing quote",
      );
    }
    if (want === "end") return fail("nothing may follow the end");
    else if (want === "colon") {
      if (token.text !== ":") return fail("a colon is missing");
      want = "value";
    } else if (want === "key" || want === "firstKey") {
      if (token.text === "}" && want === "firstKey") {
        open.pop();
        want = after();
      } else if (token.kind === "key" || token.kind === "string") want = "colon";
      else return fail("a name in quotes is missing");
    } else if (want === "more") {
      const inObject = open.at(-1) === "{";
      if (token.text === (inObject ? "}" : "]")) {
        open.pop();
        want = after();
      } else if (token.kind === "mark" && token.text === ",") want = inObject ? "key" : "value";
      else return fail(`a comma or ${inObject ? "}" : "]"} is missing`);
    } else if (token.text === "]" && token.kind === "mark" && want === "first") {
      open.pop();
      want = after();
    } else if (token.text === "{" || token.text === "[") {
      open.push(token.text);
      want = token.text === "{" ? "firstKey" : "first";
    } else if (isValue) want = after();
    else return fail("a value is missing");
  }
  if (want === "end") return null;
  const message = tokens.length === 0 ? "there is nothing here yet" : "the text ends too early";
  return { ...position(text, text.length), message };
}

function position(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

function cut(text: string): string {
  return text.length > 20 ? `${text.slice(0, 20)}…` : text;
}
