//! Calls about what belongs to one message.

use serde::Serialize;
use switchboard_model::{AgentId, Door, MessageRow};
use ts_rs::TS;

/// A message in the words of each door that it passed.
#[derive(Clone, Debug, Serialize, TS)]
pub struct MessageForms {
    /// As it came in first, then as it went out, in the order of its deliveries.
    pub forms: Vec<MessageForm>,
}

/// A message as it was on the wire at one door.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct MessageForm {
    /// The door.
    pub door: Door,
    /// Which way it went.
    pub direction: Direction,
    /// Who was at the other end.
    pub agent: AgentId,
    /// The whole message as JSON text. What its sender wrote around the payload is not kept word for
    /// word, and secrets not at all; it is written again as the door writes it.
    pub text: String,
}

/// Which way a message went through a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From an agent to the broker.
    In,
    /// From the broker to an agent.
    Out,
}

/// The messages that have to do with one, oldest first; at most 100.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RelatedMessages {
    /// Each once, by its nearest relation.
    pub messages: Vec<RelatedMessage>,
}

/// A message that has to do with another.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RelatedMessage {
    /// What it is to the other.
    pub relation: Relation,
    /// The message.
    pub row: MessageRow,
}

/// What a message is to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The request that the other answers.
    Question,
    /// An answer to the other.
    Answer,
    /// The dead letter in whose place the other was sent.
    Original,
    /// Sent in the place of the other.
    Replay,
    /// In the same trace.
    Trace,
    /// In the same conversation.
    Conversation,
}
