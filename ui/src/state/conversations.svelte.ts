import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { ConversationPage, ConversationRow, FeedEvent } from "../api/generated";
import { debounce, throttle } from "../parts/throttle";
import { inPlace } from "./conversations-order";
import { OpenConversation } from "./open-conversation.svelte";

const PAGE = 60;
/** As many as the broker gives at once. */
const MOST_AT_ONCE = 200;
/** Reading more than this again and again would keep the broker busy. */
const MOST_KEPT = 600;
const REFRESH_MS = 1_000;
const TYPING_MS = 150;

/** The Conversations screen: which conversations, those that are here, and the one that is open. */
export class Conversations {
  text = $state("");
  /** Only those in which something failed; only those whose session goes on. */
  failed = $state(false);
  active = $state(false);
  /** Those that were last spoken in first, without a gap; more are read when wanted. */
  rows = $state.raw<readonly ConversationRow[]>([]);
  /** Whether what is here answers the question asked last. */
  answered = $state(false);
  trouble = $state<string | null>(null);
  /** How many would stand elsewhere if nobody pointed at the list. */
  waiting = $state(0);
  readonly open: OpenConversation;

  readonly #client: Client;
  readonly #refresh = throttle(() => void this.#read(), REFRESH_MS);
  readonly #typing = debounce(() => this.#ask(), TYPING_MS);
  #next: number | null = null;
  #watched = false;
  #accepted = -1;
  #dead = -1;
  /** Counts the questions: an answer to an older one is thrown away. */
  #question = 0;
  #reading = false;
  #again = false;
  /** Somebody points at the list: it keeps its order, and what is true waits here. */
  #held = false;
  #latest: readonly ConversationRow[] = [];

  constructor(client: Client) {
    this.#client = client;
    this.open = new OpenConversation(client);
  }

  get narrowed(): boolean {
    return this.text.trim() !== "" || this.failed || this.active;
  }

  /** Keeps the list true from now on. Returns how to stop. */
  watch(): () => void {
    this.#watched = true;
    this.#refresh.ask();
    this.open.refresh();
    return () => {
      this.#watched = false;
      this.#held = false;
      this.#refresh.stop();
    };
  }

  take(event: FeedEvent): void {
    const { accepted, dead } = event.totals;
    const known = event.type === "snapshot" ? 0 : event.rows.length;
    // The filter of Flow may have left out what was said in a conversation.
    const unseen = accepted - this.#accepted > known;
    const spoken = event.rows.some((row) => row.conversationId !== null);
    // A session is opened and completed without a message.
    const changed =
      unseen || spoken || dead !== this.#dead || event.type === "snapshot" || event.sessions;
    this.#accepted = accepted;
    this.#dead = dead;
    if (!this.#watched) return;
    if (changed) this.#refresh.ask();
    this.open.take(event);
  }

  /** Called once a second. */
  second(): void {
    if (!this.#watched) return;
    this.open.second();
  }

  /** The text to look for was changed. */
  typed(): void {
    this.#typing.ask();
  }

  /** Shows only these, or all of them. */
  narrow(change: { failed?: boolean; active?: boolean }): void {
    this.failed = change.failed ?? this.failed;
    this.active = change.active ?? this.active;
    this.#ask();
  }

  /** Keeps the order while somebody points at the list. */
  hold(on: boolean): void {
    this.#held = on;
    if (!on && this.waiting > 0) this.#show(this.#latest);
  }

  /** Puts the list into its order at once. */
  settle(): void {
    this.#show(this.#latest);
  }

  /** Shows all of them again. */
  widen(): void {
    this.text = "";
    this.failed = false;
    this.active = false;
    this.#ask();
  }

  /** Reads the next page, below the last row that is here. */
  async loadOlder(): Promise<void> {
    const before = this.#next;
    if (before === null || this.#reading || this.trouble !== null) return;
    await this.#exclusively(async (current) => {
      const page = await this.#page(PAGE, before);
      if (!current()) return;
      this.#latest = [...this.#latest, ...page.rows];
      this.rows = [...this.rows, ...page.rows];
      this.#next = page.next;
    });
  }

  /** Tries again after the list could not be read. */
  retry(): void {
    this.trouble = null;
    void this.#read();
  }

  #ask(): void {
    this.#typing.stop();
    this.#question++;
    this.answered = false;
    this.trouble = null;
    void this.#read();
  }

  /** Reads about as many rows as are here, from the newest on. */
  async #read(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    await this.#exclusively(async (current) => {
      const here = Math.min(this.rows.length, MOST_KEPT);
      const wanted = this.answered ? Math.max(PAGE, here) : PAGE;
      const rows: ConversationRow[] = [];
      let next: number | null = null;
      do {
        const page = await this.#page(Math.min(MOST_AT_ONCE, wanted - rows.length), next);
        if (!current()) return;
        rows.push(...page.rows);
        next = page.next;
      } while (next !== null && rows.length < wanted);
      this.#followOpen(rows);
      this.#latest = rows;
      if (this.#held && this.answered && this.rows.length > 0) this.#showInPlace();
      else this.#show(rows);
      this.#next = next;
      this.answered = true;
    });
  }

  #show(rows: readonly ConversationRow[]): void {
    this.rows = rows;
    this.waiting = 0;
  }

  #showInPlace(): void {
    const { rows, waiting } = inPlace(this.rows, this.#latest);
    this.rows = rows;
    this.waiting = waiting;
  }

  /** The list knows of what was said in the open conversation, also where the feed does not. */
  #followOpen(rows: readonly ConversationRow[]): void {
    const same = (row: ConversationRow) => row.id === this.open.id;
    const [before, now] = [this.rows.find(same), rows.find(same)];
    if (before === undefined || now === undefined) return;
    const { lastSeq, failed, status } = before;
    if (lastSeq !== now.lastSeq || failed !== now.failed || status !== now.status)
      this.open.refresh();
  }

  #page(limit: number, before: number | null): Promise<ConversationPage> {
    const text = this.text.trim();
    return this.#client.call("conversations", {
      limit,
      ...(text === "" ? {} : { text }),
      ...(this.failed ? { failed: true } : {}),
      ...(this.active ? { active: true } : {}),
      ...(before === null ? {} : { before }),
    });
  }

  /** One reading at a time; whoever asks meanwhile is served by one more. */
  async #exclusively(read: (current: () => boolean) => Promise<void>): Promise<void> {
    const question = this.#question;
    const current = () => question === this.#question;
    this.#reading = true;
    try {
      await read(current);
      if (current()) this.trouble = null;
    } catch (reason) {
      if (current()) this.trouble = CallError.from(reason).message;
    } finally {
      this.#reading = false;
      if (this.#again || !current()) {
        this.#again = false;
        void this.#read();
      }
    }
  }
}
