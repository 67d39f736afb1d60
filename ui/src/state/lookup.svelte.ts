import { CallError } from "../api/error";
import type { MessageId } from "../api/generated";

/** Something the broker knows about one message, asked for when someone looks at it. */
export class Lookup<Known> {
  /** What is known of the message asked about last; kept while it is asked anew. */
  known = $state.raw<Known | null>(null);
  trouble = $state<string | null>(null);

  readonly #ask: (id: MessageId) => Promise<Known>;
  #id: MessageId | null = null;

  constructor(ask: (id: MessageId) => Promise<Known>) {
    this.#ask = ask;
  }

  /** Asks about a message. What another one led to is forgotten. */
  async about(id: MessageId): Promise<void> {
    if (id !== this.#id) {
      this.known = null;
      this.trouble = null;
    }
    this.#id = id;
    try {
      const known = await this.#ask(id);
      if (id !== this.#id) return;
      this.known = known;
      this.trouble = null;
    } catch (reason) {
      if (id === this.#id) this.trouble = CallError.from(reason).message;
    }
  }
}
