//! Dead letters: messages that nobody took, until the operator deals with them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    AgentId, ConversationId, DeadReason, DeliveryView, Door, JobId, Kind, Message, MessageFilter,
    MessageId, Payload, Priority, Timestamp,
};

/// Whether the operator has dealt with a dead letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum LetterStatus {
    /// Nobody has.
    #[default]
    Open,
    /// Another message was sent in its place.
    Replayed,
    /// It was thrown away.
    Discarded,
}

impl LetterStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Open, Self::Replayed, Self::Discarded];

    /// The status's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Replayed => "replayed",
            Self::Discarded => "discarded",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// What became of a message that died.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Letter {
    /// Why it died.
    pub reason: DeadReason,
    /// When.
    pub died_at: Timestamp,
    /// Whether the operator has dealt with it.
    pub status: LetterStatus,
    /// The message that was sent in its place.
    pub replayed_as: Option<MessageId>,
    /// When the operator dealt with it.
    pub closed_at: Option<Timestamp>,
    /// The operator's words.
    pub note: Option<String>,
}

/// One dead letter as a line in a table.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LetterRow {
    /// Its message's place in the order of acceptance; pages continue from it.
    pub seq: u64,
    /// Its message's id, which is its own too.
    pub id: MessageId,
    /// The same, under the name that programs look for.
    pub message_id: MessageId,
    /// Who sent it.
    pub from: AgentId,
    /// The agent it was addressed to, or else the one that was asked last.
    pub to: Option<AgentId>,
    /// The topic it was published on.
    pub topic: String,
    /// What it asked for.
    pub capability: Option<String>,
    /// What it was for.
    pub kind: Kind,
    /// Who is served first.
    pub priority: Priority,
    /// The door it came in by.
    pub door: Door,
    /// The exchange it belongs to.
    pub conversation_id: Option<ConversationId>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Why and when it died, and what became of it.
    #[serde(flatten)]
    #[ts(flatten)]
    pub letter: Letter,
    /// What went wrong.
    pub error: Option<String>,
    /// How often somebody was asked.
    pub attempts: u32,
    /// The dead letter in whose place it was sent.
    pub replay_of: Option<MessageId>,
    /// The payload's length in bytes.
    pub payload_bytes: u64,
    /// The payload itself, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown", optional)]
    pub payload: Option<Payload>,
}

/// Which dead letters; parts that are given are joined by "and".
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(optional_fields)]
pub struct LetterFilter {
    /// Those whose messages pass this. The state is passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageFilter>,
    /// Those that died of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<DeadReason>,
    /// Those of this status; open ones where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<LetterStatus>,
    /// Only these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<MessageId>>,
    /// Those that this job dealt with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<JobId>,
}

/// A dead letter with the message it was, as it is replayed, exported and imported.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadMessage {
    /// The message, whole.
    pub message: Message,
    /// What became of it.
    pub letter: Letter,
    /// What went wrong.
    pub error: Option<String>,
    /// What was tried for it, where that was asked for.
    pub deliveries: Vec<DeliveryView>,
}
