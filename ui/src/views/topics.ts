import type { AgentView, MessageRow } from "../api/generated";

/** Rows that are looked through for topics: more would only repeat them. */
const LATELY = 300;

/**
 * Topics to look for: those of the newest messages, then what agents listen to. The broker looks for
 * the text as a part of the topic, so of a pattern only its fixed beginning can be found.
 */
export function topics(
  agents: readonly AgentView[],
  rows: { readonly length: number; at(index: number): MessageRow | undefined },
): string[] {
  const found = new Set<string>();
  for (let i = 0; i < Math.min(rows.length, LATELY); i++) {
    const topic = rows.at(i)?.topic;
    if (typeof topic === "string") found.add(topic);
  }
  const seen = [...found].sort();
  const listened = agents
    .flatMap((agent) => agent.subscriptions.map((each) => beginning(each.pattern)))
    .filter((topic) => topic !== "")
    .sort();
  return [...new Set([...seen, ...listened])];
}

/** A pattern's fixed beginning is a topic one can go on from. */
function beginning(pattern: string): string {
  return /^[^*?[]*/.exec(pattern)?.[0] ?? "";
}

/** Where a message can be sent: what is listened to, then each agent. */
export function addresses(agents: readonly AgentView[]): { value: string; hint: string }[] {
  const listened = agents.flatMap((agent) =>
    agent.subscriptions.map(({ pattern }) => ({
      value: beginning(pattern),
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

/** Addresses that what was typed may be the beginning of. */
export function suggestAddresses(
  agents: readonly AgentView[],
  text: string,
): { label: string; value: string; hint: string }[] {
  return addresses(agents)
    .filter(({ value }) => value.toLowerCase().includes(text.toLowerCase()) && value !== text)
    .map(({ value, hint }) => ({ label: value, value, hint }));
}
