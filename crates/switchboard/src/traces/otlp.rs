//! The part of OTLP's trace messages that is used here, as protocol buffers.

use prost::Message as _;
use switchboard_model::{Kind, Message, MessageState};

#[derive(Clone, PartialEq, prost::Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

/// One span.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Status {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
}

/// A producer: what it sent is dealt with by another, later.
const PRODUCER: i32 = 4;
const OK: i32 = 1;
const ERROR: i32 = 2;

fn attribute(key: &str, value: impl Into<String>) -> KeyValue {
    let value = AnyValue { string_value: Some(value.into()) };
    KeyValue { key: key.to_owned(), value: Some(value) }
}

/// A message's life as a span.
pub(super) fn span(
    message: &Message,
    state: MessageState,
    took_micros: u64,
    error: Option<&str>,
) -> Span {
    let trace = message.trace();
    let topic = message.address.topic();
    let what = message.capability.as_deref().unwrap_or_else(|| topic.as_str());
    let start = u64::try_from(message.accepted_at.0).unwrap_or(0).saturating_mul(1000);
    let mut attributes = vec![
        attribute("messaging.system", "switchboard"),
        attribute("messaging.operation.name", message.kind.as_str()),
        attribute("messaging.destination.name", topic.as_str()),
        attribute("messaging.message.id", message.id.to_string()),
        attribute("switchboard.from", message.from.as_str()),
        attribute("switchboard.door", message.door.as_str()),
        attribute("switchboard.priority", message.priority.as_str()),
        attribute("switchboard.state", state.as_str()),
    ];
    if let Some(conversation) = &message.conversation {
        attributes.push(attribute("messaging.message.conversation_id", &*conversation.0));
    }
    let failed = match state {
        MessageState::Processed | MessageState::Waiting => false,
        MessageState::Dead
        | MessageState::Discarded
        | MessageState::Expired
        | MessageState::Refused => true,
    };
    Span {
        trace_id: bytes(&trace.trace_id),
        span_id: bytes(&trace.span_id),
        parent_span_id: trace.parent_span_id.as_deref().map(bytes).unwrap_or_default(),
        name: match message.kind {
            Kind::Request => format!("request {what}"),
            Kind::Response => format!("response {what}"),
            Kind::Event => format!("event {what}"),
            Kind::Broadcast => format!("broadcast {what}"),
        },
        kind: PRODUCER,
        start_time_unix_nano: start,
        end_time_unix_nano: start.saturating_add(took_micros.saturating_mul(1000)),
        attributes,
        status: Some(Status {
            message: error.unwrap_or_default().to_owned(),
            code: if failed { ERROR } else { OK },
        }),
    }
}

/// Hexadecimal text as bytes; ids are checked when they come in.
fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at: usize| hex.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..hex.len()).step_by(2).filter_map(byte).collect()
}

/// Spans as the body of an export.
pub(super) fn request(spans: Vec<Span>) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let scope = Scope { name: "switchboard".to_owned(), version };
    let attributes = vec![attribute("service.name", "switchboard")];
    let request = Request {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource { attributes }),
            scope_spans: vec![ScopeSpans { scope: Some(scope), spans }],
        }],
    };
    request.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_their_bytes() {
        assert_eq!(bytes("00ff10"), [0, 255, 16]);
        assert_eq!(bytes(""), [0_u8; 0]);
    }

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        let span = Span { name: "request x".to_owned(), kind: PRODUCER, ..Span::default() };
        let read = Request::decode(&request(vec![span.clone()])[..]).unwrap();
        assert_eq!(read.resource_spans[0].scope_spans[0].spans, [span]);
    }
}
