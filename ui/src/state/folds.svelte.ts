import { recall, remember } from "./remembered";

/** Which parts of a panel the operator has folded, or unfolded; remembered on this machine. */
export class Folds {
  #open = $state.raw<Readonly<Record<string, boolean>>>({});
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
    this.#open = read(recall(name));
  }

  isOpen(part: string, usually: boolean): boolean {
    return this.#open[part] ?? usually;
  }

  set(part: string, open: boolean): void {
    this.#open = { ...this.#open, [part]: open };
    remember(this.#name, JSON.stringify(this.#open));
  }
}

function read(text: string | null): Record<string, boolean> {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    return Object.fromEntries(
      Object.entries(found).filter(
        (each): each is [string, boolean] => typeof each[1] === "boolean",
      ),
    );
  } catch {
    return {};
  }
}
