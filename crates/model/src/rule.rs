//! Rules: who may call what, and every decision they make.
//!
//! A rule is caller × provider × capability, each part an id, a pattern or `*` for any. The operator's
//! rule counts where there is one; else what the provider itself declared; else everyone may.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use ts_rs::TS;

use crate::{InvalidTopic, Pattern, Timestamp};

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

impl Effect {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Allow, Self::Deny];

    /// The effect's name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }

    /// The effect of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == text)
    }
}

/// One rule, for as long as it stands. A changed rule is a new one. Numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(as = "u32")]
pub struct RuleId(pub u64);

/// One part of a rule: a name, a pattern as in topics (`*`, `?`, `[seq]`), or `*` for any.
#[derive(Clone)]
pub struct RulePart {
    text: Arc<str>,
    /// Only where it is neither a name nor any.
    pattern: Option<Pattern>,
}

/// How much a part says. What says more comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// `*`.
    Any,
    /// Some names.
    Pattern,
    /// One name.
    Exact,
}

impl RulePart {
    /// Reads a part of a rule.
    pub fn parse(text: &str) -> Result<Self, InvalidTopic> {
        let pattern = Pattern::parse(text)?;
        let wild = text != "*" && text.contains(['*', '?', '[']);
        Ok(Self { text: text.into(), pattern: wild.then_some(pattern) })
    }

    /// The part that any name fits.
    pub fn any() -> Self {
        Self { text: "*".into(), pattern: None }
    }

    /// The part as the operator wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How much it says.
    pub fn precision(&self) -> Precision {
        match &self.pattern {
            Some(_) => Precision::Pattern,
            None if &*self.text == "*" => Precision::Any,
            None => Precision::Exact,
        }
    }

    /// Whether this name fits.
    pub fn matches(&self, name: &str) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.matches_text(name),
            None => &*self.text == "*" || &*self.text == name,
        }
    }
}

impl PartialEq for RulePart {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RulePart {}

impl fmt::Debug for RulePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl fmt::Display for RulePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for RulePart {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for RulePart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|_| {
            let form = "a part of a rule is a name, a pattern, or * for any: 1 to 512 bytes";
            serde::de::Error::custom(form)
        })
    }
}

/// A rule in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its number.
    pub id: RuleId,
    /// Who calls.
    #[ts(type = "string")]
    pub caller: RulePart,
    /// Who is called; for events, who listens.
    #[ts(type = "string")]
    pub provider: RulePart,
    /// What is asked for; for events, the topic.
    #[ts(type = "string")]
    pub capability: RulePart,
    /// Whether they may.
    pub effect: Effect,
    /// Since when.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: String,
}

/// A rule to be made, changed or taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleEdit {
    /// Who calls.
    #[ts(type = "string")]
    pub caller: RulePart,
    /// Who is called; for events, who listens.
    #[ts(type = "string")]
    pub provider: RulePart,
    /// What is asked for; for events, the topic.
    #[ts(type = "string")]
    pub capability: RulePart,
    /// Whether they may; none takes the rule away and leaves it to the agent.
    pub effect: Option<Effect>,
}

/// Edits that were made together.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuleChange {
    /// Its number; later changes have larger ones. 0 is a change that changed nothing.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Their words.
    pub note: Option<String>,
    /// The change that this one took back.
    pub undoes: Option<u64>,
    /// The change that took this one back.
    pub undone_by: Option<u64>,
    /// What it did.
    pub edits: Vec<ChangedRule>,
}

/// One rule before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedRule {
    /// Who calls.
    #[ts(type = "string")]
    pub caller: RulePart,
    /// Who is called.
    #[ts(type = "string")]
    pub provider: RulePart,
    /// What is asked for.
    #[ts(type = "string")]
    pub capability: RulePart,
    /// What the rule said before; none where there was none.
    pub before: Option<Effect>,
    /// What it says since; none where it was taken away.
    pub after: Option<Effect>,
}

/// What made a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecidedBy {
    /// One of the operator's rules.
    Rule(RuleId),
    /// What the provider declared of its capability.
    Declared,
    /// Nobody said anything, so everyone may.
    Nobody,
}

impl DecidedBy {
    /// As it is kept: `rule 7`, `declared` or `nobody`.
    pub fn to_text(self) -> Cow<'static, str> {
        match self {
            Self::Rule(RuleId(id)) => format!("rule {id}").into(),
            Self::Declared => "declared".into(),
            Self::Nobody => "nobody".into(),
        }
    }

    /// Reads what `to_text` wrote.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "declared" => Some(Self::Declared),
            "nobody" => Some(Self::Nobody),
            other => other.strip_prefix("rule ")?.parse().ok().map(|id| Self::Rule(RuleId(id))),
        }
    }
}

impl Serialize for DecidedBy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

/// Whether a call may be made, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Whether it may.
    pub effect: Effect,
    /// What made the decision: `rule 7`, `declared` or `nobody`.
    #[ts(type = "string")]
    pub by: DecidedBy,
    /// What the provider's own declaration says, whether it counted or not.
    pub declared: Effect,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_name_a_pattern_or_any() {
        let part = |text: &str| RulePart::parse(text).unwrap();
        assert_eq!(part("*").precision(), Precision::Any);
        assert_eq!(part("team-*").precision(), Precision::Pattern);
        assert_eq!(part("team-").precision(), Precision::Exact, "no prefixes here");
        assert!(part("team-*").matches("team-7") && !part("team-*").matches("other"));
        assert!(part("team-").matches("team-") && !part("team-").matches("team-7"));
        assert!(part("[*]").matches("*") && !part("[*]").matches("a"));
        assert!(RulePart::parse("").is_err());
    }

    #[test]
    fn what_decided_reads_what_it_writes() {
        for by in [DecidedBy::Rule(RuleId(7)), DecidedBy::Declared, DecidedBy::Nobody] {
            assert_eq!(DecidedBy::parse(&by.to_text()), Some(by));
        }
        assert_eq!(DecidedBy::parse("rule x"), None);
    }
}
