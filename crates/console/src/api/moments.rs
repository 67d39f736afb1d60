//! Calls about how things stood at a moment in the past.

use serde::{Deserialize, Serialize};
use switchboard_model::{AgentId, AgentStatus, Rule, Timestamp};
use ts_rs::TS;

/// Asks how things stood.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct MomentQuery {
    /// When.
    pub at: Timestamp,
}

/// How things stood at a moment, as far as that is kept.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// When.
    pub at: Timestamp,
    /// The agents that were known then, in order of their ids.
    pub agents: Vec<AgentThen>,
    /// The rules that were in force.
    pub rules: Vec<Rule>,
    /// Dead letters that nobody had dealt with.
    pub open_letters: u64,
    /// Before this nothing is kept, so what is said of earlier moments is not whole.
    pub kept_since: Timestamp,
}

/// An agent as it was.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct AgentThen {
    /// Which.
    pub id: AgentId,
    /// Whether it could take messages.
    pub status: AgentStatus,
    /// Deliveries to it that waited or were in its hands.
    pub queued: u64,
}
