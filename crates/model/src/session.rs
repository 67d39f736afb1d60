//! Sessions: conversations that agents opened, with participants and a state they share.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, ConversationId, Kind, MessageId, Object, Timestamp};

/// Where a session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// Under way.
    #[default]
    Active,
    /// At rest; it can go on.
    Paused,
    /// Over. Nothing in it changes any more.
    Completed,
}

impl SessionStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Active, Self::Paused, Self::Completed];

    /// The status's name in the protocol, in the database and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Completed => "completed",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A session as its participants see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its id; messages that name it as their conversation belong to it.
    pub id: ConversationId,
    /// Who sees and changes it.
    pub participants: Vec<AgentId>,
    /// What it is about.
    pub topic: String,
    /// What they share, merged key by key.
    pub shared_state: Object,
    /// Grows by one with every change, so that a writer can tell that another was faster.
    pub version: u64,
    /// Where it is.
    pub status: SessionStatus,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was completed.
    pub closed_at: Option<Timestamp>,
    /// Its last messages, oldest first.
    pub history: Vec<MessageSummary>,
}

/// A message of a session, in short.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageSummary {
    /// The message.
    pub id: MessageId,
    /// What it is for.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Who sent it.
    pub from: AgentId,
    /// To whom; an agent's id or a topic.
    pub to: String,
    /// What it asks for or is about.
    pub summary: String,
    /// When it was accepted.
    pub timestamp: Timestamp,
}

/// One change of a session, for its history.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionChange {
    /// The version that it led to.
    pub version: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: AgentId,
    /// The keys that were written, with their values.
    #[ts(type = "Record<string, unknown>")]
    pub written: Object,
    /// The status since, if it changed.
    pub status: Option<SessionStatus>,
}

/// A session to be opened.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its id, or the broker chooses one.
    pub id: Option<ConversationId>,
    /// Who takes part beside the one that opens it.
    pub participants: Vec<AgentId>,
    /// What it is about.
    pub topic: String,
    /// What they share at the beginning.
    pub shared_state: Object,
}

/// A change to a session; one without content only reads it.
#[derive(Clone, Debug)]
pub struct SessionUpdate {
    /// Which.
    pub id: ConversationId,
    /// Keys to write.
    pub shared_state: Object,
    /// Where it is to be.
    pub status: Option<SessionStatus>,
    /// More participants.
    pub participants: Vec<AgentId>,
    /// Refuse it if the session has another version by now.
    pub expected_version: Option<u64>,
}
