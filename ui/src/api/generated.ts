// Written by `./dev types` from crates/console. Do not edit.

export type AgentId = string;

export type MessageId = string;

export type ConversationId = string;

export type DeliveryId = number;

export type JobId = number;

export type Timestamp = string;

export type Code = "notJoined" | "alreadyJoined" | "invalidClient" | "invalidRequest" | "unknownMethod" | "alreadySubscribed" | "notSubscribed" | "unauthorized" | "lockedOut" | "taken" | "schemaViolation" | "unknownCapability" | "conflict" | "forbidden" | "notFound" | "tooLarge" | "busy" | "stopping" | "storageFailed" | "internal";

export type Door = "bus" | "lobby" | "collaboration" | "aacp" | "discovery" | "console";

export type AgentStatus = "starting" | "ready" | "busy" | "stopping" | "unavailable";

export type Kind = "request" | "response" | "event" | "broadcast";

export type Priority = "LOW" | "NORMAL" | "HIGH" | "URGENT";

export type MessageState = "waiting" | "processed" | "dead" | "discarded" | "expired" | "refused";

export type Policy = "stopPropagationOnProcessed" | "stopPropagationOnStop" | "continueAll";

export type AttemptOutcome = "processed" | "declined" | "invalidAnswer" | "timedOut" | "disconnected" | "queueFull" | "forbidden";

export type DeliveryState = "waiting" | "processed" | "failed";

export type DeadReason = "nobodySubscribed" | "declinedByAll" | "timedOut" | "gaveUp" | "agentGone" | "expired" | "queueFull" | "invalidAnswer" | "forbidden";

export type Dialect = "bus" | "lobby" | "collaboration" | "aacp";

export type Effect = "allow" | "deny";

export type SessionStatus = "active" | "paused" | "completed";

export type RuleId = number;

export type Decision = { 
/**
 * Whether it may.
 */
effect: Effect, 
/**
 * What made the decision: `rule 7`, `declared` or `nobody`.
 */
by: string, 
/**
 * What the provider's own declaration says, whether it counted or not.
 */
declared: Effect, };

export type Rule = { 
/**
 * Its number.
 */
id: RuleId, 
/**
 * Who calls.
 */
caller: string, 
/**
 * Who is called; for events, who listens.
 */
provider: string, 
/**
 * What is asked for; for events, the topic.
 */
capability: string, 
/**
 * Whether they may.
 */
effect: Effect, 
/**
 * Since when.
 */
createdAt: Timestamp, 
/**
 * Who made it.
 */
createdBy: string, };

export type RuleEdit = { 
/**
 * Who calls.
 */
caller: string, 
/**
 * Who is called; for events, who listens.
 */
provider: string, 
/**
 * What is asked for; for events, the topic.
 */
capability: string, 
/**
 * Whether they may; none takes the rule away and leaves it to the agent.
 */
effect: Effect | null, };

export type ChangedRule = { 
/**
 * Who calls.
 */
caller: string, 
/**
 * Who is called.
 */
provider: string, 
/**
 * What is asked for.
 */
capability: string, 
/**
 * What the rule said before; none where there was none.
 */
before: Effect | null, 
/**
 * What it says since; none where it was taken away.
 */
after: Effect | null, };

export type RuleChange = { 
/**
 * Its number; later changes have larger ones. 0 is a change that changed nothing.
 */
id: number, 
/**
 * When.
 */
at: Timestamp, 
/**
 * By whom.
 */
by: string, 
/**
 * Their words.
 */
note: string | null, 
/**
 * The change that this one took back.
 */
undoes: number | null, 
/**
 * The change that took this one back.
 */
undoneBy: number | null, 
/**
 * What it did.
 */
edits: Array<ChangedRule>, };

export type Trace = { 
/**
 * Unique for a conversation.
 */
traceId: string, 
/**
 * Unique for a message.
 */
spanId: string, 
/**
 * The message that led to this one.
 */
parentSpanId?: string, };

export type TokenView = { 
/**
 * When it was made.
 */
createdAt: Timestamp, 
/**
 * The highest priority its owner's messages get.
 */
ceiling: Priority, 
/**
 * When it was revoked; its owner has none since, and cannot join.
 */
revokedAt: Timestamp | null, };

export type Expression = string;

export type ListenFilter = { 
/**
 * Sent by one of these.
 */
fromAgents?: Array<AgentId>, 
/**
 * Of one of these priorities.
 */
priority?: Array<Priority>, 
/**
 * A regular expression that is found in the JSON text of the content; in none of more than 64 KiB.
 */
contentMatch?: Expression, };

export type SessionChange = { 
/**
 * The version that it led to.
 */
version: number, 
/**
 * When.
 */
at: Timestamp, 
/**
 * By whom.
 */
by: AgentId, 
/**
 * The keys that were written, with their values.
 */
written: Record<string, unknown>, 
/**
 * The status since, if it changed.
 */
status: SessionStatus | null, };

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
 * Its version, for people.
 */
version: string, 
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
 * Which messages on those topics; all if none.
 */
filter: ListenFilter | null, 
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
 * The operator's own name for it.
 */
label: string | null, 
/**
 * Whether the operator keeps it out.
 */
blocked: boolean, 
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
queued: number, 
/**
 * Its name where a door wants a UUID.
 */
alias: string, 
/**
 * Its token; none if it never had one, so that its name is free on this machine.
 */
token: TokenView | null, 
/**
 * When it was last heard of by a heartbeat, if it promised to be.
 */
heartbeatAt: Timestamp | null, };

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
 * When a recipient is asked again, if the message waits for that.
 */
retryAt: Timestamp | null, 
/**
 * The dead letter in whose place it was sent.
 */
replayOf: MessageId | null, 
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
 * Whether the recipient only watches.
 */
observer: boolean, 
/**
 * Where it is.
 */
state: DeliveryState, 
/**
 * When the recipient is asked again, if it is.
 */
retryAt: Timestamp | null, 
/**
 * Each try.
 */
attempts: Array<AttemptView>, };

export type LetterStatus = "open" | "replayed" | "discarded";

export type Letter = { 
/**
 * Why it died.
 */
reason: DeadReason, 
/**
 * When.
 */
diedAt: Timestamp, 
/**
 * Whether the operator has dealt with it.
 */
status: LetterStatus, 
/**
 * The message that was sent in its place.
 */
replayedAs: MessageId | null, 
/**
 * When the operator dealt with it.
 */
closedAt: Timestamp | null, 
/**
 * The operator's words.
 */
note: string | null, };

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
 * The dead letter that it is or was, if it ever died.
 */
