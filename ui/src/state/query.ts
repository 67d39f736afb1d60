import type { Door, Kind, MessageFilter, MessageState } from "../api/generated";

export const KINDS: readonly Kind[] = ["request", "response", "event", "broadcast"];
export const DOORS: readonly Door[] = [
  "bus",
  "lobby",
  "collaboration",
  "aacp",
  "discovery",
  "console",
];
export const STATES: readonly MessageState[] = [
  "waiting",
  "processed",
  "dead",
  "discarded",
  "expired",
  "refused",
];

export const KEYS = ["kind", "from", "to", "agent", "topic", "door", "state"] as const;
export type Key = (typeof KEYS)[number];

/** What a key accepts, where that is a closed list. */
export const VALUES: Record<Key, readonly string[] | null> = {
  kind: KINDS,
  from: null,
  to: null,
  agent: null,
  topic: null,
  door: DOORS,
  state: STATES,
};

/** A piece of the filter as typed: `kind:request`, or a free word. */
export interface Part {
  key: Key | null;
  value: string;
  /** Why it is not used yet: an unknown key, an unknown or unfinished value. */
  problem: string | null;
}

const PIECE = /([A-Za-z]+):(?:"([^"]*)"?|(\S*))|"([^"]*)"?|(\S+)/g;

/** Reads what was typed. Never fails: what cannot be used says why. */
export function parts(text: string): Part[] {
  return [...text.matchAll(PIECE)].map((match): Part => {
    const [whole, name, quoted, plain, phrase, word] = match;
    const key = KEYS.find((each) => each === name?.toLowerCase());
    if (key !== undefined) return keyed(key, quoted ?? plain ?? "");
    const value = phrase ?? word ?? whole;
    return { key: null, value, problem: phrase === undefined ? misread(value) : null };
  });
}

/** `xyz:abc` looks like a filter and is none. An address on the web does not, nor does a time. */
const LIKE_A_FILTER = /^([A-Za-z]+):(?!\/\/)/;

function misread(word: string): string | null {
  const name = LIKE_A_FILTER.exec(word)?.[1];
  return name === undefined ? null : `${name}: is not a filter; use ${KEYS.join(", ")}`;
}

function keyed(key: Key, given: string): Part {
  const allowed = VALUES[key];
  const value = allowed === null ? given : given.toLowerCase();
  if (value === "") return { key, value, problem: `${key}: of what?` };
  if (allowed !== null && !allowed.includes(value)) {
    return { key, value, problem: `${key} is one of ${allowed.join(", ")}` };
  }
  return { key, value, problem: null };
}

/** The question for the broker. Parts with a problem ask nothing; a later part replaces an earlier one. */
export function toFilter(pieces: readonly Part[]): MessageFilter {
  const filter: MessageFilter = {};
  const words: string[] = [];
  for (const { key, value, problem } of pieces) {
    if (problem !== null) continue;
    switch (key) {
      case null:
        words.push(value);
        break;
      case "kind":
        filter.kind = value as Kind;
        break;
      case "door":
        filter.door = value as Door;
        break;
      case "state":
        filter.state = value as MessageState;
        break;
      case "from":
      case "to":
      case "agent":
      case "topic":
        filter[key] = value;
        break;
    }
  }
  if (words.length > 0) filter.text = words.join(" ");
  return filter;
}

/** A part as one would type it. */
export function written({ key, value, problem }: Part): string {
  // What was not understood goes back as it came: in quotes it would suddenly mean something.
  if (key === null && problem !== null) return value;
  const quoted = /\s/.test(value) || value === "" || (key === null && misread(value) !== null);
  const text = quoted ? `"${value}"` : value;
  return key === null ? text : `${key}:${text}`;
}

/** The text that means this filter. */
export function format(filter: MessageFilter): string {
  const keyedParts = KEYS.flatMap((key) => {
    const value = filter[key];
    return value === undefined ? [] : [written({ key, value, problem: null })];
  });
  return [...keyedParts, ...(filter.text === undefined ? [] : [filter.text])].join(" ");
}

/** Ways to go on from the last word of what was typed, given what is known. */
export function completions(
  text: string,
  known: { agents: readonly string[]; topics: readonly string[] },
): { label: string; value: string }[] {
  const word = /(\S*)$/.exec(text)?.[1] ?? "";
  const before = text.slice(0, text.length - word.length);
  const [, name, begun] = /^([A-Za-z]+):(.*)$/.exec(word) ?? [];
  const key = KEYS.find((each) => each === name?.toLowerCase());
  if (key === undefined && name !== undefined) {
    // Whoever writes a topic without saying so probably means one.
    return misread(word) === null ? [] : [complete(before, "topic", word)];
  }
  if (key === undefined) {
    return KEYS.filter((each) => each.startsWith(word.toLowerCase())).map((each) => ({
      label: `${each}:`,
      value: `${before}${each}:`,
    }));
  }
  const values = VALUES[key] ?? (key === "topic" ? known.topics : known.agents);
  const sought = (begun ?? "").toLowerCase();
  return values
    .filter((value) => value.toLowerCase().includes(sought) && value.toLowerCase() !== sought)
    .map((value) => complete(before, key, value));
}

function complete(before: string, key: Key, value: string): { label: string; value: string } {
  const whole = written({ key, value, problem: null });
  return { label: `${key}:${value}`, value: `${before}${whole} ` };
}
