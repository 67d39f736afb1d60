import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { ChangedSetting, SettingView } from "../api/generated";
import { same, saved } from "./setting-value";

const PAGE = 50;
/** As many as the broker gives at once. */
const MOST_AT_ONCE = 500;

/** The changes that were made to the settings, newest first. */
export class SettingHistory {
  changes = $state.raw<readonly ChangedSetting[]>([]);
  /** Whether the list was read. */
  answered = $state(false);
  trouble = $state<string | null>(null);
  next = $state.raw<number | null>(null);

  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Reads about as many as are here, from the newest on. */
  read(): Promise<void> {
    const limit = Math.min(MOST_AT_ONCE, Math.max(PAGE, this.changes.length));
    return this.#page({ limit }, []);
  }

  async readOlder(): Promise<void> {
    if (this.next !== null) await this.#page({ limit: PAGE, before: this.next }, this.changes);
  }

  async #page(
    query: { limit: number; before?: number },
    above: readonly ChangedSetting[],
  ): Promise<void> {
    try {
      const page = await this.#client.call("settingHistory", query);
      this.changes = [...above, ...page.changes];
      this.next = page.next;
      this.answered = true;
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }
}

/** Whether a change can be taken back: it is what the setting says now, and what it said before is known. */
export function canUndo(change: ChangedSetting, setting: SettingView | undefined): boolean {
  if (setting === undefined || setting.fixedBy !== null || change.before === null) return false;
  return change.after !== null && same(saved(setting), change.after);
}
