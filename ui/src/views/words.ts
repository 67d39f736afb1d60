// How the broker's words read to a person.
import type {
  AgentStatus,
  AnnouncedView,
  AttemptOutcome,
  AttemptView,
  DeadReason,
  Decision,
  Dialect,
  Door,
  Mechanism,
  MessageRow,
  MessageState,
  Policy,
  TrustedBy,
} from "../api/generated";

export { wentWrong } from "../state/went-wrong";

export const doorName: Record<Door, string> = {
  bus: "bus",
  lobby: "lobby",
  collaboration: "collaboration",
  aacp: "AACP",
  discovery: "discovery",
  console: "console",
};

/** In which door's words a payload is written. */
export const dialectName: Record<Dialect, string> = {
  bus: "bus",
  lobby: "lobby",
  collaboration: "collaboration",
  aacp: "AACP",
};

export const stateName: Record<MessageState, string> = {
  waiting: "waiting",
  processed: "processed",
  dead: "dead letter",
  discarded: "discarded",
  expired: "expired",
  refused: "refused",
};

export const statusName: Record<AgentStatus, string> = {
  starting: "starting",
  ready: "ready",
  busy: "busy",
  stopping: "stopping",
  unavailable: "unavailable",
};

export const statusLight: Record<AgentStatus, "on" | "busy" | "soon" | "off"> = {
  starting: "soon",
  ready: "on",
  busy: "busy",
  stopping: "soon",
  unavailable: "off",
};

export const outcomeName: Record<AttemptOutcome, string> = {
  processed: "processed it",
  declined: "declined",
  queueFull: "had no room for it",
  invalidAnswer: "gave an answer that makes no sense",
  timedOut: "did not answer in time",
  disconnected: "disconnected before it answered",
  forbidden: "may not have it any more",
};

export const deadBecause: Record<DeadReason, string> = {
  nobodySubscribed: "nobody subscribed to it",
  declinedByAll: "everyone asked declined it",
  timedOut: "nobody answered in time",
  gaveUp: "every attempt failed",
  agentGone: "the agent is gone",
  expired: "its time ran out",
  queueFull: "the queue was full",
  invalidAnswer: "the answer made no sense",
  forbidden: "a rule forbids it",
};

/** How an attempt ended, with the recipient's words if it had any. */
export function said({ outcome, message }: Pick<AttemptView, "outcome" | "message">): string {
  return `${outcomeName[outcome]}${message === null || message === "" ? "" : `: “${message}”`}`;
}

/** What the short names of times mean. */
export const tookMeaning = {
  p50: "Half took no longer",
  p99: "99 of 100 took no longer",
};

export const policyName: Record<Policy, string> = {
  stopPropagationOnProcessed: "stops when processed",
  stopPropagationOnStop: "stops when told to",
  continueAll: "hears everything",
};

/** Who a message is for, as the table says it. */
export function recipient(row: Pick<MessageRow, "to" | "kind" | "state">): string {
  if (row.to !== null) return row.to;
  if (row.state === "dead" || row.state === "expired") return "nobody";
  return row.kind === "broadcast" ? "everyone" : "—";
}

/**
 * What a message is about: its topic, or what it asks for. A topic that only names the recipient says
 * nothing new.
 */
export function subject(row: Pick<MessageRow, "topic" | "capability">): string {
  const { topic, capability } = row;
  if (capability !== null && (topic === null || topic.startsWith("agent:"))) return capability;
  return topic ?? "—";
}

/** Whether the rules let a message pass, and what made them. */
export function decided({ effect, by, declared }: Decision): string {
  const verdict = effect === "allow" ? "allowed" : "denied";
  if (by === "nobody") return `${verdict}: nobody said anything about it`;
  if (by === "declared") return `${verdict}: the agent declares it so`;
  const own = declared === "allow" ? "allows it" : "denies it";
  return `${verdict} by ${by}${declared === effect ? "" : `; the agent itself ${own}`}`;
}

/** A way by which an agent is found. */
export const mechanismName: Record<Mechanism, string> = {
  mdns: "mDNS",
  udp: "UDP",
  http: "HTTP",
  websocket: "WebSocket",
  bus: "bus",
};

/** The same for those who never met the word. */
export const mechanismMeaning: Record<Mechanism, string> = {
  mdns: "It announces itself on the network by multicast DNS, as printers do",
  udp: "It announces itself on the network by datagrams",
  http: "It announced itself here over HTTP",
  websocket: "It announced itself here over a WebSocket",
  bus: "It announced itself on the bus, by the topic “discovery”",
};

const trustedByName: Record<TrustedBy, string> = {
  operator: "by you",
  allowList: "by the allow-list",
  everyone: "as all who sign",
};

/** Whether an announced agent counts as one of ours, and who says so. */
export function trusted({ trust, trustedBy }: Pick<AnnouncedView, "trust" | "trustedBy">): string {
  if (trust === "waiting") return "waits for you";
  return trustedBy === null ? trust : `${trust} ${trustedByName[trustedBy]}`;
}
