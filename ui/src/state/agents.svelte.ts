import type { AgentStatus, AgentView } from "../api/generated";
import { throttle } from "../parts/throttle";

const SHOWN_MS = 200;
const MINUTE = 60;

/** How the registry's states are grouped on screen. */
export type Presence = "ready" | "busy" | "unavailable";

export function presence(status: AgentStatus): Presence {
  switch (status) {
    case "ready":
    case "starting":
      return "ready";
    case "busy":
      return "busy";
    case "stopping":
    case "unavailable":
      return "unavailable";
  }
}

/**
 * What a person calls an agent: as the operator named it, or as it announced itself. The id of one that was
 * found on the network is a number that nobody reads.
 */
export function nameOf({ id, label, name, doors }: AgentView): string {
  if (label !== null) return label;
  const found = doors.length > 0 && doors.every((door) => door === "discovery");
  return found && name !== "" ? name : id;
}

/** The same for one of whom only the id is at hand; that alone if it is not known. */
export function calledName(id: string, known: ReadonlyMap<string, AgentView>): string {
  const agent = known.get(id);
  return agent === undefined ? id : nameOf(agent);
}

/** For so long an agent that came counts as new. */
const NEW_MS = 2_500;

/** Everyone the registry knows, and how much each said and heard in the last minute. */
export class Agents {
  /** In order of their ids; a new list a few times a second at most. */
  list = $state.raw<readonly AgentView[]>([]);
  /** Deliveries and sendings a second, for the last minute; a new table every second. */
  activity = $state.raw<ReadonlyMap<string, readonly number[]>>(new Map());
  counts = $derived(tally(this.list));
  byId = $derived<ReadonlyMap<string, AgentView>>(
    new Map(this.list.map((agent) => [agent.id, agent])),
  );

  readonly #known = new Map<string, AgentView>();
  readonly #arrivals = new Map<string, number>();
  readonly #samples = new Map<string, { last: number; values: number[] }>();
  readonly #onJoin: (agent: AgentView) => void;
  readonly #show = throttle(() => {
    this.list = [...this.#known.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }, SHOWN_MS);

  /** `onJoin` hears of an agent that was not here a moment ago. */
  constructor(onJoin: (agent: AgentView) => void) {
    this.#onJoin = onJoin;
  }

  /** Whether this one is known, as of the last word of the broker. */
  has(id: string): boolean {
    return this.#known.has(id);
  }

  replace(agents: readonly AgentView[]): void {
    this.#known.clear();
    for (const agent of agents) this.#known.set(agent.id, agent);
    for (const kept of [this.#arrivals, this.#samples])
      for (const id of kept.keys()) if (!this.#known.has(id)) kept.delete(id);
    this.#show.ask();
  }

  update(agents: readonly AgentView[]): void {
    if (agents.length === 0) return;
    for (const agent of agents) {
      const before = this.#known.get(agent.id);
      this.#known.set(agent.id, agent);
      if (agent.connections > 0 && (before?.connections ?? 0) === 0) {
        this.#arrivals.set(agent.id, performance.now());
        this.#onJoin(agent);
      }
    }
    this.#show.ask();
  }

  /** Whether an agent came a moment ago: also one that was known, and was away. */
  isNew(id: string, now = performance.now()): boolean {
    const at = this.#arrivals.get(id);
    return at !== undefined && now - at < NEW_MS;
  }

  /** Called once a second: what each agent did since the last time. */
  sample(): void {
    const activity = new Map<string, readonly number[]>();
    for (const agent of this.#known.values()) {
      const total = agent.sent + agent.received;
      const sample = this.#samples.get(agent.id) ?? {
        last: total,
        values: Array<number>(MINUTE).fill(0),
      };
      // Counters begin again with the broker; less than before is no message.
      const values = [...sample.values.slice(1), Math.max(0, total - sample.last)];
      this.#samples.set(agent.id, { last: total, values });
      activity.set(agent.id, values);
    }
    this.activity = activity;
  }
}

function tally(agents: readonly AgentView[]): Record<"all" | Presence, number> {
  const counts = { all: agents.length, ready: 0, busy: 0, unavailable: 0 };
  for (const agent of agents) counts[presence(agent.status)]++;
  return counts;
}
