//! Between the lobby's words and the model's.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_broker::Refusal;
use switchboard_model::{
    Address, AgentId, Code, ConversationId, Declared, Dialect, Failure, Find, Found, Join, Kind,
    Message, Object, Outcome, Payload, Priority, Secret, Send, Wait, in_short,
};

use super::wire::{
    AckPayload, ErrorPayload, Incoming, LOBBY, Outgoing, PROTOCOL, Service, ServicesPayload,
};

/// The longest name of what is asked for.
const MAX_NAME: usize = 256;
/// As much is told of who was found; who wants more asks for less at a time.
const MAX_SERVICES: usize = 1 << 20;

/// Why a message cannot be taken, in a code for programs and words for people.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) words: String,
}

impl Fault {
    pub(crate) fn wrong(words: impl Into<String>) -> Self {
        Self { code: Code::InvalidRequest, words: in_short(words) }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code(), words: refusal.to_string() }
    }
}

#[derive(Deserialize)]
struct RegisterPayload {
    #[serde(default)]
    capabilities: Vec<Declared>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    version: Option<String>,
}

/// Reads a REGISTER.
pub(crate) fn join(message: &Incoming<'_>) -> Result<Join, Fault> {
    let agent = sender(message)?;
    let payload: RegisterPayload = payload(message)?;
    let name = payload.name.unwrap_or_else(|| agent.to_string());
    Ok(Join {
        capabilities: Some(payload.capabilities),
        token: message.auth_token.as_deref().map(Secret::new),
        wants_token: true,
        ..Join::of(agent, name, payload.version.unwrap_or_default())
    })
}

/// Who says that it sent this.
pub(crate) fn sender(message: &Incoming<'_>) -> Result<AgentId, Fault> {
    let id = message.sender_id.as_deref().ok_or_else(|| Fault::wrong("sender_id is missing"))?;
    AgentId::parse(id).map_err(|error| Fault::wrong(format!("sender_id: {error}")))
}

fn payload<'a, T: Deserialize<'a>>(message: &Incoming<'a>) -> Result<T, Fault> {
    let text = message.payload.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| Fault::wrong(format!("payload: {error}")))
}

#[derive(Deserialize)]
struct DiscoverPayload {
    capability_name: Option<String>,
    #[serde(default)]
    query_keywords: Vec<String>,
}

/// Reads a DISCOVER_SERVICES: whom to look for, and the name that was asked for.
pub(crate) fn find(message: &Incoming<'_>) -> Result<(Find, Option<String>), Fault> {
    let DiscoverPayload { capability_name, query_keywords } = payload(message)?;
    if capability_name.is_none() && query_keywords.is_empty() {
        return Err(Fault::wrong("give capability_name or query_keywords in the payload"));
    }
    let required = capability_name.iter().cloned().collect();
    let find = Find { required, keywords: query_keywords, ..Find::default() };
    Ok((find, capability_name))
}

/// Writes a SERVICES_AVAILABLE.
pub(crate) fn services(
    agent: &AgentId,
    asked_for: Option<&str>,
    found: &[Found],
    conversation_id: Option<&str>,
) -> String {
    let service = |one: &'_ Found| -> Vec<usize> {
        let relevant = |at: &usize| one.relevant.contains(&one.capabilities[*at].name);
        (0..one.capabilities.len()).filter(relevant).collect()
    };
    let mut services_found = Vec::new();
    let mut bytes = 0;
    for one in found {
        let relevant_capabilities = service(one).iter().map(|at| &one.capabilities[*at]).collect();
        let service = Service { agent_id: one.agent.as_str(), relevant_capabilities };
        bytes += serde_json::to_string(&service).map_or(0, |text| text.len());
        if bytes > MAX_SERVICES {
            break;
        }
        services_found.push(service);
    }
    let payload = ServicesPayload { services_found, discovered_for_capability: asked_for };
    from_lobby(agent.as_str(), "SERVICES_AVAILABLE", &payload, conversation_id)
}

#[derive(Deserialize)]
struct UpdatePayload {
    #[serde(default)]
    capabilities: Vec<Declared>,
    #[serde(default)]
    withdrawn: Vec<String>,
}

/// Reads a CAPABILITY_UPDATE: new and changed ones, and the names of those that are no more.
pub(crate) fn update(message: &Incoming<'_>) -> Result<(Vec<Declared>, Vec<String>), Fault> {
    let UpdatePayload { capabilities, withdrawn } = payload(message)?;
    Ok((capabilities, withdrawn))
}