letter: Letter | null, 
/**
 * The dead letter in whose place it was sent.
 */
replayOf: MessageId | null, 
/**
 * In which door's words the payload is written.
 */
dialect: Dialect, 
/**
 * Whether the rules let it pass, and which; none where no rule could say anything.
 */
decision: Decision | null, 
/**
 * Where it stands in a trace.
 */
trace: Trace | null, 
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
mdnsPeers: number | null, 
/**
 * What is wrong with the disk or with new connections, or was last.
 */
troubles: Array<TroubleView>, };

export type TroubleView = { 
/**
 * What is wrong, and what to do about it.
 */
words: string, 
/**
 * When it was noticed.
 */
since: Timestamp, 
/**
 * Since when it is over.
 */
over: Timestamp | null, };

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
 * Who is served first.
 */
priority?: Priority, 
/**
 * The exchange it belongs to.
 */
conversation?: ConversationId, 
/**
 * Accepted then or later.
 */
since?: Timestamp, 
/**
 * Accepted before then.
 */
until?: Timestamp, 
/**
 * It took at least so many microseconds.
 */
slowerMicros?: number, 
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

export type LetterRow = { 
/**
 * Its message's place in the order of acceptance; pages continue from it.
 */
seq: number, 
/**
 * Its message's id, which is its own too.
 */
id: MessageId, 
/**
 * The same, under the name that programs look for.
 */
messageId: MessageId, 
/**
 * Who sent it.
 */
from: AgentId, 
/**
 * The agent it was addressed to, or else the one that was asked last.
 */
to: AgentId | null, 
/**
 * The topic it was published on.
 */
topic: string, 
/**
 * What it asked for.
 */
capability: string | null, 
/**
 * What it was for.
 */
kind: Kind, 
/**
 * Who is served first.
 */
priority: Priority, 
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
 * What went wrong.
 */
error: string | null, 
/**
 * How often somebody was asked.
 */
attempts: number, 
/**
 * The dead letter in whose place it was sent.
 */
replayOf: MessageId | null, 
/**
 * The payload's length in bytes.
 */
payloadBytes: number, 
/**
 * The payload itself, where it was asked for.
 */
payload?: unknown, 
/**
 * Why it died.
 */
reason: DeadReason, 
/**
 * When.
 */
diedAt: Timestamp, 
/**
 * Whether the operator has dealt with it.
 */
status: LetterStatus, 
/**
 * The message that was sent in its place.
 */
replayedAs: MessageId | null, 
/**
 * When the operator dealt with it.
 */
closedAt: Timestamp | null, 
/**
 * The operator's words.
 */
note: string | null, };

export type LetterFilter = { 
/**
 * Those whose messages pass this. The state is passed over.
 */
message?: MessageFilter, 
/**
 * Those that died of this.
 */
reason?: DeadReason, 
/**
 * Those of this status; open ones where none is given.
 */
status?: LetterStatus, 
/**
 * Only these.
 */
ids?: Array<MessageId>, 
/**
 * Those that this job dealt with.
 */
closedBy?: JobId, };

export type JobKind = "replay" | "discard" | "restore";

export type JobStatus = "running" | "stopped" | "done";

export type JobView = { 
/**
 * Its id.
 */
id: JobId, 
/**
 * What is done with each letter.
 */
kind: JobKind, 
/**
 * How far it is.
 */
status: JobStatus, 
/**
 * Which letters.
 */
filter: LetterFilter, 
/**
 * The topic that replayed letters go to, if not their own.
 */
topic: string | null, 
/**
 * At most so many a second.
 */
perSecond: number | null, 
/**
 * The operator's words.
 */
note: string | null, 
/**
 * How many letters there were when it began.
 */
total: number, 
/**
 * How many of them are dealt with.
 */
done: number, 
/**
 * How many could not be, and are left as they were.
 */
failed: number, 
/**
 * Of those that were sent again, how many were processed.
 */
processed: number, 
/**
 * Of those that were sent again, how many died again.
 */
diedAgain: number, 
/**
 * Why the last of those could not.
 */
lastError: string | null, 
/**
 * When it began.
 */
startedAt: Timestamp, 
/**
 * When it ended, if it has.
 */
endedAt: Timestamp | null, };

export type Obstacle = { "type": "rule", 
/**
 * Which.
 */
rule: Rule, } | { "type": "declared" } | { "type": "private" } | { "type": "schema", 
/**
 * Of which capability.
 */
capability: string, 
/**
 * What is wrong, with the path of each.
 */
faults: string, };

export type RouteStep = { 
/**
 * The subscription.
 */
subscription: string, 
/**
 * Who listens.
 */
agent: AgentId, 
/**
 * By which door.
 */
door: Door, 
/**
 * The pattern, as the agent wrote it.
 */
pattern: string, 
/**
 * When the chain stops here.
 */
policy: Policy, 
/**
 * Deliveries in line before this one.
 */
waiting: number, 
/**
 * Why it is asked here, or not at all.
 */
why: string, 
/**
 * What would keep the message from it.
 */
stoppedBy: Obstacle | null, };

export type Fate = "asked" | "waits" | "defaultHandler" | "deadLetter" | "refused";

export type RouteView = { 
/**
 * The topic asked about.
 */
topic: string, 
/**
 * Whose message it would be: rules look at that.
 */
from: AgentId, 
/**
 * Asked one after the other until one of them stops it.
 */
chain: Array<RouteStep>, 
/**
 * Asked at once, whatever the others say.
 */
observers: Array<RouteStep>, 
/**
 * Would match, but are not asked.
 */
passedOver: Array<RouteStep>, 
/**
 * What would become of the message.
 */
fate: Fate, 
/**
 * The same in words.
 */
explanation: string, 
/**
 * What the broker would say against sending it, if it would.
 */
refused: string | null, 
/**
 * What keeps it from the agent that it is for, if that is why it would be refused.
 */
stoppedBy: Obstacle | null, };

