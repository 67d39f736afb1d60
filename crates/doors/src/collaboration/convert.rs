//! Between the protocol's words and the model's.

use std::sync::Arc;
use std::time::Duration;

use switchboard_broker::{Refusal, now};
use switchboard_model::{
    Address, AgentId, Code, Context, ConversationId, Dialect, Failure, Kind, Message, Object,
    Outcome, Payload, Priority, Send, Topic, Trace, Wait, in_short,
};

use super::wire::{ErrorInfo, Incoming, Outgoing, PriorityText, ROUTER, To};

/// A request may wait so long for its answer, whatever it says.
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);
/// The longest id of a message, and the most recipients of one.
const MAX_ID: usize = 256;
const MAX_RECIPIENTS: usize = 256;
/// What one message to many may come to.
const MAX_COPIES: usize = 16 << 20;

pub(crate) fn fault(code: Code, message: impl Into<String>) -> ErrorInfo {
    ErrorInfo { code: code.word().to_owned(), message: message.into() }
}

pub(crate) fn wrong(message: impl Into<String>) -> ErrorInfo {
    fault(Code::InvalidRequest, in_short(message))
}

impl From<Refusal> for ErrorInfo {
    fn from(refusal: Refusal) -> Self {
        fault(refusal.code(), refusal.to_string())
    }
}

/// What a message is for.
pub(crate) fn kind(message: &Incoming) -> Result<Kind, ErrorInfo> {
    let word = message.kind.as_deref().ok_or_else(|| wrong("type is missing"))?;
    Kind::parse(&word.to_lowercase()).ok_or_else(|| {
        wrong(format!("type {word:?} is not one of: request, response, broadcast, event"))
    })
}

/// Whether a message is for the broker itself.
pub(crate) fn is_for_router(message: &Incoming) -> bool {
    match &message.to {
        Some(To::One(id)) => id == ROUTER || id == "switchboard",
        Some(To::Many(_)) | None => false,
    }
}

/// Reads a message for others: one for each recipient.
pub(crate) fn sends(message: &Incoming, kind: Kind) -> Result<Vec<Send>, ErrorInfo> {
    let payload = message.payload.as_ref().ok_or_else(|| wrong("payload is missing"))?;
    let text = |key: &str| {
        payload.text(key).ok_or_else(|| wrong(format!("payload.{key} is missing or no text")))
    };
    if message.id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_ID) {
        return Err(wrong(format!("id has 1 to {MAX_ID} bytes")));
    }
    let (context, conversation) = context(message)?;
    let carried = payload.to_payload();
    let send = |address: Address| Send {
        address,
        kind,
        capability: None,
        priority: Priority::Normal,
        correlation: None,
        conversation: conversation.clone(),
        payload: carried.clone(),
        dialect: Dialect::Collaboration,
        context: Some(context.clone()),
        answer_within: None,
        expires_at: None,
        wait: Wait::Accepted,
    };
    let mut sends = match kind {
        Kind::Request => {
            let action = text("action")?;
            if action.len() > MAX_ID {
                return Err(wrong(format!("payload.action has at most {MAX_ID} bytes")));
            }
            let within = timeout(payload)?;
            let ask = |to: AgentId| Send {
                capability: Some(action.clone()),
                correlation: message.id.clone(),
                answer_within: within,
                ..send(Address::Agent(to))
            };
            recipients(message)?.into_iter().map(ask).collect()
        }
        Kind::Response => {
            text("status")?;
            let id = message.correlation_id.clone().ok_or_else(|| {
                wrong("correlationId is missing: give the id of the request that this answers")
            })?;
            let answer =
                |to: AgentId| Send { correlation: Some(id.clone()), ..send(Address::Agent(to)) };
            recipients(message)?.into_iter().map(answer).collect()
        }
        Kind::Broadcast => vec![send(topic(&format!("broadcast:{}", text("topic")?))?)],
        Kind::Event => vec![send(topic(&text("topic")?)?)],
    };
    if sends.len() > 1 && sends.len() * carried.bytes() > MAX_COPIES {
        let words = format!(
            "{} bytes to {} agents come to more than {MAX_COPIES}: send it to fewer at a time",
            carried.bytes(),
            sends.len()
        );
        return Err(fault(Code::TooLarge, words));
    }
    let priority = priority(message.priority.as_ref())?;
    for send in &mut sends {
        send.priority = priority;
    }
    Ok(sends)
}

