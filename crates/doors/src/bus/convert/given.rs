//! What a request says. Most say little and plainly, which is found quickly; whatever else there may be is read thoroughly,
//! and by one rule.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::super::fields::{pick, plain_text};
use super::super::wire::{RpcError, present};

/// What names a topic, in each generation's word, and what is said beside it.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub(super) struct Where<'a> {
    #[serde(borrow)]
    topic: Option<Cow<'a, str>>,
    #[serde(borrow)]
    address: Option<Cow<'a, str>>,
    #[serde(borrow)]
    to: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) policy: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) correlation_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) priority: Option<Cow<'a, str>>,
    #[serde(alias = "ttlSeconds")]
    pub(super) ttl_seconds: Option<f64>,
    #[serde(borrow, alias = "conversationId")]
    pub(super) conversation_id: Option<Cow<'a, str>>,
    /// W3C trace context.
    #[serde(borrow)]
    pub(super) traceparent: Option<Cow<'a, str>>,
    /// As it is written.
    #[serde(borrow, default, deserialize_with = "written")]
    pub(super) payload: Option<&'a str>,
}

fn written<'de, D: Deserializer<'de>>(field: D) -> Result<Option<&'de str>, D::Error> {
    Ok(present(field)?.map(RawValue::get))
}

/// What most requests have, and then the rest.
const KEYS: [&str; 12] = [
    "topic",
    "to",
    "payload",
    "address",
    "policy",
    "correlation_id",
    "priority",
    "ttl_seconds",
    "ttlSeconds",
    "conversation_id",
    "conversationId",
    "traceparent",
];

impl<'a> Where<'a> {
    pub(super) fn read(params: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let params = params.ok_or_else(|| RpcError::invalid_params("params are missing"))?.get();
        match Self::plain(params) {
            Some(usual) => Ok(usual),
            None => serde_json::from_str(params)
                .map_err(|error| RpcError::invalid_params(error.to_string())),
        }
    }

    /// Where only a topic and a payload are given, in plain words.
    fn plain(params: &'a str) -> Option<Self> {
        let [topic, to, payload, others @ ..] = pick(params, KEYS)?;
        if others.iter().any(Option::is_some) {
            return None;
        }
        let text = |value: &'a str| plain_text(value).map(Cow::Borrowed);
        let (topic, to) = (topic.map(text), to.map(text));
        if topic == Some(None) || to == Some(None) {
            return None;
        }
        Some(Self { topic: topic.flatten(), to: to.flatten(), payload, ..Self::default() })
    }

    pub(super) fn topic(&self) -> Result<&str, RpcError> {
        let topic = self.topic.as_deref().or(self.address.as_deref()).or(self.to.as_deref());
        topic.ok_or_else(|| RpcError::invalid_params("topic is missing"))
    }
}

/// What the broker wants to know of a payload.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub(super) struct PayloadHead<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "if_text")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "if_text")]
    pub(super) capability: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "if_text")]
    pub(super) priority: Option<Cow<'a, str>>,
}

impl<'a> PayloadHead<'a> {
    /// Reads JSON.
    pub(super) fn read(payload: &'a str) -> serde_json::Result<Self> {
        match pick(payload, ["type", "capability", "priority"]) {
            Some([kind, capability, priority]) => Ok(Self {
                kind: kind.and_then(text),
                capability: capability.and_then(text),
                priority: priority.and_then(text),
            }),
            None => serde_json::from_str(payload),
        }
    }
}

/// A field that means something to us only if it is text; what else agents keep there is theirs.
fn if_text<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    Ok(text(<&RawValue>::deserialize(field)?.get()))
}

fn text(value: &str) -> Option<Cow<'_, str>> {
    match plain_text(value) {
        Some(text) => Some(Cow::Borrowed(text)),
        None => serde_json::from_str(value).ok().map(Cow::Owned),
    }
}

/// Whether what is found quickly in a request is what a thorough reader finds.
#[cfg(any(test, fuzzing))]
pub(crate) fn is_read_alike(params: &RawValue) -> bool {
    let thorough = serde_json::from_str::<Where<'_>>(params.get()).ok();
    let payload = thorough.as_ref().and_then(|request| request.payload);
    let alike = |payload| PayloadHead::read(payload).ok() == serde_json::from_str(payload).ok();
    payload.is_none_or(alike) && Where::read(Some(params)).ok() == thorough
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An object of a few keys that mean something and some that do not, each with something or other.
    fn object(keys: &'static [&'static str]) -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just("null"),
            Just("1.5"),
            Just("true"),
            Just(r#""plain""#),
            Just(r#""\u0061\"""#),
            Just(r#"{"type":"inner","topic":["x"]}"#),
        ];
        let entry = (prop::sample::select(keys), value)
            .prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop::collection::vec(entry, 0..5).prop_map(|all| format!("{{{}}}", all.join(", ")))
    }

    proptest! {
        #[test]
        fn however_a_request_is_read_it_says_the_same(params in object(&[
            "topic", "to", "address", "payload", "from", "messageId", "priority", "ttl_seconds", "ttlSeconds", "t\\u006f",
        ])) {
            prop_assert!(is_read_alike(serde_json::from_str(&params).unwrap()), "{params}");
        }

        #[test]
        fn however_a_payload_is_read_it_says_the_same(payload in object(&[
            "type", "capability", "priority", "other", "typ\\u0065",
        ])) {
            let params = format!(r#"{{"topic":"t","payload":{payload}}}"#);
            prop_assert!(is_read_alike(serde_json::from_str(&params).unwrap()), "{params}");
        }
    }
}
