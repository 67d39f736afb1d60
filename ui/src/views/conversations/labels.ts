import type { AgentView } from "../../api/generated";

/** What the operator calls agents that have a name of the operator's own. */
export function labels(
  agents: readonly Pick<AgentView, "id" | "label">[],
): ReadonlyMap<string, string> {
  return new Map(
    agents.flatMap(({ id, label }) => (label === null || label === "" ? [] : [[id, label]])),
  );
}