export type LetterQuery = { 
/**
 * Which letters.
 */
filter: LetterFilter, 
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

export type Cause = { 
/**
 * Why they died.
 */
reason: DeadReason, 
/**
 * How many are open.
 */
count: number, };

export type LetterPage = { 
/**
 * Newest first.
 */
rows: Array<LetterRow>, 
/**
 * Where the next page begins; none at the end.
 */
next: number | null, 
/**
 * How many letters pass the filter.
 */
matching: number, 
/**
 * How many open letters there are of each cause, whatever the filter.
 */
causes: Array<Cause>, };

export type ReplayOne = { 
/**
 * The letter.
 */
id: MessageId, 
/**
 * Where to, if not where it went before.
 */
topic?: string, 
/**
 * JSON text, if not what it carried before.
 */
payload?: string, };

export type ReplayMany = { 
/**
 * Which letters.
 */
filter: LetterFilter, 
/**
 * Where to, if not where they went before.
 */
topic?: string, 
/**
 * At most so many a second; as fast as they are taken if none.
 */
perSecond?: number, };

export type DiscardMany = { 
/**
 * Which letters.
 */
filter: LetterFilter, 
/**
 * Why.
 */
reason: string, };

export type RestoreMany = { 
/**
 * Which letters: by id, or by the job that threw them away.
 */
filter: LetterFilter, };

export type OneJob = { 
/**
 * Its id.
 */
id: JobId, };

export type JobList = { 
/**
 * Newest first.
 */
jobs: Array<JobView>, };

export type ExportLetters = { 
/**
 * Which letters.
 */
filter: LetterFilter, 
/**
 * Younger than this place in the order of acceptance.
 */
after?: number, };

export type LetterLines = { 
/**
 * One letter a line, oldest first.
 */
lines: string, 
/**
 * Where the next page begins; none at the end.
 */
next: number | null, };

export type ImportLetters = { 
/**
 * One letter a line, as they were exported.
 */
lines: string, };

export type RefusedLine = { 
/**
 * Its number, from 1.
 */
line: number, 
/**
 * Why.
 */
message: string, };

export type Imported = { 
/**
 * Letters taken in.
 */
imported: number, 
/**
 * Letters that are here already.
 */
alreadyHere: number, 
/**
 * Lines that could not be taken in.
 */
refused: Array<RefusedLine>, };

export type ConversationRow = { 
/**
 * Its id.
 */
id: ConversationId, 
/**
 * What its session is about, or what its first message asked for.
 */
title: string, 
/**
 * Who speaks or is spoken to in it.
 */
participants: Array<AgentId>, 
/**
 * How many messages it has.
 */
messages: number, 
/**
 * How many of them were refused or died.
 */
failed: number, 
/**
 * When its first message came.
 */
startedAt: Timestamp, 
/**
 * When its last message came.
 */
lastAt: Timestamp, 
/**
 * The place of its last message in the order of acceptance.
 */
lastSeq: number, 
/**
 * Where its session is; none if nobody opened one.
 */
status: SessionStatus | null, };

export type ConversationMessage = { 
/**
 * The message, with its payload.
 */
row: MessageRow, 
/**
 * What links an answer to its question.
 */
correlationId: string | null, 
/**
 * The request that it answers.
 */
answers: MessageId | null, 
/**
 * What the recipient gave back with its acknowledgement, as it wrote it.
 */
answerText: string | null, 
/**
 * How many messages led to it.
 */
depth: number, 
/**
 * Where it stands in a trace.
 */
trace: Trace | null, };

export type SessionView = { 
/**
 * What it is about.
 */
topic: string, 
/**
 * Who sees and changes it.
 */
participants: Array<AgentId>, 
/**
 * Where it is.
 */
status: SessionStatus, 
/**
 * How often it was changed.
 */
version: number, 
/**
 * What they share, as JSON text.
 */
sharedStateText: string, 
/**
 * When it was opened.
 */
startedAt: Timestamp, 
/**
 * When it last changed.
 */
updatedAt: Timestamp, 
/**
 * When it was completed.
 */
closedAt: Timestamp | null, 
/**
 * Its changes, oldest first; the last 500.
 */
changes: Array<SessionChange>, };

export type ConversationQuery = { 
/**
 * Part of an id, of a participant's name or of what it is about.
 */
text?: string, 
/**
 * Only those in which something was refused, died or expired.
 */
failed?: boolean, 
/**
 * Only those whose session goes on.
 */
active?: boolean, 
/**
 * Whose last message came before this one.
 */
before?: number, 
/**
 * At most this many; 1 to 200.
 */
limit: number, };

export type ConversationPage = { 
/**
 * Those that were last spoken in first.
 */
rows: Array<ConversationRow>, 
/**
 * Where the next page begins; none at the end.
 */
next: number | null, };

export type OneConversation = { 
/**
 * Its id.
 */
id: ConversationId, };

export type ConversationDetail = { 
/**
 * Its id.
 */
id: ConversationId, 
/**
 * Its messages, oldest first; at most 2,000.
 */
messages: Array<ConversationMessage>, 
/**
 * How many more there are.
 */
more: number, 
/**
 * Its session, if somebody opened one.
 */
session: SessionView | null, };

export type RuleList = { 
/**
 * In order of their numbers.
 */
rules: Array<Rule>, };

export type EditRules = { 
/**
 * What to do.
 */
edits: Array<RuleEdit>, 
/**
 * Words for the history.
 */
note?: string, };

export type RuleHistoryQuery = { 
/**
 * Older than this change.
 */
before?: number, 
/**
 * At most this many; 1 to 500.
 */
limit: number, };

export type RuleHistory = { 
/**
 * Newest first.
 */
changes: Array<RuleChange>, 
/**
 * Where the next page begins; none at the end.
 */
next: number | null, };

export type OneChange = { 
/**
 * Its number.
 */
change: number, };

export type PreviewRules = { 
/**
 * The edits, on top of the rules in force.
 */
edits: Array<RuleEdit>, 
/**
 * Those of the last so many hours; may be a fraction.
 */
hours: number, };

export type PreviewGroup = { 
/**
 * Who asked.
 */
caller: AgentId, 
/**
 * Who was asked.
 */
provider: AgentId, 
/**
 * For what.
 */
capability: string, 
/**
 * How often.
 */
requests: number, 
/**
 * What was decided.
 */
was: Effect, 
/**
 * By what: `rule 7`, `declared` or `nobody`.
 */
wasBy: string, 
/**
 * What would have been decided.
 */
would: Effect, 
/**
 * By which edit, in words; none where it would be left to the agent.
 */
wouldBy: string | null, 
/**
 * How many conversations they belong to.
 */
conversations: number, 
/**
 * The conversations of the requests that are named here.
 */
conversationIds: Array<string>, 
/**
 * Those of its requests that are among the newest 1,000 of all groups.
 */
messages: Array<MessageId>, };

export type RulePreview = { 
/**
 * How many requests were looked at.
 */
requests: number, 
/**
 * How many of them would have been decided otherwise.
 */
changed: number, 
/**
 * Since when.
 */
since: Timestamp, 
/**
 * Those, put together by what they asked for; most requests first.
 */
groups: Array<PreviewGroup>, };

export type SuggestRules = { 
/**
 * The traffic of the last so many hours.
 */
hours: number, };

export type Usage = { 
/**
 * Who.
 */
agent: AgentId, 
/**
 * How often.
 */
requests: number, };

export type RuleSuggestion = { 
/**
 * Who offers it.
 */
provider: AgentId, 
/**
 * What.
 */
capability: string, 
/**
 * Who called it, and how often.
 */
callers: Array<Usage>, 
/**
 * Those who could call it and did not.
 */
unused: Array<AgentId>, 
/**
 * What to do.
 */
edits: Array<RuleEdit>, 
/**
 * Why, in words.
 */
reason: string, };

export type RuleSuggestions = { 
/**
 * How many requests were looked at.
 */
requests: number, 
/**
 * One for each capability that was called and is open to more than those who called it.
 */
suggestions: Array<RuleSuggestion>, };

export type PermissionQuery = { 
/**
 * Traffic of the last so many hours is counted; may be a fraction.
 */
hours: number, 
/**
 * As if these edits had been made.
 */
edits: Array<RuleEdit>, };

export type PermissionColumn = { 
/**
 * Who offers it.
 */
provider: AgentId, 
/**
 * What.
 */
capability: string, 
/**
 * What it does.
 */
description: string, 
/**
 * Whether the agent declares it now; else it was only asked for.
 */
declared: boolean, 
/**
 * Whether the agent declared an empty list of callers, which makes it public.
 */
emptyList: boolean, };

export type PermissionCell = { 
/**
 * What a rule for exactly this cell says, if there is one.
 */
own: Effect | null, 
/**
 * How often it was called.
 */
requests: number, 
/**
 * How often it was called and refused.
 */
refused: number, 
/**
 * Whether it may.
 */
effect: Effect, 
/**
 * What made the decision: `rule 7`, `declared` or `nobody`.
 */
by: string, 
/**
 * What the provider's own declaration says, whether it counted or not.
 */
declared: Effect, };

export type Permissions = { 
/**
 * The rows.
 */
callers: Array<AgentId>, 
/**
 * The columns, those of one provider side by side.
 */
columns: Array<PermissionColumn>, 
/**
 * For each caller, a cell for each column. An agent does not call itself: those are none.
 */
cells: Array<Array<PermissionCell | null>>, };

export type IssueToken = { 
/**
 * Whose it will be; made known if it is not.
 */
agent: AgentId, 
/**
 * The highest priority its messages get; urgent if none.
 */
ceiling?: Priority, };

export type Issued = { 
/**
 * Whose it is.
 */
agentId: AgentId, 
/**
 * The token.
 */
token: string, 
/**
 * Whether an older one stopped working.
 */
replaced: boolean, };

export type OneAgent = { 
/**
 * Its id.
 */
agent: AgentId, };

export type SignJwt = { 
/**
 * What it allows, such as `discover:read`.
 */
scopes: Array<string>, 
/**
 * For how long; an hour if none.
 */
ttlSeconds?: number, };

export type SignedJwt = { 
/**
 * The token.
 */
token: string, 
/**
 * What it allows.
 */
scopes: Array<string>, 
/**
 * Until when.
 */
expiresAt: Timestamp, };

export type Mechanism = "mdns" | "udp" | "http" | "websocket" | "bus";

export type KeyView = { 
/**
 * Hexadecimal SHA-256 of the key itself.
 */
fingerprint: string, 
/**
 * What kind of key it is, such as `ECDSA P-256`.
 */
kind: string, 
/**
 * The key as PEM.
 */
pem: string, };

export type Transport = { 
/**
 * `tcp`, `ws`, `unix` or another word.
 */
type: string, 
/**
 * Where.
 */
endpoint: string, };

export type Trust = "waiting" | "admitted" | "refused";

export type TrustedBy = "operator" | "allowList" | "everyone";

export type RetiredKey = { 
/**
 * The key.
 */
key: KeyView, 
/**
 * Until when.
 */
until: Timestamp, };

export type KeyChange = { 
/**
 * The other key.
 */
key: KeyView, 
/**
 * When it was last tried.
 */
at: Timestamp, 
/**
 * How.
 */
mechanism: Mechanism, 
/**
 * From where.
 */
address: string, };

export type SeenBy = { 
/**
 * The way.
 */
mechanism: Mechanism, 
/**
 * From where, at last.
 */
address: string, 
/**
 * Since when.
 */
since: Timestamp, 
/**
 * When it was last heard of.
 */
lastAt: Timestamp, 
/**
 * Until when it is believed; none where it says goodbye itself.
 */
until: Timestamp | null, };

export type AnnouncedView = { 
/**
 * Its id.
 */
id: AgentId, 
/**
 * Its name.
 */
name: string | null, 
/**
 * What it can do, each with a version or a few words.
 */
capabilities: { [key in string]: string }, 
/**
 * How it says it can be reached.
 */
transport: Transport, 
/**
 * The version of the protocol it speaks.
 */
protocolVersion: string, 
/**
 * Whether it counts as one of ours.
 */
trust: Trust, 
/**
 * Who decided that; none while nobody has.
 */
trustedBy: TrustedBy | null, 
/**
 * The key it is known by; none if it never signed.
 */
key: KeyView | null, 
/**
 * Whether its last announcement was signed.
 */
signed: boolean, 
/**
 * Keys it had before that still count.
 */
retiredKeys: Array<RetiredKey>, 
/**
 * Someone came with another key, and was turned away.
 */
keyChange: KeyChange | null, 
/**
 * The ways by which it is found now; empty if it is gone.
 */
seenBy: Array<SeenBy>, 
/**
 * When it was first heard of.
 */
firstSeen: Timestamp, 
/**
 * When it was last heard of.
 */
lastSeen: Timestamp, 
/**
 * The document as it was sent.
 */
documentText: string, };

export type TurnedAway = { 
/**
 * When.
 */
at: Timestamp, 
/**
 * How it came.
 */
mechanism: Mechanism, 
/**
 * From where.
 */
address: string, 
/**
 * Who it said it was, as far as that could be read.
 */
agent: AgentId | null, 
/**
 * Why, for people.
 */
message: string, 
/**
 * How often the same happened since the entry was made.
 */
times: number, };

export type AllowEntry = { 
/**
 * An id or a pattern.
 */
pattern: string, 
/**
 * The operator's words.
 */
note: string, 
/**
 * When it was added; none if it comes from the settings file and can only be changed there.
 */
addedAt: Timestamp | null, };

export type OwnAnnouncement = { 
/**
 * Its id on the network.
 */
id: string, 
/**
 * The fingerprint of its key.
 */
fingerprint: string, 
/**
 * Where its signed document is.
 */
documentUrl: string, };

export type NetworkInterface = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its addresses.
 */
addresses: Array<string>, 
/**
 * Whether it reaches only this machine.
 */
loopback: boolean, };

