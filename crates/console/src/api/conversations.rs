//! Calls about conversations.

use serde::{Deserialize, Serialize};
use switchboard_model::{ConversationId, ConversationMessage, ConversationRow, SessionView};
use ts_rs::TS;

/// Asks for a page of conversations.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ConversationQuery {
    /// Part of an id, of a participant's name or of what it is about.
    #[serde(default)]
    #[ts(optional)]
    pub text: Option<String>,
    /// Only those in which something was refused, died or expired.
    #[serde(default)]
    #[ts(optional)]
    pub failed: Option<bool>,
    /// Only those whose session goes on.
    #[serde(default)]
    #[ts(optional)]
    pub active: Option<bool>,
    /// Whose last message came before this one.
    #[serde(default)]
    #[ts(optional)]
    pub before: Option<u64>,
    /// At most this many; 1 to 200.
    pub limit: u32,
}

/// A page of conversations.
#[derive(Clone, Debug, Serialize, TS)]
pub struct ConversationPage {
    /// Those that were last spoken in first.
    pub rows: Vec<ConversationRow>,
    /// Where the next page begins; none at the end.
    pub next: Option<u64>,
}

/// Names one conversation.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneConversation {
    /// Its id.
    pub id: ConversationId,
}

/// One conversation with its messages.
#[derive(Clone, Debug, Serialize, TS)]
pub struct ConversationDetail {
    /// Its id.
    pub id: ConversationId,
    /// Its messages, oldest first; at most 2,000.
    pub messages: Vec<ConversationMessage>,
    /// How many more there are.
    pub more: u64,
    /// Its session, if somebody opened one.
    pub session: Option<SessionView>,
}
