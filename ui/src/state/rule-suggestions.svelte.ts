import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { RuleSuggestions } from "../api/generated";

/** The fewest permissions that the traffic would get by with. Read when the operator asks for it. */
export class Suggestions {
  /** What was found last, and in the traffic of how many hours. */
  found = $state.raw<(RuleSuggestions & { hours: number }) | null>(null);
  asking = $state(false);
  trouble = $state<string | null>(null);

  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async ask(hours: number): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    this.trouble = null;
    try {
      this.found = { ...(await this.#client.call("suggestRules", { hours })), hours };
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    } finally {
      this.asking = false;
    }
  }
}
