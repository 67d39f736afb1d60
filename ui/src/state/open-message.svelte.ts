import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { FeedEvent, MessageDetail, MessageId } from "../api/generated";
import { throttle } from "../parts/throttle";

const REFRESH_MS = 300;

/** One message that the operator looks at, with its whole life, kept true while it lives. */
export class OpenMessage {
  message = $state<{ id: MessageId; seq: number } | null>(null);
  /** The message's row should come into sight, once it is known where it is. */
  sought = $state(false);
  trouble = $state<string | null>(null);

  /** What is known of the open message; never of the one before it. */
  detail = $derived.by(() => (this.#latest?.row.id === this.message?.id ? this.#latest : null));

  readonly #client: Client;
  #openLetters = -1;
  #latest = $state.raw<MessageDetail | null>(null);
  readonly #refresh = throttle(() => void this.#ask(), REFRESH_MS);

  constructor(client: Client) {
    this.#client = client;
  }

  open({ id, seq = -1 }: { id: MessageId; seq?: number }): void {
    if (this.message?.id === id) return;
    this.message = { id, seq };
    this.sought = false;
    this.trouble = null;
    void this.#ask();
  }

  /** Opens a message that was not found in the table, and has its row looked for there. */
  show(message: { id: MessageId; seq?: number }): void {
    this.open(message);
    this.sought = true;
  }

  close(): void {
    this.message = null;
    this.sought = false;
    this.#latest = null;
    this.trouble = null;
  }

  /** Reads it anew, soon. */
  refresh(): void {
    if (this.message !== null) this.#refresh.ask();
  }

  /** The open message may have moved on. */
  take(event: FeedEvent): void {
    const seq = this.message?.seq;
    const moved = event.type === "snapshot" || event.moved.some((each) => each.seq === seq);
    const { openLetters } = event.figures;
    // What is done with a dead letter moves no message.
    const dealtWith = openLetters !== this.#openLetters && this.detail?.letter != null;
    this.#openLetters = openLetters;
    if (moved || dealtWith) this.refresh();
  }

  /** Called once a second: the feed's filter may leave out the message that is looked at. */
  second(): void {
    if (this.detail?.row.state === "waiting") this.#refresh.ask();
  }

  async #ask(): Promise<void> {
    const wanted = this.message;
    if (wanted === null) return;
    try {
      const detail = await this.#client.call("message", { id: wanted.id });
      if (this.message?.id !== wanted.id) return;
      this.#latest = detail;
      this.trouble = null;
      // Whoever opened it may have known its id only.
      if (wanted.seq !== detail.row.seq) this.message = { id: wanted.id, seq: detail.row.seq };
    } catch (reason) {
      if (this.message?.id === wanted.id) this.trouble = CallError.from(reason).message;
    }
  }
}
