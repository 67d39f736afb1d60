import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { AgentId, AgentView, Issued, Priority } from "../api/generated";

/** What the operator is about to do: a token for an agent that is here, for a new one, or none any more. */
export type TokenQuestion =
  { what: "add" } | { what: "issue" | "rotate" | "revoke"; agent: AgentId; ceiling: Priority };

/** Tokens of agents: made, made anew, taken away. A token is held only while it is shown. */
export class Tokens {
  asking = $state.raw<TokenQuestion | null>(null);
  /** A token that was made just now. It cannot be shown again. */
  issued = $state.raw<Issued | null>(null);
  busy = $state(false);
  trouble = $state<string | null>(null);

  readonly #client: Client;
  readonly #say: (text: string) => void;

  /** `say` tells the operator what was done. */
  constructor(client: Client, say: (text: string) => void) {
    this.#client = client;
    this.#say = say;
  }

  /** Asks for what a new agent needs. */
  add(): void {
    this.#begin({ what: "add" });
  }

  /** Asks before something is done about an agent's token. */
  ask(what: "issue" | "rotate" | "revoke", agent: Pick<AgentView, "id" | "token">): void {
    this.#begin({ what, agent: agent.id, ceiling: agent.token?.ceiling ?? "URGENT" });
  }

  cancel(): void {
    this.asking = null;
    this.trouble = null;
  }

  /** Makes a token, which is then shown once. */
  async issue(agent: AgentId, ceiling: Priority): Promise<void> {
    await this.#exclusively(async () => {
      this.issued = await this.#client.call("issueToken", { agent, ceiling });
    });
  }

  async revoke(agent: AgentId): Promise<void> {
    await this.#exclusively(async () => {
      await this.#client.call("revokeToken", { agent });
      this.#say(`The token of ${agent} is revoked.`);
    });
  }

  /** The token was seen; nothing here remembers it. */
  forget(): void {
    this.issued = null;
  }

  #begin(question: TokenQuestion): void {
    this.trouble = null;
    this.asking = question;
  }

  async #exclusively(act: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.trouble = null;
    try {
      await act();
      this.asking = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    } finally {
      this.busy = false;
    }
  }
}
