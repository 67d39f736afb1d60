//! Calls about one agent.

use serde::Deserialize;
use switchboard_model::AgentId;
use ts_rs::TS;

/// Gives an agent a name of the operator's own, for people. Its id stays.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct NameAgent {
    /// Which.
    pub agent: AgentId,
    /// The name; none takes it away.
    #[serde(default)]
    #[ts(optional)]
    pub name: Option<String>,
}

/// Keeps an agent out by every door, or lets it in again.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct BlockAgent {
    /// Which.
    pub agent: AgentId,
    /// Whether it is to be kept out.
    pub blocked: bool,
}
