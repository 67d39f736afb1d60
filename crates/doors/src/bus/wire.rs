//! JSON-RPC 2.0 as the bus speaks it. Payloads and ids stay raw JSON text.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use switchboard_model::{MessageId, in_short};

use super::text::Text;

/// How long a caller that was refused for lack of room should wait, in milliseconds.
const RETRY_AFTER_MS: u32 = 1000;
/// The most requests in one batch.
pub(crate) const MAX_BATCH: usize = 50;

/// One JSON-RPC object, request or response, as it arrived.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// `null` is something that was said, not something left out: a peer that answers `null` has
/// answered.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    field: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

/// What an envelope turned out to be.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// Someone asks; without an id nobody waits for the answer.
    Request { id: Option<&'a RawValue>, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Someone answers what we asked.
    Response { id: &'a RawValue, answer: Result<&'a RawValue, &'a RawValue> },
}

/// Why a text is no request: the id to answer to, if it had one, and the error.
#[derive(Debug)]
pub(crate) struct BadEnvelope<'a> {
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) error: RpcError,
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<serde_json::Value>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: &'static str, why: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Some(serde_json::Value::String(in_short(why))) }
    }

    pub(crate) fn parse(why: impl Into<String>) -> Self {
        Self::new(-32700, "Parse error", why)
    }

    pub(crate) fn invalid_request(why: impl Into<String>) -> Self {
        Self::new(-32600, "Invalid Request", why)
    }

    pub(crate) fn invalid_params(why: impl Into<String>) -> Self {
        Self::new(-32602, "Invalid params", why)
    }

    /// Too much at once; the caller may try again.
    pub(crate) fn busy(why: impl Into<String>) -> Self {
        let data = serde_json::json!({ "reason": why.into(), "retryAfterMs": RETRY_AFTER_MS });
        Self { code: -32014, message: "Busy".into(), data: Some(data) }
    }

    pub(crate) fn unexpected() -> Self {
        Self::new(-32603, "Internal error", "the broker gave an answer of another kind")
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        let known = "initialize, subscribe, unsubscribe, sendMessage, ping";
        Self::new(-32601, "Method not found", format!("{method:?} is not one of: {known}"))
    }
}

/// What a frame carries, unread. The answers of a batch are given as one, too.
#[derive(Debug)]
pub(crate) enum Parts<'a> {
    One(&'a str),
    Batch(Vec<&'a RawValue>),
}

/// Splits a frame into envelopes. A batch is an array.
pub(crate) fn split(text: &str) -> Result<Parts<'_>, RpcError> {
    if !text.trim_start().starts_with('[') {
        return Ok(Parts::One(text));
    }
    let all: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| RpcError::parse(error.to_string()))?;
    match all.len() {
        0 => Err(RpcError::invalid_request("an empty batch")),
        1..=MAX_BATCH => Ok(Parts::Batch(all)),
        more => Err(RpcError::invalid_request(format!(
            "a batch of {more}: send at most {MAX_BATCH} requests at once"
        ))),
    }
}

/// Reads one envelope.
pub(crate) fn read(text: &str) -> Result<Incoming<'_>, BadEnvelope<'_>> {
    let bad = |id, why: &str| Err(BadEnvelope { id, error: RpcError::invalid_request(why) });
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        // What is no JSON at all is told from what is no envelope.
        Err(error) => match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => return bad(None, &error.to_string()),
            Err(error) => {
                return Err(BadEnvelope { id: None, error: RpcError::parse(error.to_string()) });
            }
        },
    };
    let id = match envelope.id {
        Some(id) if !is_id(id) => return bad(None, "id must be a string or a number"),
        id => id,
    };
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return bad(id, "jsonrpc must be \"2.0\"");
    }
    match (envelope.method, envelope.result, envelope.error, id) {
        (Some(method), None, None, id) => {
            Ok(Incoming::Request { id, method, params: envelope.params })
        }
        (None, Some(result), None, Some(id)) => Ok(Incoming::Response { id, answer: Ok(result) }),
        (None, None, Some(error), Some(id)) => Ok(Incoming::Response { id, answer: Err(error) }),
        (None, None, None, id) => bad(id, "method is missing"),
        (Some(_), .., id) => bad(id, "give either method, or result, or error"),
        // Not a request, so its id is one of ours, and must not be answered as if it were theirs.
        (None, ..) => bad(None, "a response has one result or one error, and an id"),
    }
}

