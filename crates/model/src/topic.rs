//! Topics and the patterns that match them.
//!
//! Patterns are Python's `fnmatch` with case counting: `*` crosses `:`, `?` is one character,
//! `[seq]` and `[!seq]` are sets. A pattern without a wildcard that ends in `:` `-` `.` `/` or `_`
//! is a prefix; any other is exact.

use std::fmt;
use std::sync::Arc;

use crate::AgentId;

/// The longest topic or pattern, in bytes.
const MAX_BYTES: usize = 512;

/// Where a message is published.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic(Arc<str>);

/// Why a text cannot be a topic or a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTopic {
    /// There is nothing.
    #[error("the topic is empty")]
    Empty,
    /// There is too much.
    #[error("the topic is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// It could not be shown or typed.
    #[error("the topic has a control character")]
    ControlCharacter,
}

fn check(text: &str) -> Result<(), InvalidTopic> {
    if text.is_empty() {
        return Err(InvalidTopic::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(InvalidTopic::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(InvalidTopic::ControlCharacter);
    }
    Ok(())
}

impl Topic {
    /// Reads a topic.
    pub fn parse(text: &str) -> Result<Self, InvalidTopic> {
        check(text)?;
        Ok(Self(text.into()))
    }

    /// The topic on which one agent is reached.
    pub fn of_agent(id: &AgentId) -> Self {
        Self(id.topic().clone())
    }

    /// The agent whose own topic this is.
    pub fn agent(&self) -> Option<AgentId> {
        AgentId::reached_on(&self.0)
    }

    /// The topic as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Which topics a subscription wants.
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    tokens: Arc<[Token]>,
}

/// What an index can know of a pattern without trying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// Matches this topic and no other.
    Exact(&'a str),
    /// Matches only topics that begin and end so; `Pattern::matches` tells which of them.
    Wild {
        /// How every match begins.
        prefix: String,
        /// How every match ends.
        suffix: String,
    },
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    AnyOne,
    Star,
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == c,
            Self::AnyOne => true,
            Self::Star => false,
            Self::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

impl Pattern {
    /// Reads a pattern. Every text that could be a topic is one; an unclosed `[` stands for itself.
    pub fn parse(text: &str) -> Result<Self, InvalidTopic> {
        check(text)?;
        let mut tokens = tokenize(text);
        let wild = tokens.iter().any(|token| !matches!(token, Token::Literal(_)));
        if !wild && text.ends_with([':', '-', '.', '/', '_']) {
            tokens.push(Token::Star);
        }
        Ok(Self { text: text.into(), tokens: tokens.into() })
    }

    /// The pattern that matches this topic and no other, whatever characters it has.
    pub fn exact(topic: &Topic) -> Self {
        let tokens: Vec<Token> = topic.as_str().chars().map(Token::Literal).collect();
        Self { text: topic.0.clone(), tokens: tokens.into() }
    }

    /// The pattern as its subscriber wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the topic is one that the subscriber wants.
    pub fn matches(&self, topic: &Topic) -> bool {
        self.matches_text(topic.as_str())
    }

    /// Whether any text fits, as the name of an agent or of a capability.
    pub fn matches_text(&self, text: &str) -> bool {
        matches_text(&self.tokens, text)
    }

    /// What an index can know of this pattern without trying it.
    pub fn shape(&self) -> Shape<'_> {
        let literal = |token: &Token| match token {
            Token::Literal(c) => Some(*c),
            Token::AnyOne | Token::Star | Token::Set { .. } => None,
        };
        let prefix: String = self.tokens.iter().map_while(literal).collect();
        if prefix.chars().count() == self.tokens.len() {
            return Shape::Exact(&self.text);
        }
        let mut suffix: Vec<char> = self.tokens.iter().rev().map_while(literal).collect();
        suffix.reverse();
        Shape::Wild { prefix, suffix: suffix.into_iter().collect() }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.tokens == other.tokens
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::with_capacity(chars.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' if tokens.last() == Some(&Token::Star) => {}
            '*' => tokens.push(Token::Star),
            '?' => tokens.push(Token::AnyOne),
            '[' => match set(&chars, at) {
                Some((token, end)) => {
                    tokens.push(token);
                    at = end;
                }
                None => tokens.push(Token::Literal('[')),
            },
            literal => tokens.push(Token::Literal(literal)),
        }
    }
    tokens
}

/// Reads the set whose `[` stands before `start`: the token and the place after its `]`.
fn set(chars: &[char], start: usize) -> Option<(Token, usize)> {
    let negated = chars.get(start) == Some(&'!');
    let first = start + usize::from(negated);
    // A `]` right at the beginning is a member, not the end.
    let search_from = first + usize::from(chars.get(first) == Some(&']'));
    let end = (search_from..chars.len()).find(|&i| chars.get(i) == Some(&']'))?;
    let members = chars.get(first..end)?;
    let mut ranges = Vec::new();
    let mut rest = members;
    while let Some((&low, tail)) = rest.split_first() {
        match tail {
            ['-', high, after @ ..] => {
                // A range that runs backwards has no members.
                if low <= *high {
                    ranges.push((low, *high));
                }
                rest = after;
            }
            _ => {
                ranges.push((low, low));
                rest = tail;
            }
        }
    }
    Some((Token::Set { negated, ranges }, end + 1))
}

/// Walks both texts once, going back only to the last star: no pattern takes exponential time.
fn matches_text(tokens: &[Token], text: &str) -> bool {
    let mut rest = text.chars();
    let mut at = 0;
    let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        if tokens.get(at) == Some(&Token::Star) {
            at += 1;
            if at == tokens.len() {
                return true;
            }
            retry = Some((at, rest.clone()));
            continue;
        }
        let mut ahead = rest.clone();
        match (tokens.get(at), ahead.next()) {
            (None, None) => return true,
            (Some(token), Some(c)) if token.accepts(c) => {
                at += 1;
                rest = ahead;
            }
            (Some(_), None) => return false,
            (None | Some(_), Some(_)) => {
                let Some((after_star, from)) = retry.as_mut() else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                at = *after_star;
                rest = from.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, topic: &str) -> bool {
        Pattern::parse(pattern).unwrap().matches(&Topic::parse(topic).unwrap())
    }

    #[test]
    fn patterns_match_as_python_fnmatch_does() {
        // Each line was checked with `fnmatch.fnmatchcase` of Python 3.11.
        let table = [
            ("inbound:*", "inbound:chat-1", true),
            ("inbound:*", "inbound:", true),
            ("inbound:*", "inbound", false),
            ("*", "a:b:c", true),
            ("a*c", "a:b:c", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
            ("?", "é", true),
            ("??", "é", false),
            ("chat-[0-9]", "chat-7", true),
            ("chat-[0-9]", "chat-x", false),
            ("chat-[!0-9]", "chat-x", true),
            ("[]x]", "]", true),
            ("[!]x]", "y", true),
            ("[a-]", "-", true),
            ("[--a]", "A", true),
            ("[z-a]", "m", false),
            ("[!z-a]", "m", true),
            ("[a-c-e]", "-", true),
            ("[a-c-e]", "d", false),
            ("[^a]", "^", true),
            ("[^a]", "b", false),
            ("a[b", "a[b", true),
            ("Inbound:*", "inbound:1", false),
            ("a**b", "ab", true),
        ];
        for (pattern, topic, expected) in table {
            assert_eq!(matches(pattern, topic), expected, "{pattern} against {topic}");
        }
    }

    #[test]
    fn a_trailing_delimiter_makes_a_prefix_and_anything_else_is_exact() {
        for pattern in ["inbound:", "inbound-", "inbound.", "inbound/", "inbound_"] {
            assert!(matches(pattern, &format!("{pattern}chat-1")), "{pattern} is a prefix");
            assert!(matches(pattern, pattern), "{pattern} matches itself");
        }
        assert!(!matches("inbound", "inbound:chat-1"));
        assert!(!matches("inb?und:", "inbound:chat-1"), "with a wildcard it is no prefix");
    }

    #[test]
    fn a_hostile_pattern_takes_no_exponential_time() {
        let pattern = "a*".repeat(250);
        assert!(!matches(&format!("{pattern}b"), &"a".repeat(511)));
    }

    #[test]
    fn empty_long_and_unprintable_topics_are_refused() {
        assert_eq!(Topic::parse(""), Err(InvalidTopic::Empty));
        assert_eq!(Topic::parse(&"x".repeat(513)), Err(InvalidTopic::TooLong));
        assert_eq!(Topic::parse("a\nb"), Err(InvalidTopic::ControlCharacter));
    }

    #[test]
    fn an_agents_own_topic_names_the_agent() {
        let topic = Topic::parse("agent:analyzer-456").unwrap();
        assert_eq!(topic.agent(), Some(AgentId::parse("analyzer-456").unwrap()));
        assert_eq!(Topic::parse("inbound:1").unwrap().agent(), None);
    }

    /// The definition, written to be obviously right rather than quick.
    fn reference(tokens: &[Token], text: &[char]) -> bool {
        match (tokens.split_first(), text.split_first()) {
            (None, rest) => rest.is_none(),
            (Some((Token::Star, after)), rest) => {
                reference(after, text) || rest.is_some_and(|(_, tail)| reference(tokens, tail))
            }
            (Some(_), None) => false,
            (Some((token, after)), Some((c, tail))) => token.accepts(*c) && reference(after, tail),
        }
    }

    proptest! {
        #[test]
        fn the_quick_matcher_agrees_with_the_definition(
            pattern in r"[ab:*?\[\]!-]{1,10}",
            topic in "[ab:-]{1,10}",
        ) {
            let parsed = Pattern::parse(&pattern).unwrap();
            let chars: Vec<char> = topic.chars().collect();
            prop_assert_eq!(
                parsed.matches(&Topic::parse(&topic).unwrap()),
                reference(&parsed.tokens, &chars),
            );
        }

        #[test]
        fn a_shape_never_excludes_a_match(
            pattern in r"[ab:*?\[\]!-]{1,10}",
            topic in "[ab:-]{1,10}",
        ) {
            let parsed = Pattern::parse(&pattern).unwrap();
            if parsed.matches(&Topic::parse(&topic).unwrap()) {
                match parsed.shape() {
                    Shape::Exact(text) => prop_assert_eq!(text, topic.as_str()),
                    Shape::Wild { prefix, suffix } => {
                        prop_assert!(topic.starts_with(&prefix) && topic.ends_with(&suffix));
                        prop_assert!(prefix.len() + suffix.len() <= topic.len());
                    }
                }
            }
        }
    }
}
