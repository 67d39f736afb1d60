// Written by `./dev types` from crates/console. Do not edit.

export type AgentId = string;

export type MessageId = string;

export type ConversationId = string;

export type DeliveryId = number;

export type Timestamp = string;

export type Code = "notJoined" | "alreadyJoined" | "invalidClient" | "invalidRequest" | "unknownMethod" | "alreadySubscribed" | "notSubscribed" | "unauthorized" | "forbidden" | "notFound" | "tooLarge" | "busy" | "stopping" | "storageFailed" | "internal";

export type Door = "bus" | "lobby" | "collaboration" | "aacp" | "discovery" | "console";

export type AgentStatus = "starting" | "ready" | "busy" | "stopping" | "unavailable";

export type Kind = "request" | "response" | "event" | "broadcast";

export type Priority = "LOW" | "NORMAL" | "HIGH" | "URGENT";

export type MessageState = "waiting" | "processed" | "dead" | "discarded" | "expired" | "refused";

export type Policy = "stopPropagationOnProcessed" | "stopPropagationOnStop" | "continueAll";

export type AttemptOutcome = "processed" | "declined" | "invalidAnswer" | "timedOut" | "disconnected" | "queueFull";

export type DeliveryState = "waiting" | "processed" | "failed";

export type DeadReason = "nobodySubscribed" | "declinedByAll" | "timedOut" | "gaveUp" | "agentGone" | "expired" | "queueFull" | "invalidAnswer";

export type Capability = { 
/**
 * The name callers use.
 */
name: string, 
/**
 * What it does, for people.
 */
description: string, 
/**
 * JSON Schema of the input; `{}` accepts all.
 */
input_schema: unknown, 
/**
 * JSON Schema of the output; `{}` accepts all.
 */
output_schema: unknown, 
/**
 * Words to find it by.
 */
keywords: Array<string>, 
/**
 * Who may call it, as the agent declared; none or empty is public.
 */
authorized_requester_ids: Array<string> | null, };

export type SubscriptionView = { 
/**
 * Its id.
 */
id: string, 
/**
 * The pattern, as the agent wrote it.
 */
pattern: string, 
/**
 * When its chain stops.
 */
policy: Policy, 
/**
 * Since when.
 */
since: Timestamp, };

export type AgentView = { 
/**
 * Its id.
 */
id: AgentId, 
/**
 * Its program's name.
 */
name: string, 
/**
 * Its program's version.
 */
version: string, 
/**
 * The doors it is connected by, or was last.
 */
doors: Array<Door>, 
/**
 * Whether it can take messages now.
 */
status: AgentStatus, 
/**
 * What it can do.
 */
capabilities: Array<Capability>, 
/**
 * What it listens to.
 */
subscriptions: Array<SubscriptionView>, 
/**
 * Live connections.
 */
connections: number, 
/**
 * When the broker first heard of it.
 */
firstSeen: Timestamp, 
/**
 * When the broker last heard of it.
 */
lastSeen: Timestamp, 
/**
 * Messages it sent since the broker started.
 */
sent: number, 
/**
 * Deliveries made to it since the broker started.
 */
received: number, 
/**
 * Deliveries to it that wait or are in flight.
 */
queued: number, };

export type MessageRow = { 
/**
 * Its place in the order of acceptance; pages of history continue from it.
 */
seq: number, 
/**
 * Its id.
 */
id: MessageId, 
/**
 * Who sent it.
 */
from: AgentId, 
/**
 * The agent it was addressed to, or else the one that has it or took it.
 */
to: AgentId | null, 
/**
 * The topic it was published on.
 */
topic: string | null, 
/**
 * What it asks for.
 */
capability: string | null, 
/**
 * What it is for.
 */
kind: Kind, 
/**
 * Who is served first.
 */
priority: Priority, 
/**
 * Where it is in its life.
 */
state: MessageState, 
/**
 * The door it came in by.
 */
door: Door, 
/**
 * The exchange it belongs to.
 */
conversationId: ConversationId | null, 
/**
 * When it was accepted.
 */
createdAt: Timestamp, 
/**
 * Microseconds until it was settled; none while it waits.
 */
tookMicros: number | null, 
/**
 * What went wrong, if something did.
 */
error: string | null, 
/**
 * The payload's length in bytes.
 */
payloadBytes: number, 
/**
 * The payload itself, where it was asked for.
 */
payload?: unknown, };

