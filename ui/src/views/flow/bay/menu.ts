import { rate } from "../../../parts/quantity";
import type { Console } from "../../../state/console.svelte";
import { NOBODY, type Cord } from "../../../state/traffic";
import { endOf, passingOf } from "./about";
import type { Bay } from "./bay.svelte";
import { groupKey } from "./board";
import { ofJack } from "./narrowing";

/** Cords that a menu names: the busiest of the jack's. */
const MOST_CORDS = 8;

export interface Choice {
  title: string;
  run: () => void;
  disabled?: boolean;
}

/** What can be done with a jack, its cords among it. */
export function menuOf(
  key: string,
  bay: Bay,
  console: Console,
  focus: (key: string) => void,
): Choice[] {
  const node = bay.nodes.get(key);
  if (node === undefined) return [];
  const { group } = node;
  const choices: Choice[] = [];
  if (group !== null)
    choices.push({
      title: `Open, ${String(group.members.length)} agents`,
      run: () => {
        bay.open(groupKey(group));
        focus(bay.order.find((each) => group.members.includes(each)) ?? "");
      },
    });
  const wishes = ofJack(node);
  if (wishes.length > 0)
    choices.push({
      title: bay.isChosen(key) ? "Show all messages again" : "Show only its messages",
      run: () => bay.narrow(wishes),
    });
  if (group === null) {
    if (console.agents.byId.has(key))
      choices.push({ title: "Open on Agents", run: () => console.showAgent(key) });
    choices.push({
      title: "Send it a message…",
      run: () => console.composer.write({ topic: `agent:${key}` }),
    });
  }
  return [...choices, ...cordsOf(key, bay, console)];
}

function cordsOf(key: string, bay: Bay, console: Console): Choice[] {
  // Errors are told beside the cord they belong to; those of messages to nobody have no other.
  const isOwn = ({ to, kind }: Cord) => kind !== "error" || to === NOBODY;
  return bay.cords
    .filter((cord) => (cord.from === key || cord.to === key) && isOwn(cord))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_CORDS)
    .map((cord) => {
      const { perSecond } = passingOf(cord, bay, console);
      const ends = `${endOf(cord.from, bay, console)} → ${endOf(cord.to, bay, console)}`;
      return {
        title: `${ends} · ${cord.kind} · ${rate(perSecond)} / s`,
        run: () => bay.pull(cord),
      };
    });
}
