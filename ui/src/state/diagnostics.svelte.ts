import type { Client } from "../api/client";
import { CallError } from "../api/error";

/** What one needs to know to help, as text without secrets. Read anew whenever it is wanted. */
export class Diagnostics {
  text = $state<string | null>(null);
  trouble = $state<string | null>(null);
  reading = $state(false);

  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async read(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    this.trouble = null;
    try {
      this.text = (await this.#client.call("diagnostics", {})).text;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    } finally {
      this.reading = false;
    }
  }
}
