import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { SendResult } from "../api/generated";

const EXAMPLE = '{\n  "type": "plaintext_message",\n  "text": "hello"\n}';

/** The message the operator is writing. It is kept when the dialog closes, until it was sent. */
export class Composer {
  open = $state(false);
  topic = $state("");
  payload = $state(EXAMPLE);
  sending = $state(false);
  result = $state.raw<SendResult | null>(null);
  trouble = $state<string | null>(null);

  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Opens the dialog, filled in where something is given. */
  write(given: { topic?: string; payload?: string } = {}): void {
    if (given.topic !== undefined) this.topic = given.topic;
    if (given.payload !== undefined) this.payload = given.payload;
    this.result = null;
    this.trouble = null;
    this.open = true;
  }

  async send(): Promise<void> {
    this.sending = true;
    this.result = null;
    this.trouble = null;
    try {
      this.result = await this.#client.call("send", { topic: this.topic, payload: this.payload });
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    } finally {
      this.sending = false;
    }
  }
}