export type RegistryState = { 
/**
 * Where it is.
 */
url: string, 
/**
 * `suppressed`, `registered` or `failing`.
 */
state: string, 
/**
 * What goes wrong, if something does.
 */
problem: string | null, };

export type Looking = { 
/**
 * The interfaces that are chosen.
 */
interfaces: Array<string>, 
/**
 * The interfaces of this machine.
 */
available: Array<NetworkInterface>, 
/**
 * Whether multicast DNS is on.
 */
mdns: boolean, 
/**
 * Whether it works: whether this broker hears itself.
 */
mdnsWorks: boolean, 
/**
 * The group and port of datagrams; empty if they are off.
 */
udp: string, 
/**
 * For how many seconds an announcement is believed.
 */
ttlSeconds: number, 
/**
 * `ask`, or `auto` where every signed agent is admitted.
 */
admit: string, 
/**
 * Whether other machines can reach this broker at all.
 */
reachable: boolean, 
/**
 * The other registry that stands in while multicast DNS does not work; none if none is set.
 */
registry: RegistryState | null, };

export type DiscoveryView = { 
/**
 * Everyone who was announced: those that wait first, then those here, then those gone.
 */
agents: Array<AnnouncedView>, 
/**
 * The last announcements that were turned away, newest first.
 */
turnedAway: Array<TurnedAway>, 
/**
 * How this broker announces itself.
 */
own: OwnAnnouncement, 
/**
 * Where and how it looks for others.
 */
looking: Looking, };