export type AttemptView = { 
/**
 * 1 for the first.
 */
number: number, 
/**
 * When the message was handed to the recipient's door.
 */
startedAt: Timestamp, 
/**
 * When it ended.
 */
endedAt: Timestamp, 
/**
 * How it ended.
 */
outcome: AttemptOutcome, 
/**
 * The recipient's words, or what went wrong.
 */
message: string | null, 
/**
 * What the recipient gave back, as it wrote it.
 */
payloadText: string | null, };

export type DeliveryView = { 
/**
 * The delivery.
 */
id: DeliveryId, 
/**
 * The recipient.
 */
agent: AgentId, 
/**
 * The door it went out by.
 */
door: Door, 
/**
 * The subscription's pattern that brought it here.
 */
pattern: string | null, 
/**
 * Where it is.
 */
state: DeliveryState, 
/**
 * Each try.
 */
attempts: Array<AttemptView>, };

export type MessageDetail = { 
/**
 * The message, with its payload.
 */
row: MessageRow, 
/**
 * The payload as its sender wrote it, to the letter.
 */
payloadText: string, 
/**
 * What links it to others.
 */
correlationId: string | null, 
/**
 * When it stops being worth delivering.
 */
expiresAt: Timestamp | null, 
/**
 * When it was settled.
 */
settledAt: Timestamp | null, 
/**
 * Why it is a dead letter, if it is one.
 */
deadReason: DeadReason | null, 
/**
 * Each recipient, in the order in which they were asked.
 */
deliveries: Array<DeliveryView>, };

export type Totals = { 
/**
 * Messages taken in.
 */
accepted: number, 
/**
 * Taken care of.
 */
processed: number, 
/**
 * On their way.
 */
waiting: number, 
/**
 * Dead letters.
 */
dead: number, 
/**
 * Dead letters thrown away by the operator.
 */
discarded: number, 
/**
 * Out of time.
 */
expired: number, };

export type Nothing = Record<string, never>;

export type Status = { 
/**
 * The program's version.
 */
version: string, 
/**
 * The address agents connect to.
 */
url: string, 
/**
 * The folder with the database and the settings.
 */
dataDir: string, 
/**
 * When the broker started.
 */
startedAt: Timestamp, 
/**
 * Whether the demo agents run.
 */
demo: boolean, 
/**
 * How many peers mDNS sees; none when it is off.
 */
mdnsPeers: number | null, };

export type AgentList = { 
/**
 * In order of their ids.
 */
agents: Array<AgentView>, };

export type MessageFilter = { 
/**
 * What it is for.
 */
kind?: Kind, 
/**
 * The door it came in by.
 */
door?: Door, 
/**
 * Where it is in its life.
 */
state?: MessageState, 
/**
 * Part of the name of its sender.
 */
from?: string, 
/**
 * Part of the name of its recipient.
 */
to?: string, 
/**
 * Part of the name of its sender or recipient.
 */
agent?: string, 
/**
 * Part of its topic or capability.
 */
topic?: string, 
/**
 * Beginnings of words in its payload, topic, capability, sender or recipient.
 */
text?: string, };

export type MessageQuery = { 
/**
 * Which messages.
 */
filter: MessageFilter, 
/**
 * Older than this place in the order of acceptance.
 */
before?: number, 
/**
 * At most this many; 1 to 500.
 */
limit: number, 
/**
 * With payloads.
 */
payloads?: boolean, };

