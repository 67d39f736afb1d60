import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { AgentId, AgentView } from "../api/generated";
import { visible } from "../parts/visible";
import { calledBy } from "./agents-order";
import { STILL_BUSY, type Notices } from "./notices.svelte";

/** What the operator is about to do to an agent, and has to confirm. */
export interface AgentQuestion {
  what: "disconnect" | "block";
  agent: AgentView;
}

/** The longest name the broker takes. */
export const LONGEST_NAME = 80;

/** What the operator does to agents: send them away, keep them out, give them names. */
export class AgentActs {
  asking = $state.raw<AgentQuestion | null>(null);
  trouble = $state<string | null>(null);
  busy = $state(false);
  /** Whose name is being written. */
  naming = $state<AgentId | null>(null);

  readonly #client: Client;
  readonly #notices: Notices;
  readonly #changed: (agent: AgentView) => void;

  /** `changed` hears how an agent is now. */
  constructor(client: Client, notices: Notices, changed: (agent: AgentView) => void) {
    this.#client = client;
    this.#notices = notices;
    this.#changed = changed;
  }

  ask(what: AgentQuestion["what"], agent: AgentView): void {
    this.trouble = null;
    this.asking = { what, agent };
  }

  cancel(): void {
    this.asking = null;
    this.trouble = null;
  }

  /** Does what was asked about, now that it is confirmed. */
  async confirm(): Promise<void> {
    const { asking } = this;
    if (asking === null) return;
    const { what, agent } = asking;
    const done = await this.#act(
      () => (what === "block" ? this.#block(agent, true) : this.#disconnect(agent)),
      (message) => (this.trouble = message),
    );
    if (done) this.asking = null;
  }

  /** Lets a blocked agent in again. Nothing is asked: it can be taken back. */
  async unblock(agent: AgentView): Promise<void> {
    await this.#act(() => this.#block(agent, false));
  }

  /** Begins to write an agent's name. */
  beginNaming(agent: Pick<AgentView, "id">): void {
    this.naming = agent.id;
  }

  /** Gives an agent a name of the operator's own; an empty one takes it away. */
  async name(agent: AgentView, written: string): Promise<void> {
    const name = written.trim();
    // What has to wait stays in its field.
    if (!this.busy) this.naming = null;
    if (name !== (agent.label ?? "")) await this.#act(() => this.#name(agent, name, agent.label));
  }

  async #name(agent: AgentView, name: string, before: string | null): Promise<void> {
    const given = name === "" || name === agent.id ? {} : { name };
    this.#changed(await this.#client.call("nameAgent", { agent: agent.id, ...given }));
    const words = "name" in given ? `is called ${visible(name)}` : "goes by its id";
    this.#notices.show(`${visible(agent.id)} ${words} now.`, {
      label: "Undo",
      run: () => void this.name({ ...agent, label: given.name ?? null }, before ?? ""),
    });
  }

  async #block(agent: AgentView, blocked: boolean): Promise<void> {
    this.#changed(await this.#client.call("blockAgent", { agent: agent.id, blocked }));
    this.#notices.show(`${called(agent)} is ${blocked ? "kept out" : "let in again"}.`, {
      label: "Undo",
      run: () => void this.#act(() => this.#block(agent, !blocked)),
    });
  }

  async #disconnect(agent: AgentView): Promise<void> {
    await this.#client.call("disconnectAgent", { agent: agent.id });
    this.#notices.show(`${called(agent)} is disconnected. It may come back.`);
  }

  /** Does one thing at a time. Returns whether it worked. */
  async #act(
    act: () => Promise<void>,
    tell = (message: string) => this.#notices.show(message),
  ): Promise<boolean> {
    if (this.busy) {
      tell(STILL_BUSY);
      return false;
    }
    this.busy = true;
    this.trouble = null;
    try {
      await act();
      return true;
    } catch (reason) {
      tell(CallError.from(reason).message);
      return false;
    } finally {
      this.busy = false;
    }
  }
}

function called(agent: AgentView): string {
  return visible(calledBy(agent));
}
