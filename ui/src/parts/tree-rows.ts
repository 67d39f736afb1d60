import type { JsonTree } from "./json-tree";
import { visible } from "./visible";

/** Of a string so long, only the beginning is shown until someone asks for more. */
const LONG_STRING = 240;
/** With more nodes than this, only the first level is unfolded at first. */
const MANY = 2_000;
/** A line of a string ends after a word, if that is not longer. */
const LONG_WORD = 16;
const INDENT = 2;
/** Deeper levels are not indented further: there would be no room left for what they say. */
const DEEPEST_INDENT = 16;

/** One line of a tree: a node's first line, a further piece of its long string, or its closing mark. */
export interface TreeRow {
  node: number;
  kind: "head" | "piece" | "close";
  /** What part of the text the line shows of the value. */
  from: number;
  to: number;
}

/** Which nodes are folded when a tree is first seen. */
export function firstFolds(tree: JsonTree): Uint8Array {
  const folded = new Uint8Array(tree.size);
  const many = tree.size > MANY;
  for (let node = 1; node < tree.size; node++) if (shouldFold(tree, node, many)) folded[node] = 1;
  if (tree.kind(0) === "string" && length(tree, 0) > LONG_STRING) folded[0] = 1;
  return folded;
}

function shouldFold(tree: JsonTree, node: number, many: boolean): boolean {
  if (tree.holds(node)) return many && (tree.children[node] ?? 0) > 0;
  return length(tree, node) > LONG_STRING;
}

function length(tree: JsonTree, node: number): number {
  return (tree.end[node] ?? 0) - (tree.start[node] ?? 0);
}

/** By how many characters a node's lines are moved to the right. */
export function indent(tree: JsonTree, node: number): number {
  return INDENT * Math.min(tree.depth[node] ?? 0, DEEPEST_INDENT);
}

/** The lines of a tree that are seen, in order; long strings take as many as they need at this width. */
export class TreeRows {
  /** For each line: its node, what it is (0 head, 1 piece, 2 close), and where its text begins. */
  readonly #nodes: number[] = [];
  readonly #kinds: number[] = [];
  readonly #from: number[] = [];
  readonly #head: Int32Array;
  readonly #tree: JsonTree;
  readonly #columns: number;

  constructor(tree: JsonTree, folded: Uint8Array, columns: number) {
    this.#tree = tree;
    this.#columns = columns;
    this.#head = new Int32Array(tree.size).fill(-1);
    const open: number[] = [];
    for (let node = 0; node < tree.size;) {
      while (open.length > 0 && node >= (tree.next[open.at(-1) ?? 0] ?? 0)) this.#close(open.pop());
      this.#head[node] = this.#nodes.length;
      this.#push(node, 0, tree.start[node] ?? 0);
      const shut = folded[node] === 1 || !tree.holds(node) || tree.children[node] === 0;
      if (!shut) open.push(node);
      else if (folded[node] === 0 && tree.kind(node) === "string") this.#pieces(node);
      node = shut ? (tree.next[node] ?? Infinity) : node + 1;
    }
    while (open.length > 0) this.#close(open.pop());
  }

  get length(): number {
    return this.#nodes.length;
  }

  /** The line on which a node begins; none while one around it is folded. */
  lineOf(node: number): number | null {
    const line = this.#head[node] ?? -1;
    return line < 0 ? null : line;
  }

  /** The line on which this place of a node's text is shown. */
  lineAt(node: number, offset: number): number | null {
    let line = this.lineOf(node);
    if (line === null) return null;
    while (this.#nodes[line + 1] === node && (this.#from[line + 1] ?? 0) <= offset)
      if (this.#kinds[++line] !== 1) return line - 1;
    return line;
  }

  /** The next line in this direction on which a node begins. */
  step(line: number, by: 1 | -1): number {
    let to = line + by;
    while (to >= 0 && to < this.length && this.#kinds[to] !== 0) to += by;
    return to >= 0 && to < this.length ? to : line;
  }

  at(line: number): TreeRow | undefined {
    const node = this.#nodes[line];
    if (node === undefined) return undefined;
    const from = this.#from[line] ?? 0;
    if (this.#kinds[line] === 2) return { node, kind: "close", from, to: from + 1 };
    const goesOn = this.#nodes[line + 1] === node && this.#kinds[line + 1] === 1;
    const to = (goesOn ? this.#from[line + 1] : this.#tree.end[node]) ?? 0;
    return { node, kind: this.#kinds[line] === 0 ? "head" : "piece", from, to };
  }

  #push(node: number, kind: number, from: number): void {
    this.#nodes.push(node);
    this.#kinds.push(kind);
    this.#from.push(from);
  }

  #close(node = 0): void {
    this.#push(node, 2, (this.#tree.end[node] ?? 1) - 1);
  }

  /** Cuts a string where the line ends, and after each line of its own. */
  #pieces(node: number): void {
    const tree = this.#tree;
    const end = tree.end[node] ?? 0;
    const named = Math.max(0, (tree.keyEnd[node] ?? 0) - (tree.keyStart[node] ?? 0)) + 2;
    const wide = Math.max(16, this.#columns - indent(tree, node));
    let room = Math.max(12, wide - named);
    for (let at = tree.start[node] ?? 0; ; room = wide) {
      at = lineEnd(tree.text, at, room, end);
      if (at >= end - 1) return;
      this.#push(node, 1, at);
    }
  }
}

/** Where a line of a string ends: at its own end of line, else where there is no more room. */
function lineEnd(text: string, from: number, room: number, end: number): number {
  let at = from;
  let used = 0;
  let word = -1;
  while (at < end) {
    const size = letterSize(text, at);
    const letter = text.slice(at, at + size);
    used += columnsOf(letter);
    if (used > room && at > from) break;
    at += size;
    if (letter === "\\n") return at;
    if (letter === " ") word = at;
  }
  // Rather after a word than in its midst.
  return at < end && at - word < LONG_WORD && word - from > LONG_WORD ? word : at;
}

/** How long a letter is as it is written: an escape and a pair of surrogates are one. */
function letterSize(text: string, at: number): number {
  if (text[at] === "\\") return text[at + 1] === "u" ? 6 : 2;
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code < 0xdc00 ? 2 : 1;
}

/** How much room it takes: letters of the east take two, and what is not seen is shown by its number. */
function columnsOf(letter: string): number {
  const code = letter.charCodeAt(0);
  if (code < 0x7f) return letter.length;
  return code >= 0x1100 && letter.length < 3 && visible(letter) === letter
    ? 2
    : visible(letter).length;
}
