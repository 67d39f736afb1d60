//! Between the protocol's types and the model, and its statuses.

use axum::http::StatusCode;
use serde_json::value::RawValue;
use switchboard_broker::Refusal;
use switchboard_model::{
    Address, AgentId, Code, Dialect, Kind, Mail, MailStatus, Message, Payload, Priority, Receipt,
    Send, Wait, in_short,
};

use crate::named;

use super::wire::{Content, MessageType, MessageView, NewMessage, Status};

/// Programs of many languages cannot read what is nested deeper than 128, and a page goes around this.
const DEEPEST: usize = 120;
/// The longest name of an action.
const ACTION: usize = 256;
/// The longest correlation that is kept.
const CORRELATION: usize = 256;

/// A request that was not carried out.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) status: StatusCode,
    pub(super) words: String,
    /// After how many seconds to try again, where that helps.
    pub(super) retry_after: Option<u64>,
}

impl Fault {
    pub(super) fn new(status: StatusCode, words: impl Into<String>) -> Self {
        Self { status, words: in_short(words), retry_after: None }
    }

    /// The body has another shape than it must have.
    pub(super) fn misshapen(words: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, words)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let (status, retry_after) = match refusal.code() {
            Code::NotJoined | Code::Unauthorized => (StatusCode::UNAUTHORIZED, None),
            Code::Forbidden => (StatusCode::FORBIDDEN, None),
            Code::NotFound | Code::UnknownCapability | Code::UnknownMethod => {
                (StatusCode::NOT_FOUND, None)
            }
            Code::Conflict
            | Code::Taken
            | Code::AlreadyJoined
            | Code::AlreadySubscribed
            | Code::NotSubscribed => (StatusCode::CONFLICT, None),
            Code::InvalidClient | Code::InvalidRequest | Code::SchemaViolation => {
                (StatusCode::UNPROCESSABLE_ENTITY, None)
            }
            Code::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, None),
            Code::LockedOut => (StatusCode::TOO_MANY_REQUESTS, Some(300)),
            Code::Busy | Code::Stopping => (StatusCode::SERVICE_UNAVAILABLE, Some(1)),
            Code::StorageFailed | Code::Internal => (StatusCode::INTERNAL_SERVER_ERROR, None),
        };
        Self { status, words: refusal.to_string(), retry_after }
    }
}

/// Reads a message to send.
pub(super) fn send(new: &NewMessage<'_>) -> Result<Send, Fault> {
    let kind = match new.message_type.unwrap_or_default() {
        MessageType::Request => Kind::Request,
        MessageType::Response => Kind::Response,
        MessageType::Notification => Kind::Event,
    };
    if depth(new.content.get()) > DEEPEST {
        let words = format!("content is nested more than {DEEPEST} deep");
        return Err(Fault::misshapen(words));
    }
    let content: Content<'_> = named::from_slice(new.content.get().as_bytes())
        .map_err(|words| Fault::misshapen(format!("content: {words}")))?;
    let objects =
        [("input", content.input), ("output", content.output), ("metadata", content.metadata)];
    for (name, value) in objects {
        if value.is_some_and(|value| !is_object_or_null(value)) {
            return Err(Fault::misshapen(format!("content.{name} must be an object")));
        }
    }
    if content.action.is_empty() || content.action.len() > ACTION {
        return Err(Fault::misshapen(format!("content.action must have 1 to {ACTION} bytes")));
    }
    let correlation = new.correlation_id.clone();
    if correlation.as_ref().is_some_and(|it| it.is_empty() || it.len() > CORRELATION) {
        return Err(Fault::misshapen(format!("correlation_id must have 1 to {CORRELATION} bytes")));
    }
    Ok(Send {
        address: Address::Agent(agent_id("receiver_agent_id", &new.receiver_agent_id)?),
        kind,
        capability: Some(content.action),
        priority: Priority::Normal,
        correlation,
        conversation: None,
        payload: Payload::from_raw(new.content),
        dialect: Dialect::Aacp,
        context: None,
        answer_within: None,
        expires_at: None,
        wait: Wait::Accepted,
    })
}

/// How deep JSON is nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_text, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn is_object_or_null(value: &RawValue) -> bool {
    value.get().starts_with('{') || value.get() == "null"
}

/// Reads the id of an agent. UUIDs are the same however they are written.
pub(super) fn agent_id(field: &str, text: &str) -> Result<AgentId, Fault> {
    let uuid = uuid::Uuid::parse_str(text).map(|id| id.to_string());
    AgentId::parse(uuid.as_deref().unwrap_or(text))
        .map_err(|error| Fault::misshapen(format!("{field}: {error}")))
}

/// Whether this is one of the names of an agent.
pub(super) fn is_name_of(name: &AgentId, agent: &AgentId) -> bool {
    name == agent || name.alias() == agent.alias()
}

