import { writePath, type JsonTree } from "./json-tree";
import { firstFolds, TreeRows } from "./tree-rows";

/** More places than anyone steps through. */
const MOST_FOUND = 10_000;
const TYPING_MS = 800;

/** A stretch of text, and whether it was looked for. */
export interface Stretch {
  text: string;
  found: "no" | "yes" | "current";
}

/** A tree that someone looks at: what is folded, where they are, what they look for. */
export class TreeView {
  readonly tree: JsonTree;
  /** The lines that are seen. */
  rows = $state.raw<TreeRows>() as TreeRows;
  /** The node that the keys are about. */
  active = $state(0);
  /** The line that should come into sight; a new object each time. */
  sought = $state.raw<{ line: number } | null>(null);
  needle = $state("");
  /** Where what is looked for begins. */
  found = $state.raw<readonly number[]>([]);
  current = $state(-1);

  readonly #folded: Uint8Array;
  #columns: number;
  #typed = { text: "", at: -Infinity };

  constructor(tree: JsonTree, columns = 60) {
    this.tree = tree;
    this.#columns = columns;
    this.#folded = firstFolds(tree);
    this.#lay();
  }

  /** There were more than are counted. */
  get foundMore(): boolean {
    return this.found.length === MOST_FOUND;
  }

  /** So many letters fit in a line now. */
  fit(columns: number): void {
    if (columns === this.#columns) return;
    this.#columns = columns;
    this.#lay();
  }

  isFolded(node: number): boolean {
    return this.#folded[node] === 1;
  }

  /** Whether there is something to fold: nodes inside of it, or a string of several lines. */
  canFold(node: number): boolean {
    if (this.tree.holds(node)) return (this.tree.children[node] ?? 0) > 0;
    if (this.tree.kind(node) !== "string") return false;
    const line = this.rows.lineOf(node);
    return this.isFolded(node) || (line !== null && this.rows.at(line + 1)?.kind === "piece");
  }

  toggle(node: number): void {
    if (!this.canFold(node)) return;
    this.#folded[node] = this.isFolded(node) ? 0 : 1;
    this.#lay();
  }

  /** Folds or unfolds a node and everything inside of it. The whole itself always stays open. */
  all(fold: boolean, node = 0): void {
    const { tree } = this;
    for (let each = node; each < (tree.next[node] ?? 0); each++)
      this.#folded[each] =
        fold && each > 0 && tree.holds(each) && tree.children[each] !== 0 ? 1 : 0;
    if (fold)
      for (let each = this.active; each > 0; each = tree.parent[each] ?? 0)
        if (this.#folded[tree.parent[each] ?? 0] === 1) this.active = tree.parent[each] ?? 0;
    this.#lay();
  }

  /** Goes to a node, and brings it into sight. */
  go(node: number): void {
    this.active = node;
    const line = this.rows.lineOf(node);
    if (line !== null) this.sought = { line };
  }

  /** So many lines up or down. */
  move(by: number): void {
    let line = this.rows.lineOf(this.active) ?? 0;
    for (let i = 0; i < Math.abs(by); i++) line = this.rows.step(line, by > 0 ? 1 : -1);
    this.go(this.rows.at(line)?.node ?? 0);
  }

  first(): void {
    this.go(0);
  }

  last(): void {
    this.go(this.rows.at(this.rows.step(this.rows.length, -1))?.node ?? 0);
  }

  /** Folds it, or goes to what it is in. */
  left(): void {
    if (this.canFold(this.active) && !this.isFolded(this.active)) this.toggle(this.active);
    else if (this.active > 0) this.go(this.tree.parent[this.active] ?? 0);
  }

  /** Unfolds it, or goes to the first inside of it. */
  right(): void {
    if (this.isFolded(this.active)) this.toggle(this.active);
    else if ((this.tree.children[this.active] ?? 0) > 0) this.go(this.active + 1);
  }

  /** Goes to the next name that begins with what was typed in a row. */
  typed(letter: string, now: number): void {
    const fresh = now - this.#typed.at > TYPING_MS;
    const text = fresh ? letter : this.#typed.text + letter;
    this.#typed = { text, at: now };
    const begins = text.toLowerCase();
    const { rows, tree } = this;
    const from = rows.lineOf(this.active) ?? 0;
    for (let i = fresh ? 1 : 0; i <= rows.length; i++) {
      const row = rows.at((from + i) % rows.length);
      if (row?.kind !== "head") continue;
      const name = tree.key(row.node) ?? tree.plain(row.node).slice(0, 100);
      if (name.toLowerCase().startsWith(begins)) return this.go(row.node);
    }
  }

  /** Looks for a text in names and values, from where one is. */
  find(needle: string): void {
    this.needle = needle;
    this.found = needle === "" ? [] : places(this.tree, needle);
    this.current = -1;
    if (this.found.length === 0) return;
    const here = this.tree.start[this.active] ?? 0;
    const ahead = this.found.findIndex((at) => at >= here);
    this.#reach(ahead < 0 ? 0 : ahead);
  }

  /** Goes to the next place, or the one before; round at the end. */
  again(by: 1 | -1): void {
    const many = this.found.length;
    if (many > 0) this.#reach((this.current + by + many) % many);
  }

  /** A piece of the text, cut where what is looked for begins and ends. */
  stretches(from: number, to: number): Stretch[] {
    const size = this.needle.length;
    if (size === 0 || this.found.length === 0)
      return [{ text: this.tree.text.slice(from, to), found: "no" }];
    const cut: Stretch[] = [];
    const put = (start: number, end: number, found: Stretch["found"]) => {
      if (end > start) cut.push({ text: this.tree.text.slice(start, end), found });
    };
    let at = from;
    for (let i = firstAfter(this.found, from - size); i < this.found.length; i++) {
      const begins = this.found[i] ?? 0;
      if (begins >= to) break;
      put(at, Math.max(at, begins), "no");
      put(
        Math.max(at, begins),
        Math.min(to, begins + size),
        i === this.current ? "current" : "yes",
      );
      at = Math.max(at, Math.min(to, begins + size));
    }
    put(at, to, "no");
    return cut;
  }

  path(node: number): string {
    return writePath(this.tree.path(node));
  }

  #reach(which: number): void {
    this.current = which;
    const offset = this.found[which] ?? 0;
    const node = nodeAt(this.tree, offset);
    const around: number[] = [node];
    for (let each = node; each > 0;) around.push((each = this.tree.parent[each] ?? 0));
    // A name is seen with its value folded.
    if (offset < (this.tree.start[node] ?? 0)) around.shift();
    const hidden = around.filter((each) => this.isFolded(each));
    for (const each of hidden) this.#folded[each] = 0;
    if (hidden.length > 0) this.#lay();
    this.active = node;
    const line = this.rows.lineAt(node, offset);
    if (line !== null) this.sought = { line };
  }

  #lay(): void {
    this.rows = new TreeRows(this.tree, this.#folded, this.#columns);
  }
}

/** The node in whose name or value this place is. */
function nodeAt(tree: JsonTree, offset: number): number {
  const begins = (node: number) => {
    const key = tree.keyStart[node] ?? -1;
    return key < 0 ? (tree.start[node] ?? 0) : key;
  };
  let low = 0;
  let high = tree.size - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (begins(middle) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where a text begins in names and values; what only stands between them does not count. */
function places(tree: JsonTree, needle: string): number[] {
  const found: number[] = [];
  // Letters of either case, but of the same length: no other folding.
  const expression = new RegExp(needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  for (let match = expression.exec(tree.text); match !== null; match = expression.exec(tree.text)) {
    const from = match.index;
    const to = from + needle.length;
    const node = nodeAt(tree, from);
    const inName = from >= (tree.keyStart[node] ?? 0) && to <= (tree.keyEnd[node] ?? -1);
    const inValue =
      !tree.holds(node) && from >= (tree.start[node] ?? 0) && to <= (tree.end[node] ?? 0);
    if (inName || inValue) found.push(from);
    if (found.length === MOST_FOUND) break;
  }
  return found;
}

/** The first of ordered numbers that is larger. */
function firstAfter(ordered: readonly number[], than: number): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle] ?? 0) > than) high = middle;
    else low = middle + 1;
  }
  return low;
}
