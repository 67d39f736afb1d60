import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { AllowEntry, EditAllowList, FeedEvent } from "../api/generated";
import { oneAtATime } from "../parts/one-at-a-time";
import { visible } from "../parts/visible";
import { STILL_BUSY, type Notices } from "./notices.svelte";

/** Who may announce themselves. An empty list lets everyone try. */
export class AllowList {
  entries = $state.raw<readonly AllowEntry[] | null>(null);
  trouble = $state<string | null>(null);
  /** Why the last entry was not taken. */
  addTrouble = $state<string | null>(null);
  busy = $state(false);

  readonly #client: Client;
  readonly #notices: Notices;
  readonly #read = oneAtATime(() => this.#readOnce());
  #watched = false;

  constructor(client: Client, notices: Notices) {
    this.#client = client;
    this.#notices = notices;
  }

  /** Keeps the list true from now on. Returns how to stop. */
  watch(): () => void {
    this.#watched = true;
    void this.#read();
    return () => (this.#watched = false);
  }

  take(event: FeedEvent): void {
    const changed = event.type === "snapshot" || event.discovery;
    if (this.#watched && changed) void this.#read();
  }

  retry(): void {
    this.trouble = null;
    void this.#read();
  }

  /** Adds an entry, or gives one that is there other words. Returns whether that worked. */
  async add(pattern: string, note: string): Promise<boolean> {
    const before = this.entries?.find((entry) => entry.pattern === pattern);
    this.addTrouble = null;
    const added = await this.#edit({ add: [{ pattern, note }], remove: [] }, (message) => {
      this.addTrouble = message;
    });
    if (!added) return false;
    const takeBack: EditAllowList =
      before === undefined
        ? { add: [], remove: [pattern] }
        : { add: [{ pattern, note: before.note }], remove: [] };
    this.#offerUndo(`${visible(pattern)} is on the list.`, takeBack);
    return true;
  }

  async remove({ pattern, note }: AllowEntry): Promise<void> {
    if (!(await this.#edit({ add: [], remove: [pattern] }))) return;
    const closing = this.entries?.length === 0 ? " Now everyone may announce themselves." : "";
    this.#offerUndo(`${visible(pattern)} is off the list.${closing}`, {
      add: [{ pattern, note }],
      remove: [],
    });
  }

  #offerUndo(text: string, edit: EditAllowList): void {
    const undo = async () => {
      if (await this.#edit(edit)) this.#notices.show("The list is as it was before.");
    };
    this.#notices.show(text, { label: "Undo", run: () => void undo() });
  }

  async #edit(
    edit: EditAllowList,
    tell = (message: string) => this.#notices.show(message),
  ): Promise<boolean> {
    if (this.busy) {
      tell(STILL_BUSY);
      return false;
    }
    this.busy = true;
    try {
      this.entries = (await this.#client.call("editAllowList", edit)).entries;
      return true;
    } catch (reason) {
      tell(CallError.from(reason).message);
      return false;
    } finally {
      this.busy = false;
    }
  }

  async #readOnce(): Promise<void> {
    try {
      this.entries = (await this.#client.call("allowList", {})).entries;
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }
}
