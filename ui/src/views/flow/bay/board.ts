// Who has a jack: everyone while that is readable, else groups and the busiest.

import {
  bestGrouping,
  grouped,
  MOST_GROUPS,
  type Group,
  type Grouped,
  type Grouping,
  type Kin,
} from "./groups";

/** Of hundreds, so many keep a jack of their own because they talk most. */
const MOST_BUSIEST = 12;
/** Even where more would fit, groups read better. */
const MOST_ALONE = 100;
const LEAST_ALONE = 24;
const LEAST_GROUPS = 6;

/** Someone who may get a jack. */
export interface Guest extends Kin {
  present: boolean;
}

/** A jack of one agent, or of a group of them. */
export interface Node {
  key: string;
  group: Group | null;
}

/** Who is on the board. */
export interface Cast {
  nodes: Node[];
  /** At whose jack an agent's cords end. */
  seatOf: (agent: string) => string;
  /** By what agents are grouped; none if they are not. */
  by: Grouped["by"] | null;
  /** How many have a jack because they talk most. */
  busiest: number;
  /** Those of the group that is open; none if none is. */
  opened: ReadonlySet<string> | null;
}

export interface Wanted {
  grouping: Grouping;
  /** The group whose members are shown. */
  opened: string | null;
  /** How many jacks can have names. */
  room: number;
  busiest: readonly string[];
}

export function groupKey({ by, title }: Pick<Group, "by" | "title">): string {
  return `group\n${by}\n${title}`;
}

export function cast(guests: readonly Guest[], wanted: Wanted): Cast {
  const few = Math.max(LEAST_ALONE, Math.min(MOST_ALONE, wanted.room));
  if (wanted.grouping === "none" || (wanted.grouping === "auto" && guests.length <= few))
    return everyone(guests);
  // So few that all of them have room for their names, however small the bay.
  const apart = new Set(wanted.busiest.slice(0, Math.ceil(wanted.room / 3)));
  const most = Math.max(LEAST_GROUPS, Math.min(MOST_GROUPS, wanted.room - apart.size));
  const rest = guests.filter(({ id }) => !apart.has(id));
  const { by, groups, alone } =
    wanted.grouping === "auto" ? bestGrouping(rest, most) : grouped(rest, wanted.grouping, most);
  const seats = new Map<string, string>();
  const nodes: Node[] = [];
  const single = (id: string) => nodes.push({ key: id, group: null });
  for (const group of groups) {
    const key = groupKey(group);
    if (key === wanted.opened) continue;
    for (const id of group.members) seats.set(id, key);
    nodes.push({ key, group });
  }
  for (const { id } of guests) if (apart.has(id)) single(id);
  alone.forEach(single);
  const opened = groups.find((group) => groupKey(group) === wanted.opened);
  opened?.members.forEach(single);
  return {
    nodes,
    seatOf: (id) => seats.get(id) ?? id,
    by,
    busiest: apart.size,
    opened: opened === undefined ? null : new Set(opened.members),
  };
}

function everyone(guests: readonly Guest[]): Cast {
  return {
    nodes: guests.map(({ id }) => ({ key: id, group: null })),
    seatOf: (id) => id,
    by: null,
    busiest: 0,
    opened: null,
  };
}

/** In a lasting order: those who sit keep their places, and whoever comes sits behind them. */
export function seated(before: readonly string[], keys: readonly string[]): string[] {
  const here = new Set(keys);
  const kept = before.filter((key) => here.has(key));
  const sat = new Set(kept);
  return [...kept, ...keys.filter((key) => !sat.has(key))];
}

/** How much more a newcomer must talk to take a place among the busiest. */
const CLEARLY = 1.5;

/** Those who talk most. Whoever is among them stays until another clearly talks more. */
export function busiest(
  before: readonly string[],
  weights: ReadonlyMap<string, number>,
  most = MOST_BUSIEST,
): string[] {
  const stays = new Set(before);
  const rank = ([id, weight]: [string, number]) => weight * (stays.has(id) ? CLEARLY : 1);
  const first = [...weights].sort((a, b) => rank(b) - rank(a)).slice(0, most);
  return seated(
    before,
    first.map(([id]) => id),
  );
}

/** Whether the same have jacks, in the same groups. */
export function alike(a: Cast, b: Cast): boolean {
  return (
    a.nodes.length === b.nodes.length &&
    a.by === b.by &&
    a.nodes.every(({ key, group }, i) => {
      const other = b.nodes[i];
      return other?.key === key && sameMembers(group, other.group);
    })
  );
}

function sameMembers(a: Group | null, b: Group | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.members.length === b.members.length && a.members.every((member, i) => member === b.members[i])
  );
}