export type AdmitAgent = { 
/**
 * Which.
 */
agent: AgentId, 
/**
 * The fingerprint of the key that is meant; needed only to accept another key than the known one.
 */
fingerprint?: string, };

export type LookOn = { 
/**
 * The names of interfaces; `lo` alone reaches nobody but this machine.
 */
interfaces: Array<string>, };

export type AllowList = { 
/**
 * In order.
 */
entries: Array<AllowEntry>, };

export type NewAllowEntry = { 
/**
 * An id or a pattern such as `3cde*`.
 */
pattern: string, 
/**
 * The operator's words.
 */
note: string, };

export type EditAllowList = { 
/**
 * New entries; one that is there gets the new words.
 */
add: Array<NewAllowEntry>, 
/**
 * The patterns of entries that go.
 */
remove: Array<string>, };

export type TlsView = { 
/**
 * Whether the port speaks TLS.
 */
on: boolean, 
/**
 * Whether every connection needs a certificate.
 */
clientCertificates: boolean, 
/**
 * Whether revoked certificates are known.
 */
revocations: boolean, 
/**
 * Until when the port's certificate is good.
 */
expiresAt: Timestamp | null, 
/**
 * The lines for the settings file that turn it on with the certificates in the folder.
 */
settings: string, };

export type CertificateView = { 
/**
 * Its serial number, hexadecimal.
 */
serial: string, 
/**
 * Whose it is.
 */
name: string, 
/**
 * `authority`, `server` or `client`.
 */
kind: string, 
/**
 * From when it is good.
 */
issuedAt: Timestamp, 
/**
 * Until when.
 */
expiresAt: Timestamp, 
/**
 * When it was revoked, if it was.
 */
revokedAt: Timestamp | null, 
/**
 * Its file.
 */
file: string, };

export type JwtKeyView = { 
/**
 * Its name: `own`, `own, before`, or its file.
 */
name: string, 
/**
 * The one algorithm that it counts for.
 */
algorithm: string, 
/**
 * Until when it counts; none where that is not set.
 */
until: Timestamp | null, };

export type SecurityView = { 
/**
 * What protects the port now.
 */
tls: TlsView, 
/**
 * What the authority in the data folder has issued, newest first.
 */
certificates: Array<CertificateView>, 
/**
 * The folder where certificates and keys are.
 */
folder: string, 
/**
 * The keys by which signed tokens are checked.
 */
jwtKeys: Array<JwtKeyView>, };

export type MakeServerCertificate = { 
/**
 * More names and addresses by which this machine is called.
 */
names: Array<string>, };

export type MakeClientCertificate = { 
/**
 * Whose it will be.
 */
name: string, };

export type OneCertificate = { 
/**
 * Its serial number.
 */
serial: string, };

export type NameAgent = { 
/**
 * Which.
 */
agent: AgentId, 
/**
 * The name; none takes it away.
 */
name?: string, };

export type BlockAgent = { 
/**
 * Which.
 */
agent: AgentId, 
/**
 * Whether it is to be kept out.
 */
blocked: boolean, };

export type HistoryQuery = { 
/**
 * How far back; 1 to 10,080, which is a week.
 */
minutes: number, 
/**
 * What came in by this door.
 */
door?: Door, 
/**
 * What this agent sent, and what it did with what it got.
 */
agent?: AgentId, };

export type FigureHistory = { 
/**
 * The length of one step.
 */
stepSeconds: number, 
/**
 * When each step begins, in seconds since 1970.
 */
at: Array<number>, 
/**
 * Messages accepted in it; none where the broker did not run. The same holds for those below.
 */
accepted: Array<number | null>, 
/**
 * Messages processed.
 */
processed: Array<number | null>, 
/**
 * Messages refused.
 */
refused: Array<number | null>, 
/**
 * Messages that died.
 */
dead: Array<number | null>, 
/**
 * Half of what was settled was so within this many microseconds.
 */
p50Micros: Array<number | null>, 
/**
 * All but one in a hundred.
 */
p99Micros: Array<number | null>, 
/**
 * Deliveries that waited, the most at any time in the step.
 */
queued: Array<number | null>, 
/**
 * Dead letters that nobody had dealt with, at its end; only of everything.
 */
openLetters: Array<number | null>, };

export type BusyBy = "door" | "agent";

export type BusyQuery = { 
/**
 * How far back; 1 to 10,080.
 */
minutes: number, 
/**
 * Put together by what.
 */
by: BusyBy, };

