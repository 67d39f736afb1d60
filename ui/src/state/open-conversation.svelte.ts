import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { ConversationDetail, ConversationId, FeedEvent } from "../api/generated";
import { throttle } from "../parts/throttle";
import { Diagram } from "./conversations-diagram.svelte";
import { Moments } from "./moment.svelte";
import { Player } from "./moment-player.svelte";
import { Attempts } from "./open-conversation-attempts.svelte";
import { OpenMessage } from "./open-message.svelte";

const REFRESH_MS = 1_000;
/** A long one takes a while to be read and drawn. */
const LONG = 500;
const LONG_REFRESH_MS = 4_000;

/** The ways to look at a conversation. */
export type ConversationView = "sequence" | "waterfall" | "messages" | "state";
/** What it can be exported as. */
export type ExportForm = "json" | "md" | "svg";

/** The conversation that the operator looks at, and the message of it that is open. */
export class OpenConversation {
  id = $state<ConversationId | null>(null);
  trouble = $state<string | null>(null);
  view = $state<ConversationView>("sequence");
  /** What the operator wants to have it exported as; taken by whoever does it. */
  wanted = $state<ExportForm | null>(null);
  /** What is known of the open conversation; never of the one before it. */
  detail = $derived.by(() => (this.#latest?.id === this.id ? this.#latest : null));
  readonly message: OpenMessage;
  readonly player = new Player();
  readonly moments: Moments;
  readonly diagram = new Diagram();
  readonly attempts: Attempts;

  readonly #client: Client;
  readonly #refresh = throttle(() => void this.#ask(), REFRESH_MS);
  readonly #refreshLong = throttle(() => void this.#ask(), LONG_REFRESH_MS);
  #latest = $state.raw<ConversationDetail | null>(null);
  #places: ReadonlySet<number> = new Set();
  #reading = false;
  #again = false;

  constructor(client: Client) {
    this.#client = client;
    this.message = new OpenMessage(client);
    this.moments = new Moments(client);
    this.attempts = new Attempts(client);
  }

  open(id: ConversationId): void {
    if (this.id === id) return;
    this.id = id;
    this.#begin();
    void this.#ask();
  }

  close(): void {
    this.id = null;
    this.#latest = null;
    this.#begin();
  }

  #begin(): void {
    this.trouble = null;
    this.message.close();
    this.player.now();
    this.player.follow([]);
    this.diagram.reset();
  }

  /** Tries again after it could not be read. */
  retry(): void {
    this.trouble = null;
    void this.#ask();
  }

  /** Reads it anew, soon. */
  refresh(): void {
    if (this.id === null) return;
    const long = (this.detail?.messages.length ?? 0) > LONG;
    (long ? this.#refreshLong : this.#refresh).ask();
  }

  take(event: FeedEvent): void {
    this.message.take(event);
    if (this.id === null) return;
    this.moments.stirred();
    const concerned =
      event.type === "snapshot" ||
      // What agents share changes without a message.
      event.sessions ||
      event.rows.some((row) => row.conversationId === this.id) ||
      event.moved.some((each) => this.#places.has(each.seq));
    if (concerned) this.refresh();
  }

  /** Called once a second. */
  second(): void {
    this.message.second();
  }

  /** One reading at a time: whoever runs through the list asks only for where they are by then. */
  async #ask(): Promise<void> {
    const wanted = this.id;
    if (wanted === null) return;
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      const detail = await this.#client.call("conversation", { id: wanted });
      if (this.id === wanted) {
        this.#latest = detail;
        this.#places = new Set(detail.messages.map(({ row }) => row.seq));
        this.trouble = null;
      }
    } catch (reason) {
      if (this.id === wanted) this.trouble = CallError.from(reason).message;
    } finally {
      this.#reading = false;
      if (this.#again) {
        this.#again = false;
        void this.#ask();
      }
    }
  }
}