export type MessagePage = { 
/**
 * Newest first.
 */
rows: Array<MessageRow>, 
/**
 * Where the next page begins; none at the end of history.
 */
next: number | null, };

export type OneMessage = { 
/**
 * Its id.
 */
id: MessageId, };

export type SendTest = { 
/**
 * Where to.
 */
topic: string, 
/**
 * JSON text.
 */
payload: string, };

export type AckView = { 
/**
 * The recipient.
 */
agent: AgentId, 
/**
 * How the first attempt ended.
 */
outcome: AttemptOutcome, 
/**
 * Its words.
 */
message: string | null, 
/**
 * What it gave back, as it wrote it.
 */
payloadText: string | null, };

export type SendResult = { 
/**
 * The message's id.
 */
messageId: MessageId, 
/**
 * Where it is now.
 */
state: MessageState, 
/**
 * What each recipient said.
 */
acks: Array<AckView>, };

export type DemoSwitch = { 
/**
 * Whether they should run.
 */
on: boolean, };

export type CallError = { 
/**
 * For programs.
 */
code: Code, 
/**
 * For people: what is wrong and what to do.
 */
message: string, };

export type Call = { "method": "status", "params": Nothing } | { "method": "agents", "params": Nothing } | { "method": "messages", "params": MessageQuery } | { "method": "message", "params": OneMessage } | { "method": "send", "params": SendTest } | { "method": "demo", "params": DemoSwitch };

export type Replies = { 
/**
 * What is running here.
 */
status: Status, 
/**
 * Everyone the registry knows.
 */
agents: AgentList, 
/**
 * A page of history, newest first.
 */
messages: MessagePage, 
/**
 * One message with its whole life.
 */
message: MessageDetail, 
/**
 * Sends a message as the operator.
 */
send: SendResult, 
/**
 * Starts or stops the demo agents.
 */
demo: Nothing, };

export type Watch = { 
/**
 * Which messages to show; agents and figures come whatever it says.
 */
filter: MessageFilter, };

export type Figures = { 
/**
 * Messages accepted a second, over the last seconds.
 */
perSecond: number, 
/**
 * Half of the messages were settled within this many microseconds; none if none were.
 */
p50Micros: number | null, 
/**
 * All but one in a hundred were settled within this many.
 */
p99Micros: number | null, 
/**
 * Live connections.
 */
connections: number, 
/**
 * The size of the database on disk.
 */
databaseBytes: number, 
/**
 * How long the broker has been running.
 */
uptimeSeconds: number, };

export type Moved = { 
/**
 * The message.
 */
seq: number, 
/**
 * Where it is now.
 */
state: MessageState, 
/**
 * Who has it or took it.
 */
to: AgentId | null, 
/**
 * Microseconds from acceptance to here.
 */
tookMicros: number, 
/**
 * What went wrong, if it did.
 */
error: string | null, };

export type FeedEvent = { "type": "snapshot", 
/**
 * Batches that follow count on from here, one by one.
 */
seq: number, 
/**
 * What is running here.
 */
status: Status, 
/**
 * Where every message is now.
 */
totals: Totals, 
/**
 * How busy the broker is.
 */
figures: Figures, 
/**
 * Everyone the registry knows.
 */
agents: Array<AgentView>, 
/**
 * The newest messages that pass the filter, newest first.
 */
rows: Array<MessageRow>, } | { "type": "batch", 
/**
 * One more than the event before.
 */
seq: number, 
/**
 * Where every message is now.
 */
totals: Totals, 
/**
 * How busy the broker is.
 */
figures: Figures, 
/**
 * What is running here, if that changed.
 */
status: Status | null, 
/**
 * Agents that came, went or changed.
 */
agents: Array<AgentView>, 
/**
 * New messages that pass the filter, oldest first; the newest few hundred of them.
 */
rows: Array<MessageRow>, 
/**
 * How many more passed the filter than there was room for. History has them.
 */
skipped: number, 
/**
 * Messages of earlier events that moved on.
 */
moved: Array<Moved>, };
