// Changes of one place in a JSON text. All other values stay as they were written, digit for digit.
import { pretty } from "./json";
import { readTree, type JsonTree } from "./json-tree";

export type Path = readonly (string | number)[];

/** Putting more into lines would hold up the page. */
const MOST_FORMATTED = 200_000;

/** The same JSON, a member a line; what is not JSON, or too long, comes back as it is. */
export function format(text: string): string {
  if (text.length > MOST_FORMATTED) return text;
  return pretty(text)
    .map((token) => token.text)
    .join("");
}

/** Writes a value at a path; what is missing on the way there is made. Text that is no JSON stays. */
export function put(text: string, path: Path, raw: string): string {
  const tree = readTree(text);
  if (tree === null) return text;
  let node = 0;
  let known = 0;
  for (; known < path.length; known++) {
    const next = tree.at(path.slice(0, known + 1));
    if (next === null) break;
    node = next;
  }
  const [step, ...rest] = path.slice(known);
  const fits = typeof step === "string" ? tree.kind(node) === "object" : tree.kind(node) === "list";
  if (step === undefined || !fits) {
    // Nothing is missing, or what stands there cannot hold it.
    return format(splice(tree, node, build(path.slice(known), raw)));
  }
  const value = build(rest, raw);
  const member = typeof step === "string" ? `${JSON.stringify(step)}:${value}` : value;
  const last = tree.inside(node).at(-1);
  const at = last === undefined ? (tree.start[node] ?? 0) + 1 : (tree.end[last] ?? 0);
  const comma = last === undefined ? "" : ",";
  return format(text.slice(0, at) + comma + member + text.slice(at));
}

/** Takes a member or an item away. */
export function remove(text: string, path: Path): string {
  const tree = readTree(text);
  const node = tree?.at(path) ?? null;
  if (tree === null || node === null || path.length === 0) return text;
  const siblings = tree.inside(tree.parent[node] ?? 0);
  const at = siblings.indexOf(node);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const from = before === undefined ? begins(tree, node) : (tree.end[before] ?? 0);
  const to =
    before === undefined && after !== undefined ? begins(tree, after) : (tree.end[node] ?? 0);
  return format(text.slice(0, from) + text.slice(to));
}

function begins(tree: JsonTree, node: number): number {
  const key = tree.keyStart[node] ?? -1;
  return key < 0 ? (tree.start[node] ?? 0) : key;
}

function splice(tree: JsonTree, node: number, raw: string): string {
  return tree.text.slice(0, tree.start[node]) + raw + tree.text.slice(tree.end[node]);
}

/** A value inside of as many new objects and lists as the path has steps. */
function build(path: Path, raw: string): string {
  return path.reduceRight<string>(
    (value, step) =>
      typeof step === "string" ? `{${JSON.stringify(step)}:${value}}` : `[${value}]`,
    raw,
  );
}