export type BusyRow = { 
/**
 * The door's name or the agent's id.
 */
name: string, 
/**
 * Messages that came in by the door, or that the agent sent.
 */
accepted: number, 
/**
 * Messages that were processed: by the agent, or of those that came in by the door.
 */
processed: number, 
/**
 * Messages that were refused to it.
 */
refused: number, 
/**
 * Messages that died: in its hands, or of those that came in by the door.
 */
dead: number, 
/**
 * Half were settled within this many microseconds.
 */
p50Micros: number | null, 
/**
 * All but one in a hundred.
 */
p99Micros: number | null, 
/**
 * Deliveries to the agent that wait now; none for a door.
 */
queued: number | null, 
/**
 * Messages in and out in each step, at most 60 of them, oldest first.
 */
traffic: Array<number>, 
/**
 * The median time in each of these steps, in microseconds; none where nothing was settled.
 */
latency: Array<number | null>, };

export type BusyList = { 
/**
 * The length of one step of the lists in the rows.
 */
stepSeconds: number, 
/**
 * A row each.
 */
rows: Array<BusyRow>, };

export type Direction = "in" | "out";

export type MessageForm = { 
/**
 * The door.
 */
door: Door, 
/**
 * Which way it went.
 */
direction: Direction, 
/**
 * Who was at the other end.
 */
agent: AgentId, 
/**
 * The whole message as JSON text. What its sender wrote around the payload is not kept word for
 * word, and secrets not at all; it is written again as the door writes it.
 */
text: string, };

export type MessageForms = { 
/**
 * As it came in first, then as it went out, in the order of its deliveries.
 */
forms: Array<MessageForm>, };

export type Relation = "question" | "answer" | "original" | "replay" | "trace" | "conversation";

export type RelatedMessage = { 
/**
 * What it is to the other.
 */
relation: Relation, 
/**
 * The message.
 */
row: MessageRow, };

export type RelatedMessages = { 
/**
 * Each once, by its nearest relation.
 */
messages: Array<RelatedMessage>, };

export type MomentQuery = { 
/**
 * When.
 */
at: Timestamp, };

export type AgentThen = { 
/**
 * Which.
 */
id: AgentId, 
/**
 * Whether it could take messages.
 */
status: AgentStatus, 
/**
 * Deliveries to it that waited or were in its hands.
 */
queued: number, };

export type Moment = { 
/**
 * When.
 */
at: Timestamp, 
/**
 * The agents that were known then, in order of their ids.
 */
agents: Array<AgentThen>, 
/**
 * The rules that were in force.
 */
rules: Array<Rule>, 
/**
 * Dead letters that nobody had dealt with.
 */
openLetters: number, 
/**
 * Before this nothing is kept, so what is said of earlier moments is not whole.
 */
keptSince: Timestamp, };

export type SavedKind = "filter" | "template";

export type Saved = { 
/**
 * What it is.
 */
kind: SavedKind, 
/**
 * Its name; each kind has it once.
 */
name: string, 
/**
 * What it says, in the console's own words.
 */
text: string, 
/**
 * When it was kept.
 */
savedAt: Timestamp, };

export type SavedList = { 
/**
 * Filters and templates.
 */
saved: Array<Saved>, };

export type Save = { 
/**
 * What it is.
 */
kind: SavedKind, 
/**
 * Its name; 1 to 80 characters.
 */
name: string, 
/**
 * What it says; none forgets it. At most 64 KiB.
 */
text?: string, };

export type SettingKind = { "type": "switch" } | { "type": "number", 
/**
 * The least.
 */
min: number, 
/**
 * The most.
 */
max: number, 
/**
 * Whether it may have a fraction.
 */
fraction: boolean, 
/**
 * What it counts: `ms`, `bytes`, `MB`, `days`, or nothing.
 */
unit: string, } | { "type": "choice", 
/**
 * Those.
 */
options: Array<string>, } | { "type": "text", 
/**
 * What it looks like.
 */
example: string, } | { "type": "list", 
/**
 * What one looks like.
 */
example: string, } | { "type": "file" };

export type SettingView = { 
/**
 * Its name in the file with its section, such as `delivery.attempts`.
 */
key: string, 
/**
 * Its name for people.
 */
title: string, 
/**
 * What it does.
 */
explanation: string, 
/**
 * What may be given.
 */
kind: SettingKind, 
/**
 * What holds now.
 */
value: unknown, 
/**
 * What the file says, where that is something else and waits for a restart.
 */
next: unknown, 
/**
 * What holds where the file says nothing.
 */
default: unknown, 
/**
 * Whether a change holds at once; else after a restart.
 */
atOnce: boolean, 
/**
 * What it is fixed by, such as `--listen`, if the file does not count.
 */
fixedBy: string | null, };

export type SettingSection = { 
/**
 * Its name in the file, such as `delivery`; empty for those outside of any.
 */
name: string, 
/**
 * Its name for people.
 */
title: string, 
/**
 * What they are about.
 */
explanation: string, 
/**
 * Each setting.
 */
settings: Array<SettingView>, };

export type SettingsView = { 
/**
 * The file that they are in.
 */
file: string, 
/**
 * In the order of docs/SETTINGS.md.
 */
sections: Array<SettingSection>, 
/**
 * Whether something in the file will hold only after a restart.
 */
restartNeeded: boolean, 
/**
 * What is wrong with the file as it is now, if somebody has changed it by hand.
 */
problem: string | null, };

export type SettingChange = { 
/**
 * Which.
 */
key: string, 
/**
 * What it is to be; null is the default.
 */
value: unknown, };

export type EditSettings = { 
/**
 * What to change.
 */
changes: Array<SettingChange>, };

export type SettingHistoryQuery = { 
/**
 * Older than this change.
 */
before?: number, 
/**
 * At most this many; 1 to 500.
 */
limit: number, };

export type ChangedSetting = { 
/**
 * Its number; later changes have larger ones.
 */
id: number, 
/**
 * When.
 */
at: Timestamp, 
/**
 * By whom.
 */
by: string, 
/**
 * Which setting.
 */
key: string, 
/**
 * What the file said before; none where that is not shown, because there may be a secret in it.
 */
before: unknown, 
/**
 * What it said then.
 */
after: unknown, };

export type SettingHistory = { 
/**
 * Newest first.
 */
changes: Array<ChangedSetting>, 
/**
 * Where the next page begins; none at the end.
 */
next: number | null, };

export type Diagnostics = { 
/**
 * As text, without secrets and without what messages say.
 */
text: string, };

export type BackupView = { 
/**
 * Its name in the folder of backups.
 */
name: string, 
/**
 * The whole path.
 */
file: string, 
/**
 * Its size.
 */
bytes: number, 
/**
 * When it was made.
 */
madeAt: Timestamp, };

