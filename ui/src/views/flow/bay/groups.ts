// Hundreds of agents are shown by their groups: those named alike, of one program or of one door.

import type { Door } from "../../../api/generated";

export const GROUPINGS = ["auto", "name", "program", "door", "none"] as const;
/** What puts agents into one group; `auto` is whatever makes the board readable. */
export type Grouping = (typeof GROUPINGS)[number];
export type By = Exclude<Grouping, "auto" | "none">;

/** More groups than this are as hard to read as agents. */
export const MOST_GROUPS = 36;

/** Whatever of an agent can put it into a group. */
export interface Kin {
  id: string;
  program: string;
  door: Door | undefined;
}

export interface Group {
  title: string;
  by: By | "rest";
  members: readonly string[];
}

/** Groups of two and more, and those who are alone. */
export interface Grouped {
  by: By;
  groups: Group[];
  alone: string[];
}

/** What is the same in the names of `worker-1`, `worker-27` and `worker-0192f3c8`: `worker-`. */
export function stem(id: string): string {
  const parts = /^(.*?[-_.:/#@])[^-_.:/#@]*$/.exec(id);
  const [, head] = parts ?? [];
  if (head !== undefined) return head;
  return id.replace(/\d+$/, "");
}

/** Agents by what they have in common, in no more than `most` groups and agents. */
export function grouped(agents: readonly Kin[], by: By, most = MOST_GROUPS): Grouped {
  const buckets = new Map<string, string[]>();
  for (const agent of agents) {
    const title = titleOf(agent, by);
    const members = buckets.get(title);
    if (members === undefined) buckets.set(title, [agent.id]);
    else members.push(agent.id);
  }
  const groups: Group[] = [];
  const alone: string[] = [];
  for (const [title, members] of buckets) {
    if (members.length > 1) groups.push({ title, by, members });
    else alone.push(...members);
  }
  groups.sort((a, b) => b.members.length - a.members.length || (a.title < b.title ? -1 : 1));
  return joinRest({ by, groups, alone }, most);
}

function titleOf(agent: Kin, by: By): string {
  switch (by) {
    case "name":
      return stem(agent.id);
    case "program":
      return agent.program;
    case "door":
      return agent.door ?? "unknown";
  }
}

/** What would be too many to show goes into one more group. */
function joinRest({ by, groups, alone }: Grouped, most: number): Grouped {
  const rest = groups.slice(most).flatMap(({ members }) => members);
  const room = most - Math.min(most, groups.length);
  const kept = alone.length <= room ? alone : [];
  if (kept.length < alone.length) rest.push(...alone);
  const shown = groups.slice(0, most);
  if (rest.length > 0) shown.push({ title: "others", by: "rest", members: rest });
  return { by, groups: shown, alone: kept };
}

/** By names if that leaves few enough to read, else by program, else by door. */
export function bestGrouping(agents: readonly Kin[], most = MOST_GROUPS): Grouped {
  const ways = (["name", "program", "door"] as const).map((by) => grouped(agents, by, most));
  const readable = ways.find(({ groups, alone }) => {
    const rest = groups.find(({ by }) => by === "rest")?.members.length ?? 0;
    return groups.length + alone.length > 1 && rest < agents.length / 4;
  });
  return readable ?? grouped(agents, "door", most);
}
