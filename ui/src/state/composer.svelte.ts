import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { MessageDetail, SendResult } from "../api/generated";
import { onTheBus } from "./bus-words";

/** After this long nobody wants to watch a word; the message is with the broker by then. */
const PATIENCE_MS = 1_000;
const EXAMPLE = '{\n  "type": "plaintext_message",\n  "text": "hello"\n}';

/** The message the operator is writing. It is kept when the dialog closes, until it was sent. */
export class Composer {
  open = $state(false);
  topic = $state("");
  payload = $state(EXAMPLE);
  /** How the message sent last is doing, until it is answered or another is written. */
  stage = $state<"none" | "sending" | "waiting">("none");
  /** The topic of the message sent last; what is in the field may be the next. */
  sentTo = $state("");
  result = $state.raw<SendResult | null>(null);
  trouble = $state<string | null>(null);

  readonly #client: Client;
  readonly #tell: (text: string) => void;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #sent = 0;

  /** `tell` hears of a message that failed when the dialog no longer speaks of it. */
  constructor(client: Client, tell: (text: string) => void) {
    this.#client = client;
    this.#tell = tell;
  }

  /** Opens the dialog, filled in where something is given. */
  write(given: { topic?: string; payload?: string } = {}): void {
    if (given.topic !== undefined) this.topic = given.topic;
    if (given.payload !== undefined) this.payload = given.payload;
    this.#forget();
    this.open = true;
  }

  /** Opens the dialog with what a message said, to send it once more. */
  again(detail: MessageDetail): void {
    this.write(onTheBus(detail));
  }

  /** Sends what is written. An answer may take as long as its recipient; the next message need not. */
  async send(): Promise<void> {
    this.#forget();
    const mine = this.#sent;
    const topic = this.topic;
    this.sentTo = topic;
    this.stage = "sending";
    this.#patience = setTimeout(() => (this.stage = "waiting"), PATIENCE_MS);
    try {
      const result = await this.#client.call("send", { topic, payload: this.payload });
      if (mine === this.#sent) this.result = result;
    } catch (reason) {
      const { message } = CallError.from(reason);
      if (mine === this.#sent) this.trouble = message;
      if (mine !== this.#sent || !this.open)
        this.#tell(`The message to ${topic} failed: ${message}`);
    } finally {
      if (mine === this.#sent) this.#settle();
    }
  }

  /** From now on the dialog speaks of another message than the one sent last. */
  #forget(): void {
    this.#sent++;
    this.#settle();
    this.result = null;
    this.trouble = null;
  }

  #settle(): void {
    clearTimeout(this.#patience);
    this.stage = "none";
  }
}
