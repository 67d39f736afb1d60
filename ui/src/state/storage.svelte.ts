import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { BackupView, StorageView } from "../api/generated";
import { oneAtATime } from "../parts/one-at-a-time";
import { visible } from "../parts/visible";
import { STILL_BUSY } from "./notices.svelte";

/** What the operator is about to do, and is asked about first. */
export type StorageQuestion =
  | { what: "restore"; backup: BackupView }
  | { what: "restoreFile" }
  | { what: "delete"; backup: BackupView }
  | { what: "compact" };

/** While something is done to the database, how it goes is read this often. */
const POLL_MS = 500;

/** What is kept where: the data folder, its database and the copies of it. */
export class Storage {
  view = $state.raw<StorageView | null>(null);
  trouble = $state<string | null>(null);
  asking = $state.raw<StorageQuestion | null>(null);
  askTrouble = $state<string | null>(null);
  busy = $state(false);

  /** Something is done to the database now. */
  working = $derived(this.view?.work != null && this.view.work.endedAt === null);

  readonly #client: Client;
  readonly #say: (text: string) => void;
  readonly #read = oneAtATime(() => this.#readOnce());
  #watched = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `say` tells the operator what was done. */
  constructor(client: Client, say: (text: string) => void) {
    this.#client = client;
    this.#say = say;
  }

  /** Keeps the view true from now on. Returns how to stop. */
  watch(): () => void {
    this.#watched = true;
    this.read();
    return () => {
      this.#watched = false;
      clearTimeout(this.#timer);
    };
  }

  read(): void {
    void this.#read();
  }

  ask(question: StorageQuestion): void {
    this.askTrouble = null;
    this.asking = question;
  }

  cancel(): void {
    this.asking = null;
    this.askTrouble = null;
  }

  /** Begins to copy the database. */
  async backUp(): Promise<void> {
    await this.#tell(() => this.#client.call("backUp", {}));
  }

  /** Begins to look for damage. */
  async check(): Promise<void> {
    await this.#tell(() => this.#client.call("checkStorage", {}));
  }

  /** Begins to give back what is empty. */
  async compact(): Promise<void> {
    await this.#answer(() => this.#client.call("compact", {}));
  }

  async delete(backup: BackupView): Promise<void> {
    const { name } = backup;
    const went = await this.#answer(() => this.#client.call("deleteBackup", { name }));
    if (went) this.#say(`${visible(name)} is deleted.`);
  }

  /** Lets a copy take the database's place at the next start. */
  async restore(file: string): Promise<void> {
    await this.#answer(() => this.#client.call("restoreBackup", { file }));
  }

  /** Takes that wish back. */
  async keep(): Promise<void> {
    const kept = await this.#tell(() => this.#client.call("restoreBackup", {}));
    if (kept) this.#say("The database stays as it is.");
  }

  /** Does what was asked about; if it fails, the question stays with the reason. */
  async #answer(call: () => Promise<StorageView>): Promise<boolean> {
    this.askTrouble = null;
    const went = await this.#exclusively(call, (message) => (this.askTrouble = message));
    if (went) this.asking = null;
    return went;
  }

  /** Does what needs no question; if it fails, that is said. */
  #tell(call: () => Promise<StorageView>): Promise<boolean> {
    return this.#exclusively(call, this.#say);
  }

  /** Does one thing at a time. Returns whether it worked. */
  async #exclusively(
    call: () => Promise<StorageView>,
    tell: (message: string) => void,
  ): Promise<boolean> {
    if (this.busy) {
      tell(STILL_BUSY);
      return false;
    }
    this.busy = true;
    try {
      this.#show(await call());
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
      this.#show(await this.#client.call("storage", {}));
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
      this.#lookAgain();
    }
  }

  #show(view: StorageView): void {
    this.view = view;
    this.#lookAgain();
  }

  /** Looks how it goes a moment later, while something is done. */
  #lookAgain(): void {
    clearTimeout(this.#timer);
    if (this.#watched && this.working) this.#timer = setTimeout(() => this.read(), POLL_MS);
  }
}
