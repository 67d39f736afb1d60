import type { AgentView, BusyRow } from "../api/generated";
import { count, plural } from "../parts/quantity";
import { span, took } from "../parts/time";

/** How an agent is doing, from worst to best. */
export const HEALTHS = ["failing", "silent", "slow", "blocked", "away", "fine"] as const;
export type Health = (typeof HEALTHS)[number];

/** What an agent has promised: a sign of life every so often. */
export interface Promised {
  everyMs: number;
  /** So many may be missed. */
  misses: number;
}

/** What the broker expects where its settings say nothing else. */
export const PROMISED: Promised = { everyMs: 10_000, misses: 3 };

export interface Condition {
  health: Health;
  /** Why, as a sentence without its end. */
  why: string;
}

/** One in twenty that dies is more than bad luck. */
const FAILING_SHARE = 0.05;
const SLOW_P50 = 1_000_000;
const SLOW_P99 = 10_000_000;
/** So many that wait are a jam. */
const JAM = 100;

/** How many heartbeats an agent owes; none if it never promised any. */
export function missed(
  { heartbeatAt }: Pick<AgentView, "heartbeatAt">,
  { everyMs }: Promised,
  now: number,
): number | null {
  if (heartbeatAt === null) return null;
  return Math.max(0, Math.floor((now - Date.parse(heartbeatAt)) / everyMs));
}

/** How an agent is doing, by what the registry and its figures say. */
export function condition(
  agent: Pick<
    AgentView,
    "blocked" | "status" | "connections" | "heartbeatAt" | "queued" | "lastSeen"
  >,
  figures: Pick<BusyRow, "processed" | "dead" | "p50Micros" | "p99Micros"> | undefined,
  now: number,
  promised: Promised = PROMISED,
): Condition {
  if (agent.blocked) return { health: "blocked", why: "you keep it out" };
  const owed = missed(agent, promised, now) ?? 0;
  const gone = agent.status === "unavailable" || agent.status === "stopping";
  if (agent.connections > 0 && (owed > promised.misses || agent.status === "unavailable")) {
    const why =
      owed > promised.misses
        ? `connected, but ${plural(owed, "heartbeat")} missed`
        : "connected, but unavailable";
    return { health: "silent", why };
  }
  const died = figures?.dead ?? 0;
  const handled = (figures?.processed ?? 0) + died;
  if (died > 0 && died >= handled * FAILING_SHARE)
    return { health: "failing", why: `${count(died)} of ${count(handled)} died in its hands` };
  if (gone) return { health: "away", why: away(agent, now) };
  if (agent.queued >= JAM)
    return { health: "slow", why: `${plural(agent.queued, "message")} wait for it` };
  const { p50Micros = null, p99Micros = null } = figures ?? {};
  if (p50Micros !== null && p50Micros >= SLOW_P50)
    return { health: "slow", why: `half of its messages take ${took(p50Micros)} or more` };
  if (p99Micros !== null && p99Micros >= SLOW_P99)
    return { health: "slow", why: `some of its messages take ${took(p99Micros)} or more` };
  return {
    health: "fine",
    why: handled === 0 ? "nothing went wrong" : `${count(handled)} handled`,
  };
}

function away({ queued, lastSeen }: Pick<AgentView, "queued" | "lastSeen">, now: number): string {
  const since = `not here for ${span((now - Date.parse(lastSeen)) / 1_000)}`;
  return queued === 0 ? since : `${since}; ${plural(queued, "message")} wait for it`;
}

/** Whether somebody should look at it. */
export function isTrouble(health: Health): boolean {
  return health === "failing" || health === "silent" || health === "slow";
}
