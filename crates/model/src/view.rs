//! What the operator sees: rows and details as the console, `bub` and the screens show them.

use serde::Serialize;
use ts_rs::TS;

use crate::{
    AgentId, AgentStatus, AttemptOutcome, Capability, ConversationId, Decision, DeliveryId,
    DeliveryState, Dialect, Door, Kind, Letter, ListenFilter, Message, MessageId, MessageState,
    Payload, Policy, Priority, SubscriptionId, Timestamp, TokenView, Trace,
};

/// One message as a line in a table.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageRow {
    /// Its place in the order of acceptance; pages of history continue from it.
    pub seq: u64,
    /// Its id.
    pub id: MessageId,
    /// Who sent it.
    pub from: AgentId,
    /// The agent it was addressed to, or else the one that has it or took it.
    pub to: Option<AgentId>,
    /// The topic it was published on.
    pub topic: Option<String>,
    /// What it asks for.
    pub capability: Option<String>,
    /// What it is for.
    pub kind: Kind,
    /// Who is served first.
    pub priority: Priority,
    /// Where it is in its life.
    pub state: MessageState,
    /// The door it came in by.
    pub door: Door,
    /// The exchange it belongs to.
    pub conversation_id: Option<ConversationId>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Microseconds until it was settled; none while it waits.
    pub took_micros: Option<u64>,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// When a recipient is asked again, if the message waits for that.
    pub retry_at: Option<Timestamp>,
    /// The dead letter in whose place it was sent.
    pub replay_of: Option<MessageId>,
    /// The payload's length in bytes.
    pub payload_bytes: u64,
    /// The payload itself, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub payload: Option<Payload>,
}

impl MessageRow {
    /// A message as it was accepted, without its payload.
    pub fn of(message: &Message) -> Self {
        Self {
            seq: message.seq,
            id: message.id,
            from: message.from.clone(),
            to: message.address.agent().cloned(),
            topic: Some(message.address.topic().as_str().to_owned()),
            capability: message.capability.clone(),
            kind: message.kind,
            priority: message.priority,
            state: MessageState::Waiting,
            door: message.door,
            conversation_id: message.conversation.clone(),
            created_at: message.accepted_at,
            took_micros: None,
            error: None,
            retry_at: None,
            replay_of: message.replay_of,
            payload_bytes: message.payload.bytes() as u64,
            payload: None,
        }
    }
}

/// One message with its whole life.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageDetail {
    /// The message, with its payload.
    pub row: MessageRow,
    /// The payload as its sender wrote it, to the letter.
    pub payload_text: String,
    /// What links it to others.
    pub correlation_id: Option<String>,
    /// When it stops being worth delivering.
    pub expires_at: Option<Timestamp>,
    /// When it was settled.
    pub settled_at: Option<Timestamp>,
    /// The dead letter that it is or was, if it ever died.
    pub letter: Option<Letter>,
    /// The dead letter in whose place it was sent.
    pub replay_of: Option<MessageId>,
    /// In which door's words the payload is written.
    pub dialect: Dialect,
    /// Whether the rules let it pass, and which; none where no rule could say anything.
    pub decision: Option<Decision>,
    /// Where it stands in a trace.
    pub trace: Option<Trace>,
    /// Each recipient, in the order in which they were asked.
    pub deliveries: Vec<DeliveryView>,
}

/// One recipient of a message.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// The delivery.
    pub id: DeliveryId,
    /// The recipient.
    pub agent: AgentId,
    /// The door it went out by.
    pub door: Door,
    /// The subscription's pattern that brought it here.
    pub pattern: Option<String>,
    /// Whether the recipient only watches.
    pub observer: bool,
    /// Where it is.
    pub state: DeliveryState,
    /// When the recipient is asked again, if it is.
    pub retry_at: Option<Timestamp>,
    /// Each try.
    pub attempts: Vec<AttemptView>,
}

/// One try at a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// 1 for the first.
    pub number: u32,
    /// When the message was handed to the recipient's door.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The recipient's words, or what went wrong.
    pub message: Option<String>,
    /// What the recipient gave back, as it wrote it.
    pub payload_text: Option<String>,
}

/// One agent as the registry knows it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// Its id.
    pub id: AgentId,
    /// Its program's name.
    pub name: String,
    /// The operator's own name for it.
    pub label: Option<String>,
    /// Whether the operator keeps it out.
    pub blocked: bool,
    /// Its program's version.
    pub version: String,
    /// The doors it is connected by, or was last.
    pub doors: Vec<Door>,
    /// Whether it can take messages now.
    pub status: AgentStatus,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// What it listens to.
    pub subscriptions: Vec<SubscriptionView>,
    /// Live connections.
    pub connections: u32,
    /// When the broker first heard of it.
    pub first_seen: Timestamp,
    /// When the broker last heard of it.
    pub last_seen: Timestamp,
    /// Messages it sent since the broker started.
    pub sent: u64,
    /// Deliveries made to it since the broker started.
    pub received: u64,
    /// Deliveries to it that wait or are in flight.
    pub queued: u64,
    /// Its name where a door wants a UUID.
    pub alias: String,
    /// Its token; none if it never had one, so that its name is free on this machine.
    pub token: Option<TokenView>,
    /// When it was last heard of by a heartbeat, if it promised to be.
    pub heartbeat_at: Option<Timestamp>,
}

/// One live subscription.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionView {
    /// Its id.
    #[ts(type = "string")]
    pub id: SubscriptionId,
    /// The pattern, as the agent wrote it.
    pub pattern: String,
    /// When its chain stops.
    pub policy: Policy,
    /// Which messages on those topics; all if none.
    pub filter: Option<ListenFilter>,
    /// Since when.
    pub since: Timestamp,
}

/// Where every message ever accepted is now. `accepted` is the sum of the other five.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Messages taken in.
    pub accepted: u64,
    /// Taken care of.
    pub processed: u64,
    /// On their way.
    pub waiting: u64,
    /// Dead letters.
    pub dead: u64,
    /// Dead letters thrown away by the operator.
    pub discarded: u64,
    /// Out of time.
    pub expired: u64,
}

impl Totals {
    /// How many messages are unaccounted for. Anything but 0 is a fault of ours.
    pub fn difference(&self) -> i128 {
        let settled = self.processed + self.waiting + self.dead + self.discarded + self.expired;
        i128::from(self.accepted) - i128::from(settled)
    }
}
