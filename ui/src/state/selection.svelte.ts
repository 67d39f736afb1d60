import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { FeedEvent, MessageDetail, MessageId } from "../api/generated";
import { throttle } from "../parts/throttle";

const REFRESH_MS = 300;

/** What the operator looks at: one message on Flow, one agent on Agents. */
export class Selection {
  message = $state<{ id: MessageId; seq: number } | null>(null);
  detail = $state.raw<MessageDetail | null>(null);
  trouble = $state<string | null>(null);
  agent = $state<string | null>(null);

  readonly #client: Client;
  readonly #refresh = throttle(() => void this.#read(), REFRESH_MS);

  constructor(client: Client) {
    this.#client = client;
  }

  open({ id, seq = -1 }: { id: MessageId; seq?: number }): void {
    if (this.message?.id === id) return;
    this.message = { id, seq };
    this.trouble = null;
    void this.#read();
  }

  close(): void {
    this.message = null;
    this.detail = null;
    this.trouble = null;
  }

  /** The open message may have moved on. */
  take(event: FeedEvent): void {
    const seq = this.message?.seq;
    if (seq === undefined) return;
    const moved = event.type === "snapshot" || event.moved.some((each) => each.seq === seq);
    if (moved) this.#refresh.ask();
  }

  async #read(): Promise<void> {
    const wanted = this.message;
    if (wanted === null) return;
    try {
      const detail = await this.#client.call("message", { id: wanted.id });
      if (this.message?.id !== wanted.id) return;
      this.detail = detail;
      // Whoever opened it may have known its id only.
      if (wanted.seq !== detail.row.seq) this.message = { id: wanted.id, seq: detail.row.seq };
    } catch (reason) {
      if (this.message?.id === wanted.id) this.trouble = CallError.from(reason).message;
    }
  }
}
