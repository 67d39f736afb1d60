//! Calls about tokens.

use serde::{Deserialize, Serialize};
use switchboard_model::{AgentId, Priority, Timestamp};
use ts_rs::TS;

/// Makes a token for an agent; an older one stops working.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct IssueToken {
    /// Whose it will be; made known if it is not.
    pub agent: AgentId,
    /// The highest priority its messages get; urgent if none.
    #[serde(default)]
    #[ts(optional)]
    pub ceiling: Option<Priority>,
}

/// A token that was made just now. It cannot be shown again.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Issued {
    /// Whose it is.
    pub agent_id: AgentId,
    /// The token.
    pub token: String,
    /// Whether an older one stopped working.
    pub replaced: bool,
}

/// Names an agent.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneAgent {
    /// Its id.
    pub agent: AgentId,
}

/// Makes a signed token with scopes, for doors that want one.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignJwt {
    /// What it allows, such as `discover:read`.
    pub scopes: Vec<String>,
    /// For how long; an hour if none.
    #[serde(default)]
    #[ts(optional)]
    pub ttl_seconds: Option<u64>,
}

/// A signed token.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignedJwt {
    /// The token.
    pub token: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// Until when.
    pub expires_at: Timestamp,
}
