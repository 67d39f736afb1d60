// Who may get a jack, and who is looked for.

import type { AgentView } from "../../../api/generated";
import type { Guest, Node } from "./board";
import type { Known } from "./jack";

/** Everyone the registry knows, and whoever talks or is talked to besides. */
export function guestsOf(
  { list, byId }: { list: readonly AgentView[]; byId: Known },
  talking: Iterable<string>,
): Guest[] {
  const guests = list.map(({ id, name, doors, connections }): Guest => ({
    id,
    program: name,
    door: doors[0],
    present: connections > 0,
  }));
  for (const id of talking) {
    if (!byId.has(id)) guests.push({ id, program: id, door: undefined, present: true });
  }
  return guests;
}

/** Jacks whose agents are called so, by id, label or program, each with how many of them are. */
export function found(
  nodes: readonly Node[],
  sought: string,
  known: Known,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const words = sought.trim().toLowerCase();
  if (words === "") return found;
  const fits = (id: string) => {
    const agent = known.get(id);
    return `${id} ${agent?.label ?? ""} ${agent?.name ?? ""}`.toLowerCase().includes(words);
  };
  for (const { key, group } of nodes) {
    const count = (group?.members ?? [key]).filter(fits).length;
    if (count > 0) found.set(key, count);
  }
  return found;
}
