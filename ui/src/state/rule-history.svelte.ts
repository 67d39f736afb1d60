import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { RuleChange } from "../api/generated";

const PAGE = 50;
/** As many as the broker gives at once. */
const MOST_AT_ONCE = 500;

/** The changes that were made to the rules, newest first. */
export class RuleHistory {
  changes = $state.raw<readonly RuleChange[]>([]);
  /** Whether the list was read. */
  answered = $state(false);
  trouble = $state<string | null>(null);
  /** Why a change could not be taken back. */
  undoTrouble = $state.raw<{ change: number; message: string } | null>(null);
  /** The change that is being taken back. */
  undoing = $state<number | null>(null);
  next = $state.raw<number | null>(null);

  readonly #client: Client;
  readonly #changed: () => void;

  /** `changed` hears that the rules are others now. */
  constructor(client: Client, changed: () => void) {
    this.#client = client;
    this.#changed = changed;
  }

  /** Reads about as many as are here, from the newest on. */
  read(): Promise<void> {
    const limit = Math.min(MOST_AT_ONCE, Math.max(PAGE, this.changes.length));
    return this.#page({ limit }, []);
  }

  async readOlder(): Promise<void> {
    if (this.next !== null) await this.#page({ limit: PAGE, before: this.next }, this.changes);
  }

  /** Takes one change back. Returns whether that worked. */
  async undo(change: number): Promise<boolean> {
    if (this.undoing !== null) return false;
    this.undoing = change;
    this.undoTrouble = null;
    try {
      await this.#client.call("undoRules", { change });
      this.#changed();
      return true;
    } catch (reason) {
      this.undoTrouble = { change, message: CallError.from(reason).message };
      return false;
    } finally {
      this.undoing = null;
    }
  }

  async #page(
    query: { limit: number; before?: number },
    above: readonly RuleChange[],
  ): Promise<void> {
    try {
      const page = await this.#client.call("ruleHistory", query);
      this.changes = [...above, ...page.changes];
      this.next = page.next;
      this.answered = true;
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }
}
