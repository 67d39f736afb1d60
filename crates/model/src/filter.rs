//! Which messages the operator wants to see, and the one rule that decides it.
//!
//! The live feed asks `MessageFilter::accepts`; the store asks its search index, which holds
//! exactly the words that `each_search_word` visits. So history and live feed cannot disagree.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::search_words::{each_search_word, each_word};
use crate::{ConversationId, Door, Kind, MessageRow, MessageState, Priority, Timestamp};

/// Which messages; parts that are given are joined by "and". A part without content is as good as
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(optional_fields)]
pub struct MessageFilter {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The door it came in by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub door: Option<Door>,
    /// Where it is in its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<MessageState>,
    /// Part of the name of its sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Part of the name of its recipient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Part of the name of its sender or recipient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Part of its topic or capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Who is served first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The exchange it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationId>,
    /// Accepted then or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Accepted before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// It took at least so many microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower_micros: Option<u64>,
    /// Beginnings of words in its payload, topic, capability, sender or recipient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl MessageFilter {
    /// Whether every message passes.
    pub fn is_empty(&self) -> bool {
        self.kind.is_none()
            && self.door.is_none()
            && self.state.is_none()
            && self.from_part().is_none()
            && self.to_part().is_none()
            && self.agent_part().is_none()
            && self.topic_part().is_none()
            && self.priority.is_none()
            && self.conversation.is_none()
            && self.since.is_none()
            && self.until.is_none()
            && self.slower_micros.is_none()
            && self.words().is_empty()
    }

    /// Whether this message passes. `payload` is its JSON text, which the row need not carry.
    pub fn accepts(&self, row: &MessageRow, payload: &str) -> bool {
        self.kind.is_none_or(|kind| kind == row.kind)
            && self.door.is_none_or(|door| door == row.door)
            && self.state.is_none_or(|state| state == row.state)
            && self.from_part().is_none_or(|part| contains(row.from.as_str(), &part))
            && self.to_part().is_none_or(|part| is_to(row, &part))
            && self
                .agent_part()
                .is_none_or(|part| contains(row.from.as_str(), &part) || is_to(row, &part))
            && self.topic_part().is_none_or(|part| {
                let in_part =
                    |text: &Option<String>| text.as_ref().is_some_and(|text| contains(text, &part));
                in_part(&row.topic) || in_part(&row.capability)
            })
            && self.priority.is_none_or(|priority| priority == row.priority)
            && self
                .conversation
                .as_ref()
                .is_none_or(|conversation| row.conversation_id.as_ref() == Some(conversation))
            && self.since.is_none_or(|since| row.created_at >= since)
            && self.until.is_none_or(|until| row.created_at < until)
            && self
                .slower_micros
                .is_none_or(|least| row.took_micros.is_some_and(|micros| micros >= least))
            && self.accepts_text(row, payload)
    }

    /// What is looked for in senders' names, in lower case; none if anything will do.
    pub fn from_part(&self) -> Option<String> {
        part(self.from.as_deref())
    }

    /// What is looked for in recipients' names, in lower case; none if anything will do.
    pub fn to_part(&self) -> Option<String> {
        part(self.to.as_deref())
    }

    /// What is looked for in names, in lower case; none if anything will do.
    pub fn agent_part(&self) -> Option<String> {
        part(self.agent.as_deref())
    }

    /// What is looked for in topics and capabilities, in lower case; none if anything will do.
    pub fn topic_part(&self) -> Option<String> {
        part(self.topic.as_deref())
    }

    /// The words typed, as they stand in the search index: letters and digits only, so none of them
    /// can be mistaken for search syntax.
    pub fn words(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        each_word(self.text.as_deref().unwrap_or_default().chars(), |word| {
            words.insert(word.to_owned());
        });
        words
    }

    /// The words typed that begin no word of this text.
    pub fn words_missing_in(&self, text: &str) -> BTreeSet<String> {
        let mut missing = self.words();
        each_word(text.chars(), |word| missing.retain(|typed| !word.starts_with(typed.as_str())));
        missing
    }

    fn accepts_text(&self, row: &MessageRow, payload: &str) -> bool {
        let mut missing = self.words();
        if missing.is_empty() {
            return true;
        }
        each_search_word(names_of(row), payload, |word| {
            missing.retain(|typed| !word.starts_with(typed.as_str()));
        });
        missing.is_empty()
    }
}

fn is_to(row: &MessageRow, part: &str) -> bool {
    row.to.as_ref().is_some_and(|to| contains(to.as_str(), part))
}

fn part(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_ascii_lowercase)
}

/// Case is ignored for ASCII only, as in SQLite's `lower`.
fn contains(text: &str, part: &str) -> bool {
    text.to_ascii_lowercase().contains(part)
}

