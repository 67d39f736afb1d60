// JSON as a tree over its own text: every node knows where it stands, so that what is shown, copied and
// changed is what was written, digit for digit. Columns of numbers instead of objects, because a
// payload may have half a million nodes.

/** What a value is; a literal is `true`, `false` or `null`. */
export type NodeKind = "object" | "list" | "string" | "number" | "literal";

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The nodes of a JSON text, in the order in which they are written; the first is the whole. */
export class JsonTree {
  readonly text: string;
  /** Where the value begins. */
  readonly start: number[] = [];
  /** Where the value ends. */
  readonly end: number[] = [];
  /** Where its name begins, with its quote; -1 in lists. */
  readonly keyStart: number[] = [];
  readonly keyEnd: number[] = [];
  /** -1 for the whole. */
  readonly parent: number[] = [];
  /** The first node that is not inside of it. */
  readonly next: number[] = [];
  readonly children: number[] = [];
  /** Its place among its siblings, from 0. */
  readonly order: number[] = [];
  readonly depth: number[] = [];

  constructor(text: string) {
    this.text = text;
  }

  get size(): number {
    return this.start.length;
  }

  /** Adds a node that begins here and has not ended. */
  add(start: number, parent: number, keyStart: number, keyEnd: number): number {
    const order = parent < 0 ? 0 : (this.children[parent] ?? 0);
    if (parent >= 0) this.children[parent] = order + 1;
    this.depth.push(parent < 0 ? 0 : (this.depth[parent] ?? 0) + 1);
    this.start.push(start);
    this.end.push(start);
    this.keyStart.push(keyStart);
    this.keyEnd.push(keyEnd);
    this.parent.push(parent);
    this.children.push(0);
    this.order.push(order);
    return this.next.push(0) - 1;
  }

  close(node: number, end: number): void {
    this.end[node] = end;
    this.next[node] = this.size;
  }

  kind(node: number): NodeKind {
    switch (this.text[this.start[node] ?? 0]) {
      case "{":
        return "object";
      case "[":
        return "list";
      case '"':
        return "string";
      case "t":
      case "f":
      case "n":
        return "literal";
      default:
        return "number";
    }
  }

  /** Whether other nodes may be inside of it. */
  holds(node: number): boolean {
    const kind = this.kind(node);
    return kind === "object" || kind === "list";
  }

  /** The value as it is written. */
  raw(node: number): string {
    return this.text.slice(this.start[node], this.end[node]);
  }

  /** Its name; none in lists. */
  key(node: number): string | null {
    const from = this.keyStart[node] ?? -1;
    return from < 0 ? null : unquote(this.text.slice(from, this.keyEnd[node]));
  }

  /** The text of a string; what is none is given as it is written. */
  plain(node: number): string {
    return this.kind(node) === "string" ? unquote(this.raw(node)) : this.raw(node);
  }

  /** The nodes directly inside of it. */
  inside(node: number): number[] {
    const found: number[] = [];
    for (let each = node + 1; each < (this.next[node] ?? 0); each = this.next[each] ?? Infinity)
      found.push(each);
    return found;
  }

  /** What has this name in an object; of several the last counts, as for every reader of JSON. */
  member(node: number, name: string): number | null {
    if (this.kind(node) !== "object") return null;
    return this.inside(node).findLast((each) => this.key(each) === name) ?? null;
  }

  /** Names and places from the whole to the node. */
  path(node: number): (string | number)[] {
    const steps: (string | number)[] = [];
    for (let each = node; (this.parent[each] ?? -1) >= 0; each = this.parent[each] ?? -1)
      steps.push(this.key(each) ?? this.order[each] ?? 0);
    return steps.reverse();
  }

  /** What stands at the end of a path. */
  at(path: readonly (string | number)[]): number | null {
    let node: number | null = 0;
    for (const step of path) {
      if (node === null) return null;
      if (typeof step === "string") node = this.member(node, step);
      else node = this.kind(node) === "list" ? (this.inside(node)[step] ?? null) : null;
    }
    return node;
  }
}

/** Reads JSON text; null if it is not JSON. Without recursion: hostile nesting must not end the page. */
export function readTree(text: string): JsonTree | null {
  const tree = new JsonTree(text);
  let at = 0;
  let parent = -1;
  let keyStart = -1;
  let keyEnd = -1;
  const skip = () => (at = after(SPACE, text, at));
  /** Reads a name and its colon. */
  const name = (): boolean => {
    keyStart = at;
    keyEnd = text[at] === '"' ? stringEnd(text, at) : -1;
    if (keyEnd < 0) return false;
    at = keyEnd;
    skip();
    return text[at++] === ":";
  };
  for (;;) {
    skip();
    const node = tree.add(at, parent, keyStart, keyEnd);
    keyStart = keyEnd = -1;
    const opening = text[at];
    if (opening === "{" || opening === "[") {
      at++;
      skip();
      if (text[at] !== (opening === "{" ? "}" : "]")) {
        parent = node;
        if (opening === "{" && !name()) return null;
        continue;
      }
      at++;
    } else {
      at = scalarEnd(text, at);
      if (at < 0) return null;
    }
    tree.close(node, at);
    for (;;) {
      skip();
      if (parent < 0) return at === text.length ? tree : null;
      const inObject = text[tree.start[parent] ?? 0] === "{";
      const mark = text[at++];
      if (mark === ",") {
        skip();
        if (inObject && !name()) return null;
        break;
      }
      if (mark !== (inObject ? "}" : "]")) return null;
      tree.close(parent, at);
      parent = tree.parent[parent] ?? -1;
    }
  }
}

/** How a path is written: `items[3].price`, `["odd name"]`; the whole is `$`. */
export function writePath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "$";
  return path
    .map((step, i) => {
      if (typeof step === "number") return `[${String(step)}]`;
      if (!/^[A-Za-z_$][\w$]*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return i === 0 ? step : `.${step}`;
    })
    .join("");
}

function unquote(written: string): string {
  return JSON.parse(written) as string;
}

function scalarEnd(text: string, at: number): number {
  if (text[at] === '"') return stringEnd(text, at);
  const end = after(NUMBER, text, at);
  return end > at ? end : after(LITERAL, text, at, -1);
}

/** Where the expression ends if it begins here. */
function after(expression: RegExp, text: string, at: number, otherwise = at): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : otherwise;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return -1;
    at = code === 0x5c ? after(ESCAPE, text, at, -1) : at + 1;
    if (at < 0) return -1;
  }
  return -1;
}