/// Reads a REQUEST, a RESPONSE or an ERROR for another agent.
pub(crate) fn send(message: &Incoming<'_>, kind: Kind) -> Result<Send, Fault> {
    let receiver =
        message.receiver_id.as_deref().ok_or_else(|| Fault::wrong("receiver_id is missing"))?;
    let receiver =
        AgentId::parse(receiver).map_err(|error| Fault::wrong(format!("receiver_id: {error}")))?;
    let text = message.payload.map_or("{}", RawValue::get);
    let object = Object::parse(text)
        .map_err(|error| Fault::wrong(format!("payload must be an object: {error}")))?;
    let capability = match kind {
        Kind::Request => Some(object.text("capability_name").ok_or_else(|| {
            Fault::wrong("payload.capability_name is missing: say what is asked for")
        })?),
        Kind::Response => {
            object.text("status").ok_or_else(|| {
                Fault::wrong("payload.status is missing: \"success\" or \"error\", as text")
            })?;
            None
        }
        Kind::Event | Kind::Broadcast => None,
    };
    if capability.as_ref().is_some_and(|name| name.len() > MAX_NAME) {
        return Err(Fault::wrong(format!("payload.capability_name has at most {MAX_NAME} bytes")));
    }
    let conversation_id = message.conversation_id.as_deref();
    let conversation = match conversation_id {
        Some(id) => Some(ConversationId::parse(id).ok_or_else(|| {
            let most = ConversationId::MAX_BYTES;
            Fault::wrong(format!(
                "conversation_id has 1 to {most} bytes, without control characters"
            ))
        })?),
        None if kind == Kind::Response => {
            return Err(Fault::wrong("conversation_id is missing: give that of the REQUEST"));
        }
        None => None,
    };
    Ok(Send {
        address: Address::Agent(receiver),
        kind,
        capability,
        priority: priority(message.priority)?,
        correlation: conversation_id.map(str::to_owned),
        conversation,
        payload: Payload::trusted(text),
        dialect: Dialect::Lobby,
        context: None,
        answer_within: None,
        expires_at: None,
        wait: Wait::Accepted,
    })
}

/// An ERROR from one agent to another answers what the other asked, as a failure does.
pub(crate) fn error_as_answer(send: Send) -> Result<Send, Fault> {
    let mut payload = Object::parse(send.payload.as_str()).unwrap_or_default();
    let about = payload.text("original_conversation_id");
    let Some(correlation) = send.correlation.or(about) else {
        return Err(Fault::wrong("conversation_id is missing: give that of the REQUEST"));
    };
    payload.set_text("status", "error");
    Ok(Send {
        kind: Kind::Response,
        correlation: Some(correlation),
        payload: payload.to_payload(),
        ..send
    })
}

/// This protocol's clients count the other way round.
fn priority(number: Option<u64>) -> Result<Priority, Fault> {
    match number {
        None | Some(2) => Ok(Priority::Normal),
        Some(0) => Ok(Priority::Urgent),
        Some(1) => Ok(Priority::High),
        Some(3 | 4) => Ok(Priority::Low),
        Some(other) => Err(Fault::wrong(format!(
            "priority {other} is not one of 0 critical, 1 high, 2 normal, 3 low, 4 bulk"
        ))),
    }
}

/// A message as it arrives here.
pub(crate) fn deliver(message: &Message, receiver: &str) -> String {
    let (message_type, conversation) = match message.kind {
        Kind::Request => ("REQUEST", Some(message.correlation_or_id())),
        Kind::Response => ("RESPONSE", message.correlation.clone()),
        // This protocol has no word for what asks for nothing; those who do not know this one pass it over.
        Kind::Event | Kind::Broadcast => ("NOTIFICATION", message.correlation.clone()),
    };
    let sender_id = if message.from.is_switchboard() { LOBBY } else { message.from.as_str() };
    Outgoing {
        sender_id,
        receiver_id: receiver,
        message_type,
        payload: message.payload_in(Dialect::Lobby),
        conversation_id: conversation.as_deref(),
        priority: match message.priority {
            Priority::Urgent => Some(0),
            Priority::High => Some(1),
            Priority::Normal => None,
            Priority::Low => Some(3),
        },
    }
    .to_text()
}

