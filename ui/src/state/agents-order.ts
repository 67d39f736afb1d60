import type { AgentView, BusyRow, Door } from "../api/generated";
import { HEALTHS, isTrouble, type Condition } from "./agents-health";
import { presence, type Presence } from "./agents.svelte";

/** One line of the table: who it is, what it did, and how it is doing. */
export interface Line {
  agent: AgentView;
  figures: BusyRow | undefined;
  condition: Condition;
}

export const SORTS = [
  "status",
  "name",
  "capabilities",
  "listens",
  "doors",
  "lastSeen",
  "health",
  "messages",
  "latency",
  "queued",
] as const;
export type SortKey = (typeof SORTS)[number];

export interface Sort {
  by: SortKey;
  /** Largest, newest or worst first. */
  down: boolean;
}

/** Where sorting by a column begins: what is looked for first. */
export function firstWay(by: SortKey): Sort {
  return { by, down: by !== "name" && by !== "status" && by !== "doors" && by !== "health" };
}

/** The other way round if it is sorted by that already. */
export function turned(sort: Sort, by: SortKey): Sort {
  return sort.by === by ? { by, down: !sort.down } : firstWay(by);
}

export type Group = "all" | Presence | "blocked" | "trouble";

export interface Sought {
  group: Group;
  door: Door | null;
  text: string;
}

/** What the operator calls an agent. */
export function calledBy({ label, id }: Pick<AgentView, "label" | "id">): string {
  return label ?? id;
}

export function isIn({ agent, condition }: Line, group: Group): boolean {
  switch (group) {
    case "all":
      return true;
    case "blocked":
      return agent.blocked;
    case "trouble":
      return isTrouble(condition.health);
    case "ready":
    case "busy":
    case "unavailable":
      return presence(agent.status) === group;
  }
}

/** Whether every word occurs in its names, its capabilities or what it listens to. */
function reads({ agent }: Line, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { id, name, label, capabilities, subscriptions } = agent;
  const text = [
    id,
    name,
    label ?? "",
    ...capabilities.map((each) => each.name),
    ...subscriptions.map((each) => each.pattern),
  ]
    .join("\n")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Those that are sought, in order. Who is equal stands in the order of names. */
export function ordered(lines: readonly Line[], sought: Sought, sort: Sort): Line[] {
  const words = sought.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = lines.filter(
    (line) =>
      isIn(line, sought.group) &&
      (sought.door === null || line.agent.doors.includes(sought.door)) &&
      reads(line, words),
  );
  const way = sort.down ? -1 : 1;
  return found.sort((a, b) => way * compare(a, b, sort.by) || byName(a, b));
}

function byName(a: Line, b: Line): number {
  const [x, y] = [calledBy(a.agent).toLowerCase(), calledBy(b.agent).toLowerCase()];
  if (x !== y) return x < y ? -1 : 1;
  return a.agent.id < b.agent.id ? -1 : 1;
}

const PRESENCES: readonly Presence[] = ["ready", "busy", "unavailable"];

function compare(a: Line, b: Line, by: SortKey): number {
  switch (by) {
    case "name":
      return byName(a, b);
    case "doors":
      return text(a.agent.doors.join(), b.agent.doors.join());
    case "lastSeen":
      return text(a.agent.lastSeen, b.agent.lastSeen);
    case "status":
    case "capabilities":
    case "listens":
    case "health":
    case "messages":
    case "latency":
    case "queued":
      return worth(a, by) - worth(b, by);
  }
}

function worth({ agent, figures, condition }: Line, by: SortKey): number {
  switch (by) {
    case "status":
      return PRESENCES.indexOf(presence(agent.status));
    case "capabilities":
      return agent.capabilities.length;
    case "listens":
      return agent.subscriptions.length;
    case "health":
      return HEALTHS.indexOf(condition.health);
    case "messages":
      return agent.received + agent.sent;
    case "latency":
      return figures?.p99Micros ?? -1;
    case "queued":
      return agent.queued;
    case "name":
    case "doors":
    case "lastSeen":
      return 0;
  }
}

function text(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
