import type { Door, Kind, MessageFilter, MessageState, Priority } from "../api/generated";
import { readSpan, readTime, writeSpan } from "./query-time";

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
/** The most urgent first, as one types them. */
export const PRIORITIES = ["urgent", "high", "normal", "low"] as const;

export const KEYS = [
  "kind",
  "from",
  "to",
  "agent",
  "topic",
  "door",
  "state",
  "priority",
  "conversation",
  "since",
  "until",
  "slower",
] as const;
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
  priority: PRIORITIES,
  conversation: null,
  since: null,
  until: null,
  slower: null,
};

/** A piece of the filter as typed: `kind:request`, or a free word. */
export interface Part {
  key: Key | null;
  value: string;
  /** Why it is not used yet: an unknown key, an unknown or unfinished value. */
  problem: string | null;
}

const QUOTED = String.raw`"((?:[^"\\]|\\.)*)("?)`;
const PIECE = new RegExp(String.raw`([A-Za-z]+):(?:${QUOTED}|(\S*))|${QUOTED}|(\S+)`, "gs");

/** Reads what was typed. Never fails: what cannot be used says why. */
export function parts(text: string): Part[] {
  return [...text.matchAll(PIECE)].map((match): Part => {
    const [whole, name, quoted, , plain, phrase, , word] = match;
    const key = KEYS.find((each) => each === name?.toLowerCase());
    if (key !== undefined) return keyed(key, quoted === undefined ? (plain ?? "") : bare(quoted));
    const value = phrase === undefined ? (word ?? whole) : bare(phrase);
    return { key: null, value, problem: phrase === undefined ? misread(value) : null };
  });
}

/** What was typed, before the piece that is being typed and from there on. */
export function cut(text: string): { done: string; rest: string } {
  const last = [...text.matchAll(PIECE)].at(-1);
  const ends = last === undefined ? -1 : last.index + last[0].length;
  return last === undefined || ends < text.length
    ? { done: text, rest: "" }
    : { done: text.slice(0, last.index), rest: last[0] };
}

/** What quotes held, without the marks that kept it whole. */
function bare(quoted: string): string {
  return quoted.replace(/\\(.)/gs, "$1");
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
  return { key, value, problem: problemOf(key, value, allowed) };
}

function problemOf(key: Key, value: string, allowed: readonly string[] | null): string | null {
  if (value === "") return `${key}: of what?`;
  if (allowed !== null && !allowed.includes(value)) return `${key} is one of ${allowed.join(", ")}`;
  if ((key === "since" || key === "until") && readTime(value, new Date()) === null)
    return `${key}: is 5m, 2h or 1d ago, a time such as 14:05, or a date such as 2026-11-16`;
  if (key === "slower" && readSpan(value) === null) return "slower: than 100ms, 2s or 1m?";
  return null;
}

/**
 * The question for the broker. Parts with a problem ask nothing; a later part replaces an earlier one.
 * `now` is what “5m” is counted from.
 */
export function toFilter(pieces: readonly Part[], now = new Date()): MessageFilter {
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
      case "priority":
        filter.priority = value.toUpperCase() as Priority;
        break;
      case "since":
      case "until": {
        const time = readTime(value, now);
        if (time !== null) filter[key] = time;
        break;
      }
      case "slower": {
        const micros = readSpan(value);
        if (micros !== null) filter.slowerMicros = micros;
        break;
      }
      case "from":
      case "to":
      case "agent":
      case "topic":
      case "conversation":
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
  const quoted =
    /\s/.test(value) ||
    (value === "" && key === null) ||
    value.startsWith('"') ||
    (key === null && (misread(value) !== null || parts(value).length !== 1));
  const text = quoted ? `"${value.replace(/["\\]/g, String.raw`\$&`)}"` : value;
  return key === null ? text : `${key}:${text}`;
}

/** The text that means this filter. */
export function format(filter: MessageFilter): string {
  const keyedParts = KEYS.flatMap((key) => {
    const value = valueOf(filter, key);
    return value === undefined ? [] : [written({ key, value, problem: null })];
  });
  return [...keyedParts, ...(filter.text === undefined ? [] : [words(filter.text)])].join(" ");
}

function valueOf(filter: MessageFilter, key: Key): string | undefined {
  switch (key) {
    case "slower":
      return filter.slowerMicros === undefined ? undefined : writeSpan(filter.slowerMicros);
    case "priority":
      return filter.priority?.toLowerCase();
    case "kind":
    case "from":
    case "to":
    case "agent":
    case "topic":
    case "door":
    case "state":
    case "conversation":
    case "since":
    case "until":
      return filter[key];
  }
}

/** Free words as they are where they stay words, else all of them in quotes. */
function words(text: string): string {
  const each = text.split(" ");
  const plain = each.every((word) => {
    const [part, ...more] = parts(word);
    return more.length === 0 && part?.key === null && part.value === word && part.problem === null;
  });
  return plain ? text : written({ key: null, value: text, problem: null });
}