/// Writes a REGISTER_ACK.
pub(crate) fn ack(
    agent: &AgentId,
    status: &str,
    token: Option<&Secret>,
    conversation_id: Option<&str>,
) -> String {
    let payload = AckPayload {
        status,
        lobby_id: LOBBY,
        auth_token: token.map(Secret::reveal),
        protocol_version: PROTOCOL,
    };
    from_lobby(agent.as_str(), "REGISTER_ACK", &payload, conversation_id)
}

/// Writes an ERROR about a message.
pub(crate) fn error(receiver: &str, fault: &Fault, about: Option<&Incoming<'_>>) -> String {
    let payload = ErrorPayload {
        error: &fault.words,
        code: fault.code.word(),
        original_message_type: about.and_then(|message| message.message_type.as_deref()),
        original_conversation_id: about.and_then(|message| message.conversation_id.as_deref()),
    };
    let conversation = about.and_then(|message| message.conversation_id.as_deref());
    from_lobby(receiver, "ERROR", &payload, conversation)
}

/// What the sender of a REQUEST is told that cannot be made: what concerns the request itself is an
/// answer to it, all else is an ERROR.
pub(crate) fn request_refused(receiver: &str, fault: &Fault, about: &Incoming<'_>) -> String {
    match fault.code {
        Code::Forbidden
        | Code::UnknownCapability
        | Code::NotFound
        | Code::SchemaViolation
        | Code::InvalidRequest => {
            let failure = Failure {
                code: fault.code.word().to_owned(),
                message: fault.words.clone(),
                details: None,
            };
            let payload = Dialect::Lobby.write_outcome(None, &Outcome::Failure(failure));
            from_lobby(receiver, "RESPONSE", &payload, about.conversation_id.as_deref())
        }
        Code::NotJoined
        | Code::AlreadyJoined
        | Code::InvalidClient
        | Code::UnknownMethod
        | Code::AlreadySubscribed
        | Code::NotSubscribed
        | Code::Unauthorized
        | Code::LockedOut
        | Code::Taken
        | Code::Conflict
        | Code::TooLarge
        | Code::Busy
        | Code::Stopping
        | Code::StorageFailed
        | Code::Internal => error(receiver, fault, Some(about)),
    }
}

fn from_lobby(
    receiver_id: &str,
    message_type: &str,
    payload: &impl Serialize,
    conversation_id: Option<&str>,
) -> String {
    let payload = serde_json::to_string(payload).unwrap_or_else(|_| "{}".to_owned());
    let payload = Payload::trusted(payload);
    let priority = None;
    Outgoing { sender_id: LOBBY, receiver_id, message_type, payload, conversation_id, priority }
        .to_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Incoming<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn priorities_are_mapped_by_name_and_never_by_number() {
        let of = |number| priority(Some(number)).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 4].map(of),
            [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low, Priority::Low]
        );
        assert!(priority(Some(5)).is_err());
    }

    #[test]
    fn a_request_without_a_capability_or_a_receiver_says_so() {
        for (text, said) in [
            (r#"{"receiver_id":"b","payload":{}}"#, "capability_name"),
            (r#"{"payload":{"capability_name":"x"}}"#, "receiver_id"),
            (r#"{"receiver_id":"b","payload":[]}"#, "object"),
            (r#"{"receiver_id":"b","payload":{"capability_name":"x"},"priority":9}"#, "priority 9"),
        ] {
            let fault = send(&read(text), Kind::Request).unwrap_err();
            assert!(fault.words.contains(said), "{text}: {}", fault.words);
        }
        let fault =
            send(&read(r#"{"receiver_id":"b","payload":{"status":"success"}}"#), Kind::Response);
        assert!(fault.unwrap_err().words.contains("conversation_id"));
    }

    proptest! {
        #[test]
        fn no_message_breaks_the_reader(text in r#"\{("[a-z_]{1,12}":("[a-z]{0,4}"|[0-9]{1,3}|null|\{\}),?){0,6}"#) {
            let text = format!("{}}}", text.trim_end_matches(','));
            if let Ok(message) = serde_json::from_str::<Incoming<'_>>(&text) {
                for kind in Kind::ALL {
                    drop(send(&message, kind));
                }
                drop((join(&message), find(&message), update(&message)));
            }
        }
    }
}
