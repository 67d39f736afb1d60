import { CallError } from "../api/error";
import type { AgentView, BlockAgent, NameAgent, Nothing } from "../api/generated";
import { agent } from "./fixtures";

/** The part of the fake broker that keeps agents out and gives them names. */
export class FakeAgents {
  readonly #known = new Map<string, AgentView>();
  /** Why nothing can be done about agents, if that is so. */
  trouble: string | null = null;

  disconnect(): Nothing {
    this.#mind();
    return {};
  }

  block({ agent: id, blocked }: BlockAgent): AgentView {
    return this.#change(id, { blocked, connections: blocked ? 0 : 1 });
  }

  name({ agent: id, name }: NameAgent): AgentView {
    return this.#change(id, { label: name ?? null });
  }

  #change(id: string, change: Partial<AgentView>): AgentView {
    this.#mind();
    const view = { ...(this.#known.get(id) ?? agent(id)), ...change };
    this.#known.set(id, view);
    return view;
  }

  #mind(): void {
    if (this.trouble !== null) throw new CallError("invalidRequest", this.trouble);
  }
}
