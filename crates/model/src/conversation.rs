//! Conversations as the operator sees them.

use serde::Serialize;
use ts_rs::TS;

use crate::{
    AgentId, ConversationId, MessageId, MessageRow, SessionChange, SessionStatus, Timestamp, Trace,
};

/// One conversation as a line in a list.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationRow {
    /// Its id.
    pub id: ConversationId,
    /// What its session is about, or what its first message asked for.
    pub title: String,
    /// Who speaks or is spoken to in it.
    pub participants: Vec<AgentId>,
    /// How many messages it has.
    pub messages: u64,
    /// How many of them were refused or died.
    pub failed: u64,
    /// When its first message came.
    pub started_at: Timestamp,
    /// When its last message came.
    pub last_at: Timestamp,
    /// The place of its last message in the order of acceptance.
    pub last_seq: u64,
    /// Where its session is; none if nobody opened one.
    pub status: Option<SessionStatus>,
}

/// A message in its conversation.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// The message, with its payload.
    pub row: MessageRow,
    /// What links an answer to its question.
    pub correlation_id: Option<String>,
    /// The request that it answers.
    pub answers: Option<MessageId>,
    /// What the recipient gave back with its acknowledgement, as it wrote it.
    pub answer_text: Option<String>,
    /// How many messages led to it.
    pub depth: u32,
    /// Where it stands in a trace.
    pub trace: Option<Trace>,
}

/// A session as the operator sees it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// What it is about.
    pub topic: String,
    /// Who sees and changes it.
    pub participants: Vec<AgentId>,
    /// Where it is.
    pub status: SessionStatus,
    /// How often it was changed.
    pub version: u64,
    /// What they share, as JSON text.
    pub shared_state_text: String,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was completed.
    pub closed_at: Option<Timestamp>,
    /// Its changes, oldest first; the last 500.
    pub changes: Vec<SessionChange>,
}
