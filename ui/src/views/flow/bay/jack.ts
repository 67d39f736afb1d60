// What a jack says: of one agent, or of a group.

import type { AgentView } from "../../../api/generated";
import { plural } from "../../../parts/quantity";
import { calledName } from "../../../state/agents.svelte";
import { OPERATOR } from "../../../state/console.svelte";
import { doorName, statusLight, statusName } from "../../words";
import type { Node } from "./board";
import type { Light } from "./picture";

export interface JackView {
  key: string;
  name: string;
  /** A second line: the door, or how many there are. */
  under: string;
  light: Light;
  /** What the lamp says, in words. */
  status: string;
  /** Of a group, how many are in which state. */
  crowd: { all: number; ready: number; busy: number } | null;
}

export type Known = ReadonlyMap<string, AgentView>;

/** The light of one agent. Of those the registry does not know, only the operator is certainly here. */
export function lightOf(id: string, known: Known): Light {
  const agent = known.get(id);
  if (agent === undefined) return id === OPERATOR ? "on" : "off";
  return agent.blocked ? "blocked" : statusLight[agent.status];
}

export function jackView(node: Node, known: Known): JackView {
  return node.group === null
    ? agentView(node.key, known)
    : groupView(node.key, node.group.title, node.group.members, known);
}

/** Whether two say the same. */
export function sameView(a: JackView, b: JackView): boolean {
  return (
    a.name === b.name &&
    a.under === b.under &&
    a.light === b.light &&
    a.status === b.status &&
    a.crowd?.all === b.crowd?.all &&
    a.crowd?.ready === b.crowd?.ready &&
    a.crowd?.busy === b.crowd?.busy
  );
}

function agentView(id: string, known: Known): JackView {
  const agent = known.get(id);
  const door = agent === undefined ? (id === OPERATOR ? "console" : undefined) : agent.doors[0];
  const light = lightOf(id, known);
  const idle = id === OPERATOR && agent === undefined ? "ready" : "unavailable";
  return {
    key: id,
    name: calledName(id, known),
    under: door === undefined ? "" : doorName[door],
    light,
    status: light === "blocked" ? "blocked" : statusName[agent?.status ?? idle],
    crowd: null,
  };
}

function groupView(key: string, title: string, members: readonly string[], known: Known): JackView {
  const crowd = { all: members.length, ready: 0, busy: 0 };
  for (const id of members) {
    const light = lightOf(id, known);
    if (light === "on") crowd.ready++;
    else if (light === "busy") crowd.busy++;
  }
  return {
    key,
    name: title,
    under: plural(crowd.all, "agent"),
    light: crowd.busy > 0 ? "busy" : crowd.ready > 0 ? "on" : "off",
    status: `${plural(crowd.ready + crowd.busy, "agent")} of ${String(crowd.all)} here`,
    crowd,
  };
}