fn topic(text: &str) -> Result<Address, ErrorInfo> {
    let topic = Topic::parse(text).map_err(|error| wrong(format!("payload.topic: {error}")))?;
    if topic.agent().is_some() {
        return Err(wrong("payload.topic names one agent: send it a request instead"));
    }
    Ok(Address::Topic(topic))
}

fn recipients(message: &Incoming) -> Result<Vec<AgentId>, ErrorInfo> {
    let names: Vec<&str> = match &message.to {
        None => return Err(wrong("to is missing")),
        Some(To::One(id)) => vec![id],
        Some(To::Many(ids)) => ids.iter().map(String::as_str).collect(),
    };
    if names.is_empty() || names.len() > MAX_RECIPIENTS {
        return Err(wrong(format!("to names 1 to {MAX_RECIPIENTS} agents")));
    }
    let one = |name: &&str| match *name {
        "*" => Err(wrong("to \"*\" is for broadcasts: name the agents that are asked")),
        name => AgentId::parse(name).map_err(|error| wrong(format!("to: {error}"))),
    };
    let mut ids = names.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    Ok(ids)
}

/// How long the sender waits, within what is sensible.
fn timeout(payload: &Object) -> Result<Option<Duration>, ErrorInfo> {
    let Some(value) = payload.get("timeout").filter(|value| value.as_str() != "null") else {
        return Ok(None);
    };
    let ms: f64 = value
        .as_str()
        .parse()
        .ok()
        .filter(|ms: &f64| ms.is_finite() && *ms > 0.0)
        .ok_or_else(|| wrong("payload.timeout is a number of milliseconds"))?;
    let within = Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(LONGEST);
    Ok(Some(within.clamp(SHORTEST, LONGEST)))
}

pub(crate) fn priority(given: Option<&PriorityText>) -> Result<Priority, ErrorInfo> {
    let found = match given {
        None => Some(Priority::Normal),
        Some(PriorityText::Number(given)) => {
            let same = |one: &Priority| (f64::from(number(*one)) - given).abs() < f64::EPSILON;
            Priority::ALL.into_iter().find(same)
        }
        Some(PriorityText::Name(name)) => Priority::parse(&name.to_uppercase()),
    };
    found.ok_or_else(|| wrong("priority is one of 0 LOW, 1 NORMAL, 2 HIGH, 3 URGENT"))
}

fn number(priority: Priority) -> u8 {
    match priority {
        Priority::Low => 0,
        Priority::Normal => 1,
        Priority::High => 2,
        Priority::Urgent => 3,
    }
}

/// What the metadata say that the broker knows of; the rest is passed on as it is.
fn context(message: &Incoming) -> Result<(Arc<Context>, Option<ConversationId>), ErrorInfo> {
    let mut metadata = message.metadata.clone().unwrap_or_default();
    let session = metadata.remove("sessionId").filter(|value| value.as_str() != "null");
    let conversation = match session {
        None => None,
        Some(value) => {
            let id: Option<String> = serde_json::from_str(value.as_str()).ok();
            let id = id.as_deref().and_then(ConversationId::parse);
            Some(id.ok_or_else(|| wrong("metadata.sessionId is no id of a session"))?)
        }
    };
    let depth = metadata.remove("conversationDepth");
    let depth = depth.and_then(|value| value.as_str().parse().ok()).unwrap_or(0);
    let trace = metadata.remove("trace");
    let trace: Option<Trace> = trace.and_then(|value| serde_json::from_str(value.as_str()).ok());
    Ok((Arc::new(Context { trace, depth, metadata }), conversation))
}