export type StorageWorkKind = "backup" | "compact" | "check";

export type StorageWork = { 
/**
 * What.
 */
kind: StorageWorkKind, 
/**
 * How much of it is done, from 0 to 1.
 */
done: number, 
/**
 * When it began.
 */
startedAt: Timestamp, 
/**
 * When it ended, if it has.
 */
endedAt: Timestamp | null, 
/**
 * What came of it, for people; what went wrong, if something did.
 */
result: string | null, 
/**
 * Whether it failed.
 */
failed: boolean, };

export type StorageView = { 
/**
 * The data folder.
 */
folder: string, 
/**
 * The size of the database.
 */
databaseBytes: number, 
/**
 * The size of its log, which is emptied into it again and again.
 */
logBytes: number, 
/**
 * How much of the database is empty; compacting gives it back.
 */
unusedBytes: number, 
/**
 * What is free on the disk.
 */
freeBytes: number, 
/**
 * How many messages are kept.
 */
messages: number, 
/**
 * When the oldest of them was accepted.
 */
oldest: Timestamp | null, 
/**
 * Copies of the database, newest first.
 */
backups: Array<BackupView>, 
/**
 * What is done to the database now, or was last.
 */
work: StorageWork | null, 
/**
 * The file that takes the place of the database at the next start.
 */
restoring: string | null, };

export type RestoreBackup = { 
/**
 * Its name in the folder of backups, or a whole path; none takes the wish back.
 */
file?: string, };

export type OneBackup = { 
/**
 * Its name in the folder of backups.
 */
name: string, };

export type RouteQuery = { 
/**
 * Where to: a topic, or `agent:` and an agent's id.
 */
topic: string, 
/**
 * JSON text, if it is to be judged too.
 */
payload?: string, 
/**
 * What it asks for; else what its payload says.
 */
capability?: string, 
/**
 * Who would send it, by the bus; the operator if none.
 */
from?: AgentId, 
/**
 * The open dead letter in whose place it would be sent: then its sender is that letter's, and its payload too
 * where none is given.
 */
letter?: MessageId, };

export type SpawnedAgent = { 
/**
 * The id it was given.
 */
agent: AgentId, 
/**
 * The topic it was started for.
 */
topic: string, 
/**
 * Its process.
 */
pid: number, 
/**
 * When it was started.
 */
startedAt: Timestamp, 
/**
 * When it ended, if it has.
 */
endedAt: Timestamp | null, 
/**
 * How it ended.
 */
ended: string | null, };

export type SpawnedList = { 
/**
 * Whether a command is set at all.
 */
enabled: boolean, 
/**
 * Newest first: those that run, and the last ones that ended.
 */
agents: Array<SpawnedAgent>, };

export type OneSpawned = { 
/**
 * Its id.
 */
agent: AgentId, };

export type SpawnedOutput = { 
/**
 * The end of it, both streams as they came.
 */
text: string, 
/**
 * The file that has all of it.
 */
file: string, };

export type SendTest = { 
/**
 * Where to.
 */
topic: string, 
/**
 * JSON text.
 */
payload: string, 
/**
 * What it asks for; else what its payload says.
 */
capability?: string, 
/**
 * Who is served first; normal if none.
 */
priority?: Priority, 
/**
 * After so many milliseconds it is not worth delivering any more.
 */
ttlMs?: number, };

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
payloadText: string | null, 
/**
 * In how many seconds it is asked again, if it is.
 */
againInSeconds: number | null, };

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

export type Call = { "method": "status", "params": Nothing } | { "method": "agents", "params": Nothing } | { "method": "messages", "params": MessageQuery } | { "method": "message", "params": OneMessage } | { "method": "send", "params": SendTest } | { "method": "route", "params": RouteQuery } | { "method": "deadLetters", "params": LetterQuery } | { "method": "replay", "params": ReplayOne } | { "method": "replayMany", "params": ReplayMany } | { "method": "discard", "params": DiscardMany } | { "method": "restore", "params": RestoreMany } | { "method": "jobs", "params": Nothing } | { "method": "stopJob", "params": OneJob } | { "method": "resumeJob", "params": OneJob } | { "method": "exportLetters", "params": ExportLetters } | { "method": "importLetters", "params": ImportLetters } | { "method": "rules", "params": Nothing } | { "method": "editRules", "params": EditRules } | { "method": "ruleHistory", "params": RuleHistoryQuery } | { "method": "undoRules", "params": OneChange } | { "method": "previewRules", "params": PreviewRules } | { "method": "suggestRules", "params": SuggestRules } | { "method": "permissions", "params": PermissionQuery } | { "method": "issueToken", "params": IssueToken } | { "method": "revokeToken", "params": OneAgent } | { "method": "signJwt", "params": SignJwt } | { "method": "discovery", "params": Nothing } | { "method": "admitAgent", "params": AdmitAgent } | { "method": "refuseAgent", "params": OneAgent } | { "method": "forgetAgent", "params": OneAgent } | { "method": "lookOn", "params": LookOn } | { "method": "allowList", "params": Nothing } | { "method": "editAllowList", "params": EditAllowList } | { "method": "security", "params": Nothing } | { "method": "makeServerCertificate", "params": MakeServerCertificate } | { "method": "makeClientCertificate", "params": MakeClientCertificate } | { "method": "revokeCertificate", "params": OneCertificate } | { "method": "rotateJwtKey", "params": Nothing } | { "method": "conversations", "params": ConversationQuery } | { "method": "conversation", "params": OneConversation } | { "method": "spawned", "params": Nothing } | { "method": "spawnedOutput", "params": OneSpawned } | { "method": "disconnectAgent", "params": OneAgent } | { "method": "blockAgent", "params": BlockAgent } | { "method": "nameAgent", "params": NameAgent } | { "method": "messageForms", "params": OneMessage } | { "method": "relatedMessages", "params": OneMessage } | { "method": "figureHistory", "params": HistoryQuery } | { "method": "busy", "params": BusyQuery } | { "method": "moment", "params": MomentQuery } | { "method": "saved", "params": Nothing } | { "method": "save", "params": Save } | { "method": "settings", "params": Nothing } | { "method": "editSettings", "params": EditSettings } | { "method": "settingHistory", "params": SettingHistoryQuery } | { "method": "restart", "params": Nothing } | { "method": "storage", "params": Nothing } | { "method": "backUp", "params": Nothing } | { "method": "deleteBackup", "params": OneBackup } | { "method": "restoreBackup", "params": RestoreBackup } | { "method": "compact", "params": Nothing } | { "method": "checkStorage", "params": Nothing } | { "method": "diagnostics", "params": Nothing } | { "method": "demo", "params": DemoSwitch };

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
 * Who would get a message, without sending it.
 */
