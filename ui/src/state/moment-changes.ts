import type { AgentId, AgentThen, Moment, Rule } from "../api/generated";

/** An agent at a moment and now; none where it was or is not known. */
export interface AgentSince {
  id: AgentId;
  then: AgentThen | null;
  now: AgentThen | null;
  /** Whether something about it is different now; nobody knows without a now. */
  differs: boolean;
}

/** A rule that was in force at a moment, or is now. */
export interface RuleSince {
  rule: Rule;
  change: "same" | "gone" | "new";
}

/** What is different between a moment and now. */
export interface Since {
  /** Those that matter first, then by name. */
  agents: AgentSince[];
  /** Those that changed first. */
  rules: RuleSince[];
}

/** Compares a moment with now. `first` are the agents that stand at the top. */
export function since(then: Moment, now: Moment | null, first: readonly AgentId[]): Since {
  return {
    agents: agentsSince(then.agents, now?.agents ?? null, new Set(first)),
    rules: rulesSince(then.rules, now?.rules ?? null),
  };
}

function agentsSince(
  then: readonly AgentThen[],
  now: readonly AgentThen[] | null,
  first: ReadonlySet<AgentId>,
): AgentSince[] {
  const before = new Map(then.map((agent) => [agent.id, agent]));
  const after = new Map((now ?? []).map((agent) => [agent.id, agent]));
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort(
    (a, b) => Number(first.has(b)) - Number(first.has(a)) || (a < b ? -1 : 1),
  );
  return ids.map((id) => {
    const [was, is] = [before.get(id) ?? null, after.get(id) ?? null];
    const differs = was?.status !== is?.status || was?.queued !== is?.queued;
    return { id, then: was, now: is, differs: now !== null && differs };
  });
}

function rulesSince(then: readonly Rule[], now: readonly Rule[] | null): RuleSince[] {
  if (now === null) return then.map((rule) => ({ rule, change: "same" }));
  const before = new Set(then.map(({ id }) => id));
  const after = new Set(now.map(({ id }) => id));
  const of = (rules: readonly Rule[], change: RuleSince["change"]) =>
    rules.map((rule) => ({ rule, change }));
  return [
    ...of(
      then.filter(({ id }) => !after.has(id)),
      "gone",
    ),
    ...of(
      now.filter(({ id }) => !before.has(id)),
      "new",
    ),
    ...of(
      then.filter(({ id }) => after.has(id)),
      "same",
    ),
  ];
}