/// A message as it arrives here.
pub(crate) fn deliver(message: &Message, receiver: &str) -> String {
    let (id, correlation) = match message.kind {
        Kind::Request => (message.correlation_or_id(), None),
        Kind::Response => (message.id.to_string(), message.correlation.as_deref()),
        Kind::Event | Kind::Broadcast => (message.id.to_string(), None),
    };
    let mut metadata = Object::default();
    // An exchange that has no other name than its correlation is no session.
    let name = message.correlation_or_id();
    if let Some(session) = message.conversation.as_ref().filter(|session| *session.0 != name) {
        metadata.set_text("sessionId", &session.0);
    }
    let context = message.context.as_deref().cloned().unwrap_or_default();
    metadata.set("conversationDepth", Payload::trusted(context.depth.to_string()));
    let trace = serde_json::to_string(&message.trace()).unwrap_or_else(|_| "null".to_owned());
    metadata.set("trace", Payload::trusted(trace));
    for (key, value) in context.metadata.iter() {
        metadata.set(key, value.clone());
    }
    Outgoing {
        id,
        kind: message.kind.as_str(),
        from: if message.from.is_switchboard() { ROUTER } else { message.from.as_str() },
        to: if message.kind == Kind::Broadcast { "*" } else { receiver },
        correlation_id: correlation,
        timestamp: message.accepted_at.to_iso(),
        priority: number(message.priority),
        payload: message.payload_in(Dialect::Collaboration),
        metadata,
    }
    .to_text()
}

/// The broker's own answer to a message.
pub(crate) fn answer(
    receiver: &str,
    about: Option<&str>,
    result: Result<Payload, ErrorInfo>,
) -> String {
    let outcome = match result {
        Ok(result) => Outcome::Success(result),
        Err(ErrorInfo { code, message }) => {
            Outcome::Failure(Failure { code, message, details: None })
        }
    };
    let mut metadata = Object::default();
    metadata.set("conversationDepth", Payload::trusted("0"));
    Outgoing {
        id: uuid::Uuid::now_v7().to_string(),
        kind: Kind::Response.as_str(),
        from: ROUTER,
        to: receiver,
        correlation_id: about,
        timestamp: now().to_iso(),
        priority: number(Priority::Normal),
        payload: Dialect::Collaboration.write_outcome(None, &outcome),
        metadata,
    }
    .to_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        serde_json::from_str(text).unwrap()
    }

    fn refused(text: &str) -> String {
        let message = read(text);
        let refused = kind(&message).and_then(|kind| sends(&message, kind).map(drop));
        refused.unwrap_err().message
    }

    #[test]
    fn a_timeout_is_5_to_300_seconds() {
        let of = |ms: &str| {
            let text = format!(
                r#"{{"id":"1","type":"request","to":"b","payload":{{"action":"x","timeout":{ms}}}}}"#
            );
            sends(&read(&text), Kind::Request).unwrap()[0].answer_within
        };
        assert_eq!(of("1"), Some(SHORTEST));
        assert_eq!(of("7000"), Some(Duration::from_secs(7)));
        assert_eq!(of("1e99"), Some(LONGEST));
        assert_eq!(of("null"), None);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, said) in [
            (r#"{"payload":{}}"#, "type is missing"),
            (r#"{"type":"question"}"#, "not one of"),
            (r#"{"type":"request","to":"b"}"#, "payload is missing"),
            (r#"{"type":"request","to":"b","payload":{}}"#, "payload.action"),
            (r#"{"type":"request","payload":{"action":"x"}}"#, "to is missing"),
            (r#"{"type":"request","to":"*","payload":{"action":"x"}}"#, "broadcasts"),
            (r#"{"type":"response","to":"b","payload":{"status":"success"}}"#, "correlationId"),
            (r#"{"type":"event","payload":{"topic":"agent:b"}}"#, "one agent"),
            (r#"{"type":"event","payload":{"topic":"t"},"priority":4}"#, "3 URGENT"),
        ] {
            let said_instead = refused(text);
            assert!(said_instead.contains(said), "{text}: {said_instead}");
        }
    }

    #[test]
    fn one_request_to_many_is_one_for_each() {
        let text = r#"{"id":"q","type":"request","to":["b","c","b"],"payload":{"action":"x"}}"#;
        let sends = sends(&read(text), Kind::Request).unwrap();
        let to: Vec<String> =
            sends.iter().map(|send| send.address.agent().unwrap().to_string()).collect();
        assert_eq!(to, ["b", "c"]);
        assert!(sends.iter().all(|send| send.correlation.as_deref() == Some("q")));
    }
}
