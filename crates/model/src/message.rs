//! Messages: what one agent says, as the broker accepted it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ts_rs::TS;

use crate::{
    AgentId, Context, ConversationId, Decision, Dialect, Door, MessageId, Timestamp, Topic, Trace,
    in_short,
};

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Asks one agent to do something.
    Request,
    /// Answers a request.
    Response,
    /// Tells whoever listens to a topic.
    Event,
    /// Tells everyone.
    Broadcast,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Request, Self::Response, Self::Event, Self::Broadcast];

    /// The kind's name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Event => "event",
            Self::Broadcast => "broadcast",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Who is served first. Never a number on the outside: doors disagree about the direction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Priority {
    /// Served when idle, but never starved.
    Low,
    /// The usual.
    #[default]
    Normal,
    /// Before normal ones.
    High,
    /// Before all others.
    Urgent,
}

impl Priority {
    /// Every priority, lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Normal, Self::High, Self::Urgent];

    /// The priority's name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Normal => "NORMAL",
            Self::High => "HIGH",
            Self::Urgent => "URGENT",
        }
    }

    /// The priority of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.as_str() == text)
    }
}

/// Where a message is in its life. Everything accepted is in exactly one of these, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum MessageState {
    /// Accepted, not settled yet.
    Waiting,
    /// Somebody took care of it.
    Processed,
    /// Nobody could; it lies among the dead letters.
    Dead,
    /// A dead letter that the operator threw away.
    Discarded,
    /// Its time ran out.
    Expired,
    /// Not accepted at all; kept to show what was tried.
    Refused,
}

impl MessageState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Processed, Self::Dead, Self::Discarded, Self::Expired, Self::Refused];

    /// The state's name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Processed => "processed",
            Self::Dead => "dead",
            Self::Discarded => "discarded",
            Self::Expired => "expired",
            Self::Refused => "refused",
        }
    }

    /// The state of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// To whom a message goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// One agent, by whichever door it can be reached.
    Agent(AgentId),
    /// Whoever subscribed to the topic.
    Topic(Topic),
}

impl Address {
    /// The topic that subscriptions are matched against: an agent's own is `agent:{id}`.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Agent(id) => Topic::of_agent(id),
            Self::Topic(topic) => topic.clone(),
        }
    }

    /// The same as text.
    pub fn topic_text(&self) -> &str {
        match self {
            Self::Agent(id) => id.topic(),
            Self::Topic(topic) => topic.as_str(),
        }
    }

    /// The addressed agent, if it is one.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Agent(id) => Some(id),
            Self::Topic(_) => None,
        }
    }
}

impl From<Topic> for Address {
    fn from(topic: Topic) -> Self {
        match topic.agent() {
            Some(id) => Self::Agent(id),
            None => Self::Topic(topic),
        }
    }
}

/// What a message carries: JSON text, kept as its sender wrote it and parsed only where a rule or
/// a schema asks. Cloning is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload {
    text: Arc<str>,
    bytes: usize,
}

/// The text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload is not valid JSON: {0}")]
pub struct InvalidPayload(pub String);

impl Payload {
    /// Takes JSON text that has been checked already, as a parsed envelope's raw part has.
    pub fn from_raw(raw: &RawValue) -> Self {
        Self::trusted(raw.get())
    }

    /// Checks and takes JSON text.
    pub fn parse(text: &str) -> Result<Self, InvalidPayload> {
        let raw: &RawValue = serde_json::from_str(text)
            .map_err(|error| InvalidPayload(in_short(error.to_string())))?;
        Ok(Self::from_raw(raw))
    }

    /// Takes text that this program stored as JSON earlier, without checking it again.
    pub fn trusted(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { bytes: text.len(), text }
    }

    /// Text as a JSON string.
    pub fn of_text(text: &str) -> Self {
        Self::trusted(serde_json::Value::from(text).to_string())
    }

