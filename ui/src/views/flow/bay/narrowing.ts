// What a click on a jack or a cord looks for.

import type { Part } from "../../../state/query";
import type { Node } from "./board";

export type Wish = Pick<Part, "key" | "value">;

/** Only what this jack says or hears; nothing if no filter can say so. */
export function ofJack({ key, group }: Node): Wish[] {
  if (group === null) return [{ key: "agent", value: key }];
  switch (group.by) {
    case "name":
      return [{ key: "agent", value: group.title }];
    case "door":
      return group.title === "unknown" ? [] : [{ key: "door", value: group.title }];
    case "program":
    case "rest":
      return [];
  }
}

/** Only what goes from one jack to the other, as far as a filter can say so. */
export function ofCord(from: Node, to: Node): Wish[] {
  return [...oneEnd(from, "from"), ...oneEnd(to, "to")];
}

/** Only what died on its way from here, as far as a filter can say so. */
export function ofLooseCord(from: Node): Wish[] {
  const end = oneEnd(from, "from");
  return end.length === 0 ? [] : [...end, { key: "state", value: "dead" }];
}

function oneEnd({ key, group }: Node, end: "from" | "to"): Wish[] {
  if (group === null) return [{ key: end, value: key }];
  if (group.by === "name") return [{ key: end, value: group.title }];
  // A message's door is the one its sender used.
  if (group.by === "door" && end === "from") return [{ key: "door", value: group.title }];
  return [];
}
