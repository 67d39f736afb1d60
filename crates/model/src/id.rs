//! Names for things. Each kind of id is its own type, so that one cannot be passed for another.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ts_rs::TS;
use uuid::Uuid;

use crate::Lifecycle;

/// What the topic on which an agent is reached begins with, before its id.
const AGENT_PREFIX: &str = "agent:";

/// The name of an agent, the same on every door: 1 to 128 visible characters.
///
/// It is kept as the topic on which the agent is reached, which is asked for again and again on each message's way.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, TS)]
#[ts(as = "String")]
pub struct AgentId(Arc<str>);

/// Why a text cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an agent id: use 1 to 128 visible characters, without spaces")]
pub struct InvalidId(pub String);

impl AgentId {
    /// The longest id, in characters.
    pub const MAX_CHARS: usize = 128;

    /// Reads an id, refusing what could not be shown or typed.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        check(text)?;
        Ok(Self::named(text))
    }

    /// The agent that is reached on this topic; none if that is not an agent's.
    pub(crate) fn reached_on(topic: &Arc<str>) -> Option<Self> {
        check(topic.strip_prefix(AGENT_PREFIX)?).ok()?;
        Some(Self(topic.clone()))
    }

    fn named(text: &str) -> Self {
        Self([AGENT_PREFIX, text].concat().into())
    }

    /// The person at the console, when they send a message themselves.
    pub fn operator() -> Self {
        Self::named("operator")
    }

    /// The broker itself, as the sender of lifecycle events.
    pub fn switchboard() -> Self {
        Self::named("switchboard")
    }

    /// Whether this is the broker itself.
    pub fn is_switchboard(&self) -> bool {
        self.as_str() == "switchboard"
    }

    /// Whether this id belongs to the broker or the operator, and so to no agent.
    pub fn is_reserved(&self) -> bool {
        let own = ["operator", "switchboard", "router", "lobby", "global_lobby"];
        let is_other_name = |own: &&str| Self::named(own).alias() == self.alias();
        // `agent:connected` is a lifecycle event, so it can be nobody's address.
        own.contains(&self.as_str())
            || Lifecycle::ALL.iter().any(|event| event.as_str() == self.as_str())
            || (Uuid::parse_str(self.as_str()).is_ok() && own.iter().any(is_other_name))
    }

    /// The name of this agent where a door wants a UUID: itself if it is one, else one made of it.
    /// Both names work everywhere.
    pub fn alias(&self) -> Uuid {
        match Uuid::parse_str(self.as_str()) {
            Ok(uuid) => uuid,
            Err(_) => {
                let name = format!("urn:switchboard:agent:{self}");
                Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes())
            }
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        self.0.strip_prefix(AGENT_PREFIX).unwrap_or_default()
    }

    /// The topic on which it is reached.
    pub(crate) fn topic(&self) -> &Arc<str> {
        &self.0
    }
}

/// Whether a text can be an id.
fn check(text: &str) -> Result<(), InvalidId> {
    // Nearly all are of plain letters and signs, each of which is one byte.
    if !text.is_empty()
        && text.len() <= AgentId::MAX_CHARS
        && text.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Ok(());
    }
    let visible = |c: char| !c.is_whitespace() && !c.is_control() && !is_invisible(c);
    let length = text.chars().count();
    if length == 0 || length > AgentId::MAX_CHARS || !text.chars().all(visible) {
        return Err(InvalidId(text.chars().take(AgentId::MAX_CHARS + 1).collect()));
    }
    Ok(())
}

/// Characters that take no room on the screen, by which one id could pass for another.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for AgentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AgentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A message's id: a UUID of version 7, so that ids sort by time. Its last bytes are the message's number, so
/// that it is found by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(as = "String")]
pub struct MessageId(pub Uuid);

/// How many bytes of an id are the number.
const NUMBER_BYTES: usize = 5;

impl MessageId {
    /// A new id for the message of this number.
    pub fn numbered(seq: u64) -> Self {
        let mut bytes = Uuid::now_v7().into_bytes();
        let number = seq.to_be_bytes();
        for (byte, digit) in bytes.iter_mut().rev().zip(number.iter().rev()).take(NUMBER_BYTES) {
            *byte = *digit;
        }
        Self(Uuid::from_bytes(bytes))
    }

    /// The number in it. An id that others made has one too, which means nothing: whoever looks there has to
    /// look whether it is the right one.
    pub fn number(self) -> u64 {
        let digits = self.0.as_bytes().iter().skip(16 - NUMBER_BYTES);
        digits.fold(0, |number, digit| number << 8 | u64::from(*digit))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a conversation, chosen by the agent that began it or by the broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(as = "String")]
pub struct ConversationId(pub Arc<str>);

impl ConversationId {
    /// The longest id, in bytes.
    pub const MAX_BYTES: usize = 256;

    /// Reads an id; none where it is empty, too long or could not be shown.
    pub fn parse(text: &str) -> Option<Self> {
        let good = !text.is_empty()
            && text.len() <= Self::MAX_BYTES
            && !text.chars().any(char::is_control);
        good.then(|| Self(text.into()))
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One message on its way to one recipient. Numbers grow and are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(as = "u32")]
pub struct DeliveryId(pub u64);

/// One attempt at a delivery: which delivery, and which attempt, 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptId(pub DeliveryId, pub u32);

/// One live connection. Numbers are not used again while the broker runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(as = "u32")]
pub struct ConnectionId(pub u64);

/// One piece of long work. A larger number was begun later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(as = "u32")]
pub struct JobId(pub u64);

/// One subscription. A larger number is a newer subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubscriptionId(pub u64);

impl fmt::Display for SubscriptionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sub_{}", self.0)
    }
}

impl Serialize for SubscriptionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_by_the_number_in_its_id() {
        for seq in [0, 1, 255, 256, 123_456_789, (1 << 40) - 1] {
            let id = MessageId::numbered(seq);
            assert_eq!((id.number(), id.0.get_version_num()), (seq, 7));
            assert_eq!(id.0.get_variant(), uuid::Variant::RFC4122);
        }
        let ids: Vec<_> = (1..1000).map(MessageId::numbered).collect();
        assert!(ids.is_sorted(), "they sort by time, and by number where the time is the same");
        assert_eq!(MessageId::numbered((1 << 40) + 5).number(), 5, "numbers beyond that are cut");
    }

    #[test]
    fn an_agent_id_is_1_to_128_visible_characters() {
        assert!(AgentId::parse("tg-bridge").is_ok());
        assert!(AgentId::parse("分析员").is_ok());
        assert!(AgentId::parse(&"a".repeat(128)).is_ok());
        for bad in ["", "two words", "line\nbreak", "zero\u{200b}width", "nul\0"] {
            assert!(AgentId::parse(bad).is_err(), "{bad:?} must be refused");
        }
        assert!(AgentId::parse(&"a".repeat(129)).is_err());
    }

    #[test]
    fn an_id_that_is_no_uuid_has_one_for_an_alias() {
        let id = AgentId::parse("planner").unwrap();
        // python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "urn:switchboard:agent:planner"))'
        assert_eq!(id.alias().to_string(), "a53573ac-7fa5-5861-bb6b-7da36d9e7028");
        let uuid = "0198c1c0-7d6b-7000-8000-000000000001";
        assert_eq!(AgentId::parse(uuid).unwrap().alias().to_string(), uuid);
    }

    #[test]
    fn a_subscription_id_is_shown_with_its_prefix() {
        assert_eq!(SubscriptionId(7).to_string(), "sub_7");
    }
}
