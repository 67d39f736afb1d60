import type { AgentView } from "../../api/generated";

/** Topics someone listens to, as far as they can be written down: patterns and agents' own addresses. */
export function topics(agents: readonly AgentView[]): string[] {
  const patterns = agents.flatMap((agent) => agent.subscriptions.map((each) => each.pattern));
  return [...new Set(patterns)].sort();
}

/** Where a message can be sent: what is listened to, then each agent. */
export function addresses(agents: readonly AgentView[]): { value: string; hint: string }[] {
  const listened = agents.flatMap((agent) =>
    agent.subscriptions.map(({ pattern }) => ({
      // A pattern's fixed beginning is a topic one can go on from.
      value: /^[^*?[]*/.exec(pattern)?.[0] ?? "",
      hint: `${agent.id} listens to ${pattern}`,
    })),
  );
  const direct = agents.map((agent) => ({ value: `agent:${agent.id}`, hint: "directly" }));
  const seen = new Set<string>();
  return [...listened, ...direct].filter(({ value }) => {
    if (value === "" || seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}