fn is_id(raw: &RawValue) -> bool {
    raw.get().starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

/// A response. `result` is always an object.
pub(crate) fn response(id: &str, result: &RawValue) -> String {
    let mut text = Text::new(r#"{"jsonrpc":"2.0","result":"#);
    text.raw(result.get()).raw(r#","id":"#).raw(id).raw("}");
    text.done()
}

/// An error response; the id is `null` where the request's could not be read.
pub(crate) fn error_response(id: &str, error: &RpcError) -> String {
    let error = serde_json::to_string(error)
        .unwrap_or_else(|_| r#"{"code":-32603,"message":"Internal error"}"#.to_owned());
    format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{id}}}"#)
}

/// What a delivery says beside its payload.
pub(crate) struct DeliveryHead<'a> {
    pub(crate) topic: &'a str,
    pub(crate) from: &'a str,
    pub(crate) message: MessageId,
    /// None where it is the message's own id.
    pub(crate) correlation: Option<&'a str>,
    pub(crate) traceparent: Option<String>,
}

/// The request by which a message is delivered. The payload goes in as the text it came as.
pub(crate) fn delivery(method: &str, id: u64, head: &DeliveryHead<'_>, payload: &str) -> String {
    let mut text = Text::new(r#"{"jsonrpc":"2.0","method":"#);
    text.string(method).raw(r#","params":{"topic":"#).string(head.topic);
    text.raw(r#","from":"#).string(head.from).raw(r#","to":"#).string(head.topic);
    text.raw(r#","messageId":"#).id(head.message).raw(r#","correlation_id":"#);
    match head.correlation {
        Some(correlation) => text.string(correlation),
        None => text.id(head.message),
    };
    if let Some(traceparent) = &head.traceparent {
        text.raw(r#","traceparent":"#).string(traceparent);
    }
    text.raw(r#","payload":"#).raw(payload).raw(r#"},"id":"#).number(id).raw("}");
    text.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> (Option<String>, i32) {
        let bad = read(text).unwrap_err();
        (bad.id.map(|id| id.get().to_owned()), bad.error.code)
    }

    #[test]
    fn an_envelope_is_a_request_or_a_response_and_nothing_between() {
        for bad in [
            "1",
            "[]",
            r#"{"method":"ping","id":1}"#,
            r#"{"jsonrpc":"1.0","method":"ping","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","method":7,"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"ping","result":{},"id":1}"#,
            r#"{"jsonrpc":"2.0","result":{},"error":{},"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"ping","id":{}}"#,
            r#"{"jsonrpc":"2.0","method":"ping","method":"ping","id":1}"#,
            r#"{"jsonrpc":"2.0","method":"ping","id":null}"#,
        ] {
            assert_eq!(refused(bad).1, -32600, "{bad}");
        }
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":"x"}"#).0.as_deref(), Some("\"x\""));
    }

    #[test]
    fn null_is_an_answer() {
        let text = r#"{"jsonrpc":"2.0","result":null,"id":7}"#;
        assert!(
            matches!(read(text), Ok(Incoming::Response { answer: Ok(null), .. }) if null.get() == "null")
        );
    }

    #[test]
    fn a_batch_has_1_to_50_requests() {
        assert_eq!(split("[]").unwrap_err().code, -32600);
        let many = |n: usize| format!("[{}]", vec!["1"; n].join(","));
        assert!(matches!(split(&many(50)).unwrap(), Parts::Batch(all) if all.len() == 50));
        assert_eq!(split(&many(51)).unwrap_err().code, -32600);
        assert_eq!(split("[1,").unwrap_err().code, -32700);
        assert_eq!(read("nonsense").unwrap_err().error.code, -32700);
    }

    #[test]
    fn a_delivery_keeps_the_payload_to_the_letter() {
        let payload = r#"{"big":123456789012345678901234567890, "dup":1,"dup":2}"#;
        let head = DeliveryHead {
            topic: "inbound:\"1\"",
            from: "a",
            message: MessageId::numbered(7),
            correlation: None,
            traceparent: None,
        };
        let text = delivery("processMessage", 7, &head, payload);
        assert!(text.contains(payload));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["params"]["topic"], "inbound:\"1\"");
        assert_eq!(value["id"], 7);
        assert_eq!(value["params"]["correlation_id"], head.message.to_string());
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 4, "only the spec's keys at the top: {keys:?}");
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,200}") {
            let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
            if let Err(bad) = read(&text) {
                prop_assert_eq!(bad.error.code, if is_json { -32600 } else { -32700 });
            }
            if let Ok(Parts::Batch(parts)) = split(&text) {
                for part in parts {
                    if let Err(bad) = read(part.get()) {
                        prop_assert_eq!(bad.error.code, -32600);
                    }
                }
            }
        }

        #[test]
        fn a_response_is_valid_json_for_any_string_id(id in "\\PC{0,20}") {
            let id = serde_json::to_string(&id).unwrap();
            let text = error_response(&id, &RpcError::parse("why"));
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value["id"].to_string(), id);
        }
    }
}