/// A message that was accepted just now.
pub(super) fn accepted(
    new: &NewMessage<'_>,
    sender: &AgentId,
    send: &Send,
    receipt: &Receipt,
) -> MessageView {
    let receiver = send.address.agent().map_or_else(String::new, |id| id.alias().to_string());
    let id = receipt.message.to_string();
    MessageView {
        sender_agent_id: sender.alias().to_string(),
        receiver_agent_id: receiver,
        message_type: new.message_type.unwrap_or_default(),
        content: new.content.to_owned(),
        correlation_id: send.correlation.clone().unwrap_or_else(|| id.clone()),
        id,
        status: Status::Pending,
        created_at: receipt.accepted_at.to_iso(),
        processed_at: None,
    }
}

/// A message in a mailbox.
pub(super) fn view(mail: &Mail) -> Option<MessageView> {
    let message = &mail.message;
    let receiver = message.address.agent()?;
    Some(MessageView {
        id: message.id.to_string(),
        sender_agent_id: message.from.alias().to_string(),
        receiver_agent_id: receiver.alias().to_string(),
        message_type: match message.kind {
            Kind::Request => MessageType::Request,
            // This protocol has one response to a request; what tells of progress is none.
            Kind::Response if is_progress(message) => MessageType::Notification,
            Kind::Response => MessageType::Response,
            Kind::Event | Kind::Broadcast => MessageType::Notification,
        },
        content: if mail.is_shown() {
            content(message)
        } else {
            only_action(message, "it was never fetched in its time")
        },
        correlation_id: message.correlation_or_id(),
        status: match mail.status {
            MailStatus::Pending => Status::Pending,
            MailStatus::Delivered => Status::Delivered,
            MailStatus::Processed => Status::Processed,
            MailStatus::Failed => Status::Failed,
        },
        created_at: message.accepted_at.to_iso(),
        processed_at: mail.processed_at.map(switchboard_model::Timestamp::to_iso),
    })
}

fn is_progress(message: &Message) -> bool {
    let outcome = message.dialect.read_outcome(message.payload.as_str());
    matches!(outcome, switchboard_model::Outcome::Partial { .. })
}

/// What is left of a message that is not shown.
fn only_action(message: &Message, why: &str) -> Box<RawValue> {
    let action = message.capability.as_deref().unwrap_or_default();
    let text = serde_json::json!({ "action": action, "metadata": { "not_shown": why } });
    RawValue::from_string(text.to_string()).unwrap_or_default()
}

/// What it says, in the words of this door; always an object, and one that can be read: others on the same
/// page must not be lost for it.
fn content(message: &Message) -> Box<RawValue> {
    let payload = message.payload_in(Dialect::Aacp);
    if depth(payload.as_str()) > DEEPEST {
        return only_action(message, "it is nested too deep");
    }
    let text = match payload.as_str().starts_with('{') {
        true => payload.as_str().to_owned(),
        false => format!(r#"{{"result":{}}}"#, payload.as_str()),
    };
    RawValue::from_string(text).unwrap_or_default()
}

/// The status of the protocol as the model has it.
pub(super) fn status(status: Status) -> MailStatus {
    match status {
        Status::Pending => MailStatus::Pending,
        Status::Delivered => MailStatus::Delivered,
        Status::Processed => MailStatus::Processed,
        Status::Failed => MailStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Send, Fault> {
        let new: NewMessage<'_> =
            serde_json::from_str(text).map_err(|error| Fault::misshapen(error.to_string()))?;
        send(&new)
    }

    fn with(rest: &str) -> String {
        format!(r#"{{"sender_agent_id":"a","receiver_agent_id":"b",{rest}}}"#)
    }

    #[test]
    fn a_message_without_a_type_is_a_request_and_its_action_the_capability() {
        let send = read(&with(r#""content":{"action":"sum","input":{"n":1}}"#)).unwrap();
        assert_eq!((send.kind, send.capability.as_deref()), (Kind::Request, Some("sum")));
        assert_eq!(send.payload.as_str(), r#"{"action":"sum","input":{"n":1}}"#);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (rest, said) in [
            (r#""content":{}"#, "action"),
            (r#""content":{"action":""}"#, "content.action"),
            (r#""content":{"action":7}"#, "content"),
            (r#""content":[]"#, "content"),
            (r#""content":{"action":"x","input":3}"#, "content.input"),
            (r#""content":{"action":"x","output":"y"}"#, "content.output"),
            (r#""content":{"action":"x"},"message_type":"shout""#, "shout"),
            (r#""content":{"action":"x"},"correlation_id":"""#, "correlation_id"),
        ] {
            let fault = read(&with(rest)).unwrap_err();
            assert!(fault.words.contains(said), "{rest}: {}", fault.words);
            assert_eq!(fault.status, StatusCode::UNPROCESSABLE_ENTITY);
        }
    }

    #[test]
    fn how_deep_content_may_be_nested_is_bounded_and_brackets_in_texts_do_not_count() {
        let nested = |n: usize| {
            format!(
                r#"{{"action":"x","input":{{"a":{}"[[[\"["{}}}}}"#,
                "[".repeat(n),
                "]".repeat(n)
            )
        };
        assert!(read(&with(&format!(r#""content":{}"#, nested(100)))).is_ok());
        assert!(read(&with(&format!(r#""content":{}"#, nested(127)))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in ".{0,200}") {
            drop(read(&text));
            drop(read(&with(&format!(r#""content":{text}"#))));
        }
    }
}
