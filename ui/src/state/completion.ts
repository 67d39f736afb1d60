// How a filter that is being typed could go on.

import { cut, KEYS, parts, VALUES, written, type Key } from "./query";

/** What is known, to complete from. */
export interface Known {
  agents: readonly { id: string; label: string | null }[];
  topics: readonly string[];
  capabilities: readonly string[];
  conversations: readonly string[];
}

export interface Completion {
  label: string;
  hint?: string;
  value: string;
}

const HINTS: Record<Key, string> = {
  kind: "request, response, event, broadcast",
  from: "who sent it",
  to: "who it is for",
  agent: "sender or recipient",
  topic: "topic or capability",
  door: "where it came in",
  state: "what became of it",
  priority: "urgent, high, normal, low",
  conversation: "its exchange",
  since: "5m, 14:05, 2026-11-16",
  until: "5m, 14:05, 2026-11-16",
  slower: "100ms, 2s",
};
const TIMES: readonly [string, string][] = [
  ["1m", "a minute ago"],
  ["5m", "5 minutes ago"],
  ["1h", "an hour ago"],
  ["1d", "a day ago"],
];
const SPANS: readonly [string, string][] = [
  ["10ms", ""],
  ["100ms", ""],
  ["1s", ""],
  ["10s", ""],
];

/** Ways to go on from the last piece of what was typed. */
export function completions(text: string, known: Known): Completion[] {
  const { done, rest } = cut(text);
  const [, name, begun = ""] = /^([A-Za-z]+):"?(.*)$/s.exec(rest) ?? [];
  const key = KEYS.find((each) => each === name?.toLowerCase());
  if (key === undefined && name !== undefined) {
    // Whoever writes a topic without saying so probably means one.
    return parts(rest)[0]?.problem === null ? [] : [complete(done, "topic", rest)];
  }
  if (key === undefined) {
    return KEYS.filter((each) => each.startsWith(rest.toLowerCase())).map((each) => ({
      label: `${each}:`,
      hint: HINTS[each],
      value: `${done}${each}:`,
    }));
  }
  const sought = begun.replace(/"$/, "").toLowerCase();
  return offers(key, known)
    .filter(([value, hint]) => {
      const low = value.toLowerCase();
      return low !== sought && (low.includes(sought) || hint.toLowerCase().includes(sought));
    })
    .map(([value, hint]) => complete(done, key, value, hint));
}

/** What a key may be followed by, each with a word about it. */
function offers(key: Key, known: Known): readonly [string, string][] {
  const plain = (values: readonly string[], hint = "") =>
    values.map((value): [string, string] => [value, hint]);
  switch (key) {
    case "kind":
    case "door":
    case "state":
    case "priority":
      return plain(VALUES[key] ?? []);
    case "from":
    case "to":
    case "agent":
      return known.agents.map(({ id, label }): [string, string] => [id, label ?? ""]);
    case "topic":
      return [...plain(known.topics), ...plain(known.capabilities, "capability")];
    case "conversation":
      return plain(known.conversations);
    case "since":
    case "until":
      return TIMES;
    case "slower":
      return SPANS;
  }
}

function complete(done: string, key: Key, value: string, hint = ""): Completion {
  const whole = written({ key, value, problem: null });
  const found = { label: `${key}:${value}`, value: `${done}${whole} ` };
  return hint === "" ? found : { ...found, hint };
}