    /// The same payload with its text let go: it is on disk, and is read from there before anyone
    /// gets it. Empty text is no JSON, so the two cannot be mistaken for each other.
    #[must_use]
    pub fn left_on_disk(&self) -> Self {
        Self { text: "".into(), bytes: self.bytes }
    }

    /// Whether the text is to be read from disk first.
    pub fn is_left_on_disk(&self) -> bool {
        self.text.is_empty()
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How long the text is, here or on disk.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Payload {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.text).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// A message that the broker took in.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its place in the order of acceptance; also its row in the database.
    pub seq: u64,
    /// Its name to the outside.
    pub id: MessageId,
    /// The authenticated agent that sent it, never a field it filled in.
    pub from: AgentId,
    /// To whom it goes.
    pub address: Address,
    /// What it is for.
    pub kind: Kind,
    /// What it asks for, if it asks.
    pub capability: Option<String>,
    /// Who is served first.
    pub priority: Priority,
    /// The door it came in by.
    pub door: Door,
    /// What links an answer to its question, as the sender wrote it.
    pub correlation: Option<String>,
    /// The exchange it belongs to.
    pub conversation: Option<ConversationId>,
    /// What it carries, in the words of `dialect`.
    pub payload: Payload,
    /// In which door's words the payload is written.
    pub dialect: Dialect,
    /// Trace and depth, where there are any.
    pub context: Option<Arc<Context>>,
    /// Whether the rules let it pass, and which; none where no rule could say anything.
    pub decision: Option<Decision>,
    /// When its sender stops waiting for an answer, if it waits for one.
    pub answer_by: Option<Timestamp>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// When it stops being worth delivering.
    pub expires_at: Option<Timestamp>,
    /// The dead letter in whose place it was sent.
    pub replay_of: Option<MessageId>,
}

/// The topics of broadcasts begin so.
const BROADCAST_PREFIX: &str = "broadcast:";

impl Message {
    /// What it carries, in another door's words where those are others. What need not be rewritten
    /// stays as its sender wrote it.
    pub fn payload_in(&self, dialect: Dialect) -> Payload {
        if self.dialect == dialect {
            return self.payload.clone();
        }
        let text = self.payload.as_str();
        match self.kind {
            Kind::Request => {
                let mut call = self.dialect.read_call(text);
                if self.capability.is_some() {
                    call.capability.clone_from(&self.capability);
                }
                dialect.write_call(&call)
            }
            Kind::Response => {
                let outcome = self.dialect.read_outcome(text);
                dialect.write_outcome(self.capability.as_deref(), &outcome)
            }
            Kind::Event | Kind::Broadcast => {
                let topic = self.address.topic();
                let topic = topic.as_str();
                let name = topic.strip_prefix(BROADCAST_PREFIX).unwrap_or(topic);
                dialect.write_event(name, &self.dialect.read_event(text))
            }
        }
    }

    /// Where it stands in a trace: what its sender wrote, or else a trace of its own, which is made of its
    /// id and so the same whenever it is asked for.
    pub fn trace(&self) -> Trace {
        let given = self.context.as_ref().and_then(|context| context.trace.clone());
        given.unwrap_or_else(|| {
            let trace_id = self.id.0.simple().to_string();
            let span_id = trace_id.chars().skip(16).collect();
            Trace { trace_id, span_id, parent_span_id: None }
        })
    }

    /// The same message with what it carries let go, which is on disk.
    #[must_use]
    pub fn left_on_disk(&self) -> Self {
        Self { payload: self.payload.left_on_disk(), ..self.clone() }
    }

    /// The agent that was asked for something, and whether the rules allowed it; none where they could not say
    /// anything.
    pub fn judged(&self) -> Option<(&AgentId, Decision)> {
        Some((self.address.agent()?, self.decision?))
    }

    /// What links an answer to it: what its sender wrote, or else its id.
    pub fn correlation_or_id(&self) -> String {
        self.correlation.clone().unwrap_or_else(|| self.id.to_string())
    }
}