/// What a message can be found by beside its payload: sender, recipient, topic and capability.
fn names_of(row: &MessageRow) -> [Option<&str>; 4] {
    [
        Some(row.from.as_str()),
        row.to.as_ref().map(|to| to.as_str()),
        row.topic.as_deref(),
        row.capability.as_deref(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentId, MessageId};
    use uuid::Uuid;

    fn row() -> MessageRow {
        MessageRow {
            seq: 1,
            id: MessageId(Uuid::nil()),
            from: AgentId::parse("tg-bridge").unwrap(),
            to: Some(AgentId::parse("Analyzer").unwrap()),
            topic: Some("inbound:chat-1".to_owned()),
            capability: Some("summarize".to_owned()),
            kind: Kind::Event,
            priority: Priority::Normal,
            state: MessageState::Waiting,
            door: Door::Bus,
            conversation_id: None,
            created_at: Timestamp(0),
            took_micros: None,
            error: None,
            retry_at: None,
            replay_of: None,
            payload_bytes: 0,
            payload: None,
        }
    }

    fn words(names: [Option<&str>; 4], payload: &str) -> String {
        let mut words = Vec::new();
        each_search_word(names, payload, |word| words.push(word.to_owned()));
        words.join(" ")
    }

    fn finds(text: &str, payload: &str) -> bool {
        let filter = MessageFilter { text: Some(text.to_owned()), ..MessageFilter::default() };
        filter.accepts(&row(), payload)
    }

    #[test]
    fn every_typed_word_must_begin_some_word() {
        let payload = r#"{"text":"Hello, wörld 42"}"#;
        for found in ["hello", "HEL", "wörld hello", "42", "analyzer", "chat-1", "tg summ", "WÖR"]
        {
            assert!(finds(found, payload), "{found:?} is there");
        }
        for absent in ["ello", "hello there", "43"] {
            assert!(!finds(absent, payload), "{absent:?} is not there");
        }
    }

    #[test]
    fn escapes_in_json_hide_no_word() {
        let payload = r#"{"text":"one\ntwo\tthree \u00e9t\u00e9 \ud835\udd38x \ud83d"}"#;
        for found in ["two", "three", "été", "𝔸x"] {
            assert!(finds(found, payload), "{found:?} is there");
        }
        assert!(!finds("ntwo", payload));
    }

    #[test]
    fn only_the_beginning_of_a_very_long_word_counts() {
        let payload = format!(r#""{}""#, "a".repeat(10_000));
        assert!(finds(&"a".repeat(9_000), &payload));
        assert!(words(names_of(&row()), &payload).len() < 200);
    }

    #[test]
    fn names_and_topics_are_found_by_any_part_whatever_the_case() {
        let filter = |agent: &str, topic: &str| MessageFilter {
            agent: Some(agent.to_owned()),
            topic: Some(topic.to_owned()),
            ..MessageFilter::default()
        };
        assert!(filter("BRIDGE", "chat").accepts(&row(), "{}"));
        assert!(filter("lyze", "MARI").accepts(&row(), "{}"));
        assert!(!filter("nobody", "chat").accepts(&row(), "{}"));
        assert!(!filter("bridge", "outbound").accepts(&row(), "{}"));
    }

    #[test]
    fn times_are_from_and_before_and_slow_is_at_least() {
        let mut row = row();
        row.created_at = Timestamp(1000);
        row.took_micros = Some(50);
        let filter = |since, until, slower| MessageFilter {
            since: Some(Timestamp(since)),
            until: Some(Timestamp(until)),
            slower_micros: Some(slower),
            ..MessageFilter::default()
        };
        assert!(filter(1000, 1001, 50).accepts(&row, "{}"));
        assert!(!filter(1001, 2000, 50).accepts(&row, "{}"));
        assert!(!filter(0, 1000, 50).accepts(&row, "{}"));
        assert!(!filter(0, 2000, 51).accepts(&row, "{}"));
        row.took_micros = None;
        assert!(!filter(0, 2000, 0).accepts(&row, "{}"), "it is not over yet");
    }

    #[test]
    fn parts_without_content_are_as_good_as_none() {
        let blank = MessageFilter {
            agent: Some(" ".to_owned()),
            topic: Some(String::new()),
            text: Some("\" * -".to_owned()),
            ..MessageFilter::default()
        };
        assert!(blank.is_empty() && blank.accepts(&row(), "{}"));
        let kind = MessageFilter { kind: Some(Kind::Request), ..MessageFilter::default() };
        assert!(!kind.is_empty() && !kind.accepts(&row(), "{}"));
    }
}
