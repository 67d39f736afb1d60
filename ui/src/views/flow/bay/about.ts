// What is known of a jack or a cord, in words.

import { count, plural, rate } from "../../../parts/quantity";
import { roughly } from "../../../parts/time";
import { calledName } from "../../../state/agents.svelte";
import type { Console } from "../../../state/console.svelte";
import { NOBODY, type Cord, type Passing } from "../../../state/traffic";
import { doorName } from "../../words";
import type { Bay } from "./bay.svelte";
import { jackView } from "./jack";

export interface About {
  title: string;
  /** Beside the title: the id where the title is a name, the kind of a cord. */
  beside: string;
  /** The colour of a kind; none of a jack. */
  kind: Cord["kind"] | null;
  lines: { name: string; value: string; bad?: boolean }[];
  /** What a click does. */
  does: string;
}

/** What passed lately on a cord, with its errors whatever their kind. */
export function passingOf(
  { from, to, kind }: Pick<Cord, "from" | "to" | "kind">,
  bay: Bay,
  console: Console,
): Passing {
  const { seatOf } = bay.cast;
  return console.traffic.passing(
    (cord) =>
      (cord.kind === kind || cord.kind === "error") &&
      seatOf(cord.from) === from &&
      seatOf(cord.to) === to,
  );
}

/** What stands at an end of a cord. */
export function endOf(key: string, bay: Bay, console: Console): string {
  if (key === NOBODY) return "nobody";
  return bay.nodes.get(key)?.group?.title ?? calledName(key, console.agents.byId);
}

export function aboutCord(cord: Cord, bay: Bay, console: Console): About {
  const wishes = bay.wishesOf(cord);
  return {
    title: `${endOf(cord.from, bay, console)} → ${endOf(cord.to, bay, console)}`,
    beside: cord.kind,
    kind: cord.kind,
    lines: passingLines(passingOf(cord, bay, console)),
    does:
      wishes.length === 0 ? "" : wishes.map(({ key, value }) => `${key ?? ""}:${value}`).join(" "),
  };
}

export function aboutJack(key: string, bay: Bay, console: Console): About | null {
  const node = bay.nodes.get(key);
  if (node === undefined) return null;
  const known = console.agents.byId;
  const view = jackView(node, known);
  const agent = known.get(key);
  const { seatOf } = bay.cast;
  const heard = console.traffic.passing((cord) => seatOf(cord.to) === key);
  const said = console.traffic.passing((cord) => seatOf(cord.from) === key);
  const queued = (node.group?.members ?? [key]).reduce(
    (sum, id) => sum + (known.get(id)?.queued ?? 0),
    0,
  );
  const doors = agent?.doors.map((door) => doorName[door]).join(", ") ?? "";
  return {
    title: view.name,
    beside: node.group === null && view.name !== key ? key : "",
    kind: null,
    lines: [
      { name: "is", value: view.status, bad: view.light === "blocked" },
      ...(doors === "" ? [] : [{ name: "by", value: doors }]),
      { name: "sends", value: `${rate(said.perSecond)} / s` },
      { name: "hears", value: `${rate(heard.perSecond)} / s` },
      ...passingLines(heard).slice(1),
      ...(queued === 0 ? [] : [{ name: "waiting", value: count(queued) }]),
    ],
    does:
      node.group === null ? `agent:${key}` : `opens ${plural(node.group.members.length, "agent")}`,
  };
}

function passingLines({ perSecond, failedPerSecond, p50Micros }: Passing): About["lines"] {
  return [
    { name: "rate", value: `${rate(perSecond)} / s` },
    { name: "half within", value: p50Micros === null ? "—" : roughly(p50Micros) },
    {
      name: "errors",
      value: failedPerSecond < 0.05 ? "none" : `${rate(failedPerSecond)} / s`,
      bad: failedPerSecond >= 0.05,
    },
  ];
}
