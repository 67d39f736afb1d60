import type { AgentId, Permissions } from "../../api/generated";

/** How often a capability was called lately, and by whom. */
export interface Calls {
  requests: number;
  refused: number;
  callers: AgentId[];
}

/** What the traffic says of each capability of an agent, by its name; the busiest callers first. */
export function callsOf({ callers, columns, cells }: Permissions, id: AgentId): Map<string, Calls> {
  const found = new Map<string, Calls>();
  columns.forEach(({ provider, capability }, c) => {
    if (provider !== id) return;
    const called = callers
      .map((caller, r) => ({ caller, cell: cells[r]?.[c] ?? null }))
      .filter(({ cell }) => cell !== null && cell.requests > 0)
      .sort((a, b) => (b.cell?.requests ?? 0) - (a.cell?.requests ?? 0));
    found.set(capability, {
      requests: called.reduce((sum, { cell }) => sum + (cell?.requests ?? 0), 0),
      refused: called.reduce((sum, { cell }) => sum + (cell?.refused ?? 0), 0),
      callers: called.map(({ caller }) => caller),
    });
  });
  return found;
}
