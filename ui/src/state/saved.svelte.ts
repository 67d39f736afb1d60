import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { Saved, SavedKind } from "../api/generated";
import type { Notices } from "./notices.svelte";

/** As long as a name may be; the broker holds it to that. */
export const LONGEST_NAME = 80;

/** What the operator keeps for another time: filters, and messages to send again and again. */
export class SavedThings {
  list = $state.raw<readonly Saved[]>([]);
  /** Why the list could not be read. */
  trouble = $state<string | null>(null);
  filters = $derived(this.list.filter((each) => each.kind === "filter"));
  templates = $derived(this.list.filter((each) => each.kind === "template"));

  readonly #client: Client;
  readonly #notices: Notices;
  #read = false;

  constructor(client: Client, notices: Notices) {
    this.#client = client;
    this.#notices = notices;
  }

  /** Reads the list if that never worked; whoever shows it calls this first. */
  async want(): Promise<void> {
    if (!this.#read) await this.refresh();
  }

  /** Reads the list anew: another window may have changed it. */
  async refresh(): Promise<void> {
    try {
      this.#take((await this.#client.call("saved", {})).saved);
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }

  /** What is kept under this name. */
  find(kind: SavedKind, name: string): Saved | undefined {
    return this.list.find((each) => each.kind === kind && each.name === name);
  }

  /** Keeps it, in the place of what has the same name. Returns whether that worked. */
  async keep(kind: SavedKind, name: string, text: string): Promise<boolean> {
    const known = name.trim();
    const before = this.find(kind, known);
    if (!(await this.#save(kind, known, text))) return false;
    if (before === undefined) this.#notices.show(`“${known}” is saved.`);
    else if (before.text !== text)
      this.#notices.show(`“${known}” is saved anew.`, {
        label: "Undo",
        run: () => void this.#save(kind, known, before.text),
      });
    return true;
  }

  /** Gives it another name. One that is taken already is refused. Returns whether that worked. */
  async rename(kind: SavedKind, from: string, to: string): Promise<boolean> {
    const name = to.trim();
    const kept = this.find(kind, from);
    if (kept === undefined || name === from) return kept !== undefined;
    if (this.find(kind, name) !== undefined) {
      this.#notices.show(`There is a “${name}” already.`);
      return false;
    }
    // First the new one: whatever fails, it is there at least once.
    return (await this.#save(kind, name, kept.text)) && this.#save(kind, from);
  }

  /** Forgets it, and offers to take that back. */
  async forget(kind: SavedKind, name: string): Promise<void> {
    const kept = this.find(kind, name);
    if (kept === undefined || !(await this.#save(kind, name))) return;
    this.#notices.show(`“${name}” is deleted.`, {
      label: "Undo",
      run: () => void this.#save(kind, name, kept.text),
    });
  }

  async #save(kind: SavedKind, name: string, text?: string): Promise<boolean> {
    try {
      const change = text === undefined ? { kind, name } : { kind, name, text };
      this.#take((await this.#client.call("save", change)).saved);
      return true;
    } catch (reason) {
      this.#notices.show(CallError.from(reason).message);
      return false;
    }
  }

  #take(saved: readonly Saved[]): void {
    this.#read = true;
    this.trouble = null;
    this.list = saved;
  }
}