route: RouteView, 
/**
 * A page of dead letters, newest first.
 */
deadLetters: LetterPage, 
/**
 * Sends one dead letter again, changed or not.
 */
replay: SendResult, 
/**
 * Begins to send many dead letters again.
 */
replayMany: JobView, 
/**
 * Begins to throw away many dead letters.
 */
discard: JobView, 
/**
 * Begins to take back dead letters that were thrown away.
 */
restore: JobView, 
/**
 * The jobs that run, and the last ones that ended.
 */
jobs: JobList, 
/**
 * Stops a job where it is.
 */
stopJob: JobView, 
/**
 * Lets a stopped job go on.
 */
resumeJob: JobView, 
/**
 * Dead letters as JSON lines, oldest first, a page at a time.
 */
exportLetters: LetterLines, 
/**
 * Takes in dead letters from JSON lines.
 */
importLetters: Imported, 
/**
 * The rules in force.
 */
rules: RuleList, 
/**
 * Makes, changes and takes away rules, all at once.
 */
editRules: RuleChange, 
/**
 * The changes that were made to the rules, newest first.
 */
ruleHistory: RuleHistory, 
/**
 * Takes one change of the rules back.
 */
undoRules: RuleChange, 
/**
 * Which recorded requests some edits would have decided otherwise.
 */
previewRules: RulePreview, 
/**
 * The fewest permissions that the traffic would get by with.
 */
suggestRules: RuleSuggestions, 
/**
 * Who may call what.
 */
permissions: Permissions, 
/**
 * Makes a token for an agent.
 */
issueToken: Issued, 
/**
 * Takes an agent's token away: its connections end, and it cannot join.
 */
revokeToken: Nothing, 
/**
 * Makes a signed token with scopes.
 */
signJwt: SignedJwt, 
/**
 * Everyone who was announced, and how this broker looks for them.
 */
discovery: DiscoveryView, 
/**
 * Lets an announced agent in, or accepts its new key.
 */
admitAgent: AnnouncedView, 
/**
 * Turns an announced agent away, now and from now on.
 */
refuseAgent: AnnouncedView, 
/**
 * Forgets what was decided about an announced agent, its key included.
 */
forgetAgent: Nothing, 
/**
 * Chooses where to look for others.
 */
lookOn: Looking, 
/**
 * Who may announce themselves.
 */
allowList: AllowList, 
/**
 * Changes that.
 */
editAllowList: AllowList, 
/**
 * What protects the port, and what has been issued.
 */
security: SecurityView, 
/**
 * Makes the certificate of this port, and the authority if there is none.
 */
makeServerCertificate: SecurityView, 
/**
 * Makes a certificate for a client.
 */
makeClientCertificate: CertificateView, 
/**
 * Revokes a certificate: connections that use it end.
 */
revokeCertificate: SecurityView, 
/**
 * Makes a new key for signed tokens; the old one counts for another day.
 */
rotateJwtKey: SecurityView, 
/**
 * A page of conversations.
 */
conversations: ConversationPage, 
/**
 * One conversation with its messages.
 */
conversation: ConversationDetail, 
/**
 * The agents that the default handler started.
 */
spawned: SpawnedList, 
/**
 * What one of them wrote.
 */
spawnedOutput: SpawnedOutput, 
/**
 * Ends an agent's connections; it may come back.
 */
disconnectAgent: Nothing, 
/**
 * Keeps an agent out by every door, or lets it in again.
 */
blockAgent: AgentView, 
/**
 * Gives an agent a name of the operator's own.
 */
nameAgent: AgentView, 
/**
 * A message in the words of each door that it passed.
 */
messageForms: MessageForms, 
/**
 * The messages that have to do with one.
 */
relatedMessages: RelatedMessages, 
/**
 * How busy the broker was.
 */
figureHistory: FigureHistory, 
/**
 * Who was how busy.
 */
busy: BusyList, 
/**
 * How things stood at a moment in the past.
 */
moment: Moment, 
/**
 * Filters and templates that the operator keeps.
 */
saved: SavedList, 
/**
 * Keeps or forgets one of them.
 */
save: SavedList, 
/**
 * All settings.
 */
settings: SettingsView, 
/**
 * Changes some of them.
 */
editSettings: SettingsView, 
/**
 * The changes of settings that were made, newest first.
 */
settingHistory: SettingHistory, 
/**
 * Starts the broker anew, with the settings as they are in the file.
 */
restart: Nothing, 
/**
 * What is kept where.
 */
storage: StorageView, 
/**
 * Begins to copy the database into the folder of backups.
 */
backUp: StorageView, 
/**
 * Deletes a copy.
 */
deleteBackup: StorageView, 
/**
 * Lets a copy take the place of the database at the next start.
 */
restoreBackup: StorageView, 
/**
 * Begins to give back to the disk what is empty in the database.
 */
compact: StorageView, 
/**
 * Begins to check the database for damage.
 */
checkStorage: StorageView, 
/**
 * What one needs to know to help, without secrets.
 */
diagnostics: Diagnostics, 
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
 * Dead letters that nobody has dealt with.
 */
openLetters: number, 
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
 * Microseconds from acceptance to here; none where it only waits, or the operator moved it.
 */
tookMicros: number | null, 
/**
 * What went wrong, if it did.
 */
error: string | null, 
/**
 * When somebody is asked again, if the message waits for that.
 */
retryAt: Timestamp | null, };

export type DiedAgain = { 
/**
 * The message.
 */
id: MessageId, 
/**
 * The dead letter in whose place it was sent.
 */
replayOf: MessageId, 
/**
 * The topic that it was sent to.
 */
topic: string, 
/**
 * What went wrong this time.
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
rows: Array<MessageRow>, 
/**
 * The jobs that run, and the last ones that ended.
 */
jobs: Array<JobView>, } | { "type": "batch", 
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
moved: Array<Moved>, 
/**
 * Jobs that began, went on or ended.
 */
jobs: Array<JobView>, 
/**
 * Whether the rules changed.
 */
rules: boolean, 
/**
 * Whether something changed about who is announced.
 */
discovery: boolean, 
/**
 * Whether a session was opened or changed.
 */
sessions: boolean, 
/**
 * Messages that were sent in the place of dead letters, and died too.
 */
diedAgain: Array<DiedAgain>, };
