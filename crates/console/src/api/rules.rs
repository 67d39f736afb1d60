//! Calls about rules: who may call what.

use serde::{Deserialize, Serialize};
use switchboard_model::{
    AgentId, DecidedBy, Decision, Effect, MessageId, Rule, RuleChange, RuleEdit, Timestamp,
};
use ts_rs::TS;

/// The rules in force.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RuleList {
    /// In order of their numbers.
    pub rules: Vec<Rule>,
}

/// Makes, changes and takes away rules, all at once.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct EditRules {
    /// What to do.
    pub edits: Vec<RuleEdit>,
    /// Words for the history.
    #[serde(default)]
    #[ts(optional)]
    pub note: Option<String>,
}

/// Asks for the changes that were made.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RuleHistoryQuery {
    /// Older than this change.
    #[serde(default)]
    #[ts(optional)]
    pub before: Option<u64>,
    /// At most this many; 1 to 500.
    pub limit: u32,
}

/// The changes that were made.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RuleHistory {
    /// Newest first.
    pub changes: Vec<RuleChange>,
    /// Where the next page begins; none at the end.
    pub next: Option<u64>,
}

/// Names one change of the rules.
#[derive(Clone, Copy, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneChange {
    /// Its number.
    pub change: u64,
}

/// Asks which recorded requests some edits would have decided otherwise.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct PreviewRules {
    /// The edits, on top of the rules in force.
    pub edits: Vec<RuleEdit>,
    /// Those of the last so many hours; may be a fraction.
    pub hours: f64,
}

/// Which recorded requests some edits would have decided otherwise.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RulePreview {
    /// How many requests were looked at.
    pub requests: u64,
    /// How many of them would have been decided otherwise.
    pub changed: u64,
    /// Since when.
    pub since: Timestamp,
    /// Those, put together by what they asked for; most requests first.
    pub groups: Vec<PreviewGroup>,
}

/// Requests of one caller for one capability that would have been decided otherwise.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PreviewGroup {
    /// Who asked.
    pub caller: AgentId,
    /// Who was asked.
    pub provider: AgentId,
    /// For what.
    pub capability: String,
    /// How often.
    pub requests: u64,
    /// What was decided.
    pub was: Effect,
    /// By what: `rule 7`, `declared` or `nobody`.
    #[ts(type = "string")]
    pub was_by: DecidedBy,
    /// What would have been decided.
    pub would: Effect,
    /// By which edit, in words; none where it would be left to the agent.
    pub would_by: Option<String>,
    /// How many conversations they belong to.
    pub conversations: u64,
    /// The conversations of the requests that are named here.
    pub conversation_ids: Vec<String>,
    /// Those of its requests that are among the newest 1,000 of all groups.
    pub messages: Vec<MessageId>,
}

/// Asks what rules the traffic would get by with.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SuggestRules {
    /// The traffic of the last so many hours.
    pub hours: f64,
}

/// The fewest permissions that the traffic would get by with.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RuleSuggestions {
    /// How many requests were looked at.
    pub requests: u64,
    /// One for each capability that was called and is open to more than those who called it.
    pub suggestions: Vec<RuleSuggestion>,
}

/// Rules that close one capability to all who do not use it.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RuleSuggestion {
    /// Who offers it.
    pub provider: AgentId,
    /// What.
    pub capability: String,
    /// Who called it, and how often.
    pub callers: Vec<Usage>,
    /// Those who could call it and did not.
    pub unused: Vec<AgentId>,
    /// What to do.
    pub edits: Vec<RuleEdit>,
    /// Why, in words.
    pub reason: String,
}

/// How often someone called.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Usage {
    /// Who.
    pub agent: AgentId,
    /// How often.
    pub requests: u64,
}

/// Asks who may call what.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct PermissionQuery {
    /// Traffic of the last so many hours is counted; may be a fraction.
    pub hours: f64,
    /// As if these edits had been made.
    #[serde(default)]
    pub edits: Vec<RuleEdit>,
}

/// Who may call what: callers against the capabilities of providers.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Permissions {
    /// The rows.
    pub callers: Vec<AgentId>,
    /// The columns, those of one provider side by side.
    pub columns: Vec<PermissionColumn>,
    /// For each caller, a cell for each column. An agent does not call itself: those are none.
    pub cells: Vec<Vec<Option<PermissionCell>>>,
}

/// One capability of one provider.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionColumn {
    /// Who offers it.
    pub provider: AgentId,
    /// What.
    pub capability: String,
    /// What it does.
    pub description: String,
    /// Whether the agent declares it now; else it was only asked for.
    pub declared: bool,
    /// Whether the agent declared an empty list of callers, which makes it public.
    pub empty_list: bool,
}

/// Whether one caller may call one capability.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionCell {
    /// The decision now.
    #[serde(flatten)]
    #[ts(flatten)]
    pub decision: Decision,
    /// What a rule for exactly this cell says, if there is one.
    pub own: Option<Effect>,
    /// How often it was called.
    pub requests: u64,
    /// How often it was called and refused.
    pub refused: u64,
}
