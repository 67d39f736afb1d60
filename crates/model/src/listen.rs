//! Which of the messages on its topics a subscriber wants.

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, Ast, Flag, GroupKind, Visitor};
use serde::Serialize;
use ts_rs::TS;
use uuid::Uuid;

use crate::{AgentId, Priority};

/// The largest compiled expression, the longest text of one, and the longest content that is searched. The
/// engine takes at most their product, and everyone waits while it searches.
const MAX_COMPILED: usize = 6 << 10;
const MAX_EXPRESSION: usize = 1024;
const MAX_SEARCHED: usize = 64 << 10;

/// What passes every part that is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ListenFilter {
    /// Sent by one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_agents: Option<Vec<AgentId>>,
    /// Of one of these priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Vec<Priority>>,
    /// A regular expression that is found in the JSON text of the content; in none of more than 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_match: Option<Expression>,
}

/// A regular expression that is safe to run.
#[derive(Clone, Debug, TS)]
#[ts(as = "String")]
pub struct Expression(Regex);

/// Why a filter cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFilter {
    /// The expression cannot be read, or would be too large.
    #[error("contentMatch cannot be used: {0}")]
    Expression(String),
    /// It asks for letters, where bytes are compared.
    #[error("contentMatch is compared byte by byte: leave the flag u out")]
    Letters,
    /// The expression is too long to be read.
    #[error("contentMatch is longer than {MAX_EXPRESSION} bytes")]
    TooLong,
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, InvalidFilter> {
        if text.len() > MAX_EXPRESSION {
            return Err(InvalidFilter::TooLong);
        }
        // What cannot be read here is refused below, with what is wrong about it.
        if Parser::new().parse(text).is_ok_and(|ast| ast::visit(&ast, WantsLetters).is_err()) {
            return Err(InvalidFilter::Letters);
        }
        // By bytes: classes of all the world's letters alone would be larger than that.
        let compiled = RegexBuilder::new(text).unicode(false).size_limit(MAX_COMPILED).build();
        compiled.map(Self).map_err(|error| InvalidFilter::Expression(error.to_string()))
    }
}

/// Finds out whether an expression asks to be compared letter by letter. To look at all letters of the world takes
/// milliseconds for each class of them.
struct WantsLetters;

impl Visitor for WantsLetters {
    type Output = ();
    type Err = ();

    fn finish(self) -> Result<(), ()> {
        Ok(())
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        let flags = match ast {
            Ast::Flags(set) => &set.flags,
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(flags) => flags,
                GroupKind::CaptureIndex(_) | GroupKind::CaptureName { .. } => return Ok(()),
            },
            Ast::Empty(_)
            | Ast::Literal(_)
            | Ast::Dot(_)
            | Ast::Assertion(_)
            | Ast::ClassUnicode(_)
            | Ast::ClassPerl(_)
            | Ast::ClassBracketed(_)
            | Ast::Repetition(_)
            | Ast::Alternation(_)
            | Ast::Concat(_) => return Ok(()),
        };
        if flags.flag_state(Flag::Unicode) == Some(true) { Err(()) } else { Ok(()) }
    }
}

impl Expression {
    fn is_in(&self, content: &str) -> bool {
        // A part of it would end where the content does not, and `$` would be found there.
        content.len() <= MAX_SEARCHED && self.0.is_match(content.as_bytes())
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Serialize for Expression {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl ListenFilter {
    /// Whether a message passes. Its content is asked for only where it matters.
    pub fn accepts<'a>(
        &self,
        from: &AgentId,
        priority: Priority,
        content: impl FnOnce() -> std::borrow::Cow<'a, str>,
    ) -> bool {
        self.from_agents.as_ref().is_none_or(|agents| is_one_of(from, agents))
            && self.priority.as_ref().is_none_or(|wanted| wanted.contains(&priority))
            && self.content_match.as_ref().is_none_or(|expression| expression.is_in(&content()))
    }
}

/// By either of its names.
fn is_one_of(agent: &AgentId, agents: &[AgentId]) -> bool {
    let is_alias =
        |one: &AgentId| Uuid::parse_str(one.as_str()).is_ok_and(|id| id == agent.alias());
    agents.iter().any(|one| one == agent || is_alias(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_filter_are_joined_by_and() {
        let id = |text: &str| AgentId::parse(text).unwrap();
        let filter = ListenFilter {
            from_agents: Some(vec![id("a")]),
            priority: Some(vec![Priority::High]),
            content_match: Some(Expression::parse(r#""level":\s*"(warn|error)""#).unwrap()),
        };
        let accepts = |from: &str, priority, content: &'static str| {
            filter.accepts(&id(from), priority, || content.into())
        };
        assert!(accepts("a", Priority::High, r#"{"level": "warn"}"#));
        assert!(!accepts("b", Priority::High, r#"{"level": "warn"}"#));
        assert!(!accepts("a", Priority::Low, r#"{"level": "warn"}"#));
        assert!(!accepts("a", Priority::High, r#"{"level": "info"}"#));
    }

    #[test]
    fn an_expression_that_is_wrong_or_too_large_is_refused() {
        assert!(matches!(Expression::parse("("), Err(InvalidFilter::Expression(_))));
        for large in ["(a{1000}){1000}", "1[01]{1900}[a-f][a-f]"] {
            assert!(matches!(Expression::parse(large), Err(InvalidFilter::Expression(_))));
        }
        for usual in
            [r"\w+@\w+", r#""level":\s*"(warn|error|fatal)""#, "höhe|größe", "(?i)urgent.*now"]
        {
            assert!(Expression::parse(usual).is_ok(), "{usual}");
        }
        assert_eq!(Expression::parse(&"a".repeat(1025)).unwrap_err(), InvalidFilter::TooLong);
        for letters in ["(?u)x", "(?iu:[^x])", "a(b(?u)c)", "(?i)a(?u:b)"] {
            assert_eq!(
                Expression::parse(letters).unwrap_err(),
                InvalidFilter::Letters,
                "{letters}"
            );
        }
        assert!(Expression::parse("(?-u:a)(?i)b").is_ok(), "that is what it is anyway");
    }
}
