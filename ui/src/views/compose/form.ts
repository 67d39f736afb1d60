import { put, remove, type Path } from "../../parts/json-edit";
import type { JsonTree } from "../../parts/json-tree";
import type { Schema } from "../../parts/schema";
import type { Violation } from "../../parts/schema-check";
import { busInput } from "../../state/bus-words";
import { placeOf } from "../../state/composer.svelte";

/** Fields over the input of a call. The payload's text is the one truth; each field is a place in it. */
export class Form {
  readonly root: Schema;
  readonly tree: JsonTree;
  readonly #members: ReadonlyMap<string, number>;
  readonly #violations: readonly Violation[];
  readonly #write: (text: string) => void;

  constructor(
    root: Schema,
    tree: JsonTree,
    violations: readonly Violation[],
    write: (text: string) => void,
  ) {
    this.root = root;
    this.tree = tree;
    this.#members = busInput(tree);
    this.#violations = violations;
    this.#write = write;
  }

  /** What is written at a place of the input. */
  node(path: Path): number | null {
    const [first, ...rest] = path;
    const member = this.#members.get(String(first));
    if (member === undefined) return null;
    return this.tree.at([...this.tree.path(member), ...rest]);
  }

  raw(path: Path): string | null {
    const node = this.node(path);
    return node === null ? null : this.tree.raw(node);
  }

  put(path: Path, raw: string): void {
    this.#write(put(this.tree.text, this.#place(path), raw));
  }

  remove(path: Path): void {
    this.#write(remove(this.tree.text, this.#place(path)));
  }

  /** What is wrong at exactly this place. */
  wrong(path: Path): string | null {
    const same = (each: Violation) =>
      each.path.length === path.length && each.path.every((step, i) => step === path[i]);
    return this.#violations.find(same)?.words ?? null;
  }

  /** Names in the input, or in an object inside of it. */
  names(path: Path): string[] {
    if (path.length === 0) return [...this.#members.keys()];
    const node = this.node(path);
    if (node === null || this.tree.kind(node) !== "object") return [];
    return this.tree.inside(node).map((each) => this.tree.key(each) ?? "");
  }

  #place([first, ...rest]: Path): Path {
    const member = this.#members.get(String(first));
    const begin = member === undefined ? placeOf(String(first)) : this.tree.path(member);
    return [...begin, ...rest];
  }
}
