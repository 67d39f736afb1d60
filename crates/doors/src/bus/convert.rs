//! Between the bus's words and the model's: what is asked here and in `given`, what is answered in `answer` and
//! `result`.

mod answer;
mod given;
mod result;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_broker::now;
use switchboard_model::{
    Address, AgentId, AttemptId, Command, Context, ConversationId, Declared, DeliveryId, Dialect,
    Join, Kind, Message, Pattern, Payload, Policy, Priority, Secret, Send, Timestamp, Topic, Trace,
    Wait,
};

use super::wire::{DeliveryHead, RpcError};
pub(crate) use answer::{answer, answer_to_error, is_unknown_method};
#[cfg(any(test, fuzzing))]
pub(crate) use given::is_read_alike;
use given::{PayloadHead, Where};
pub(crate) use result::{refusal, sent};

#[derive(Deserialize)]
struct Initialize<'a> {
    #[serde(rename = "clientId", borrow)]
    client_id: Option<Cow<'a, str>>,
    #[serde(rename = "clientInfo")]
    client_info: Option<ClientInfo>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(rename = "authToken", alias = "auth_token", borrow)]
    auth_token: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct ClientInfo {
    name: String,
    #[serde(default)]
    version: String,
}

/// The longest name of a thing: a capability, a correlation, a program, a version.
const MAX_NAME: usize = 256;
/// As much of a peer's words as is kept. They go into every list that shows the message.
const MAX_WORDS: usize = 1024;

fn named(what: &str, text: Option<Cow<'_, str>>) -> Result<Option<String>, RpcError> {
    match text {
        Some(text) if text.len() > MAX_NAME => {
            Err(RpcError::invalid_params(format!("{what} is longer than {MAX_NAME} bytes")))
        }
        text => Ok(text.map(Cow::into_owned)),
    }
}

fn kept(words: Cow<'_, str>) -> String {
    match words.char_indices().nth(MAX_WORDS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words.into_owned(),
    }
}

/// Reads `initialize`: who joins, and whether it is of the generation that must type its payloads.
pub(crate) fn join(params: Option<&RawValue>) -> Result<(Join, bool), RpcError> {
    let wrong = |why: String| RpcError::new(-32002, "Invalid client info", why);
    let params = params.map_or("{}", RawValue::get);
    let initialize: Initialize<'_> =
        serde_json::from_str(params).map_err(|error| wrong(error.to_string()))?;
    let id = initialize.client_id.ok_or_else(|| wrong("clientId is missing".to_owned()))?;
    let agent = AgentId::parse(&id).map_err(|error| wrong(error.to_string()))?;
    let info = initialize.client_info.ok_or_else(|| wrong("clientInfo is missing".to_owned()))?;
    let types_payloads = types_its_payloads(&info.version);
    if info.name.len() > MAX_NAME || info.version.len() > MAX_NAME {
        return Err(wrong(format!("name or version is longer than {MAX_NAME} bytes")));
    }
    let capabilities = initialize.capabilities.map(declared).transpose()?;
    let token = initialize.auth_token.map(|token| Secret::new(token.into_owned()));
    let join = Join { capabilities, token, ..Join::of(agent, info.name, info.version) };
    Ok((join, types_payloads))
}

fn declared(capabilities: &RawValue) -> Result<Vec<Declared>, RpcError> {
    serde_json::from_str(capabilities.get()).map_err(|error| {
        let form = "a list of names, or of objects with a name";
        RpcError::invalid_params(format!("capabilities must be {form}: {error}"))
    })
}

/// From 0.2 on a payload must say what it is.
fn types_its_payloads(version: &str) -> bool {
    let mut parts = version.split(['.', '-', '+']).map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(0)), Some(Ok(minor))) => minor >= 2,
        (Some(Ok(major)), _) => major >= 1,
        _ => false,
    }
}

/// Reads `subscribe`.
pub(crate) fn subscribe(params: Option<&RawValue>) -> Result<Command, RpcError> {
    let given = Where::read(params)?;
    let policy = match given.policy.as_deref() {
        None => None,
        Some(name) => Some(Policy::parse(name).ok_or_else(|| {
            let known = Policy::ALL.map(Policy::as_str).join(", ");
            RpcError::invalid_params(format!("policy {name:?} is not one of: {known}"))
        })?),
    };
    Ok(Command::Subscribe { pattern: pattern(given.topic()?)?, policy, filter: None })
}

/// Reads `unsubscribe`.
pub(crate) fn unsubscribe(params: Option<&RawValue>) -> Result<Command, RpcError> {
    Ok(Command::Unsubscribe { pattern: pattern(Where::read(params)?.topic()?)? })
}

fn pattern(text: &str) -> Result<Pattern, RpcError> {
    Pattern::parse(text).map_err(|error| RpcError::invalid_params(error.to_string()))
}

/// Reads `sendMessage`: the message, and whether its payload says what it is.
pub(crate) fn send(
    params: Option<&RawValue>,
    must_be_typed: bool,
) -> Result<(Send, bool), RpcError> {
    let given = Where::read(params)?;
    let topic = Topic::parse(given.topic()?)
        .map_err(|error| RpcError::invalid_params(error.to_string()))?;
    let payload = given.payload.ok_or_else(|| RpcError::invalid_params("payload is missing"))?;
    let head = match PayloadHead::read(payload) {
        Ok(head) => head,
        Err(error) if must_be_typed => {
            return Err(RpcError::invalid_params(format!("payload: {error}")));
        }
        // The first clients sent whatever they had. What is asked for must be what its recipient will
        // read: a rule looks at nothing else.
        Err(_) => {
            let capability = Dialect::Bus.read_call(payload).capability;
            PayloadHead { capability: capability.map(Cow::Owned), ..PayloadHead::default() }
        }
    };
    let typed = head.kind.is_some();
    if !typed && must_be_typed {
        let why = "payload.type is missing: say what the payload is, as in \"plaintext_message\"";
        return Err(RpcError::invalid_params(why));
    }
    let priority = match given.priority.as_deref() {
        Some(name) => priority(name).ok_or_else(|| {
            let known = Priority::ALL.map(Priority::as_str).join(", ");
            RpcError::invalid_params(format!("priority {name:?} is not one of: {known}"))
        })?,
        // The spec's task requests say it in the payload; there it may also mean something else.
        None => head.priority.as_deref().and_then(priority).unwrap_or_default(),
    };
    let expires_at = given.ttl_seconds.map(expiry).transpose()?;
    let address = Address::from(topic);
    let kind = kind_of(&address, given.correlation_id.is_some());
    let capability = match &address {
        Address::Agent(_) => named("the capability", head.capability.or(head.kind))?,
        Address::Topic(_) => None,
    };
    let send = Send {
        address,
        kind,
        capability,
        priority,
        correlation: named("correlation_id", given.correlation_id)?,
        conversation: given.conversation_id.as_deref().and_then(ConversationId::parse),
        // A part of a text that was read as JSON.
        payload: Payload::trusted(payload),
        dialect: Dialect::Bus,
        context: given.traceparent.as_deref().and_then(context),
        answer_within: None,
        expires_at,
        wait: Wait::FirstAttempts,
    };
    Ok((send, typed))
}

/// What is no trace context is passed over, as W3C wants it.
fn context(traceparent: &str) -> Option<Arc<Context>> {
    let trace = Some(Trace::from_traceparent(traceparent)?);
    Some(Arc::new(Context { trace, ..Context::default() }))
}

fn priority(name: &str) -> Option<Priority> {
    Priority::ALL.into_iter().find(|priority| priority.as_str().eq_ignore_ascii_case(name))
}

/// When a message that lives so many seconds stops being worth delivering.
fn expiry(seconds: f64) -> Result<Timestamp, RpcError> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(life) if !life.is_zero() => Ok(now().plus(life)),
        _ => Err(RpcError::invalid_params("ttl_seconds must be more than 0")),
    }
}

fn kind_of(address: &Address, answers: bool) -> Kind {
    match address {
        Address::Agent(_) if answers => Kind::Response,
        Address::Agent(_) => Kind::Request,
        Address::Topic(topic)
            if topic.as_str().starts_with("broadcast:")
                || topic.as_str().starts_with("workspace:") =>
        {
            Kind::Broadcast
        }
        Address::Topic(_) => Kind::Event,
    }
}

/// Attempts at one delivery that have request ids of their own. There are never more.
const ATTEMPTS: u64 = 1024;

/// The id of the request by which an attempt is made: another one each time, so that a late answer
/// is not taken for the answer to a later attempt.
pub(crate) fn request_id(AttemptId(delivery, number): AttemptId) -> u64 {
    delivery.0 * ATTEMPTS + u64::from(number) % ATTEMPTS
}

/// The attempt that a peer's response is about.
pub(crate) fn attempt_id(id: &RawValue) -> Option<AttemptId> {
    let id: u64 = id.get().parse().ok()?;
    Some(AttemptId(DeliveryId(id / ATTEMPTS), u32::try_from(id % ATTEMPTS).ok()?))
}

/// What a delivery says beside its payload.
pub(crate) fn head<'a>(message: &'a Message, topic: &'a str) -> DeliveryHead<'a> {
    let trace = message.context.as_ref().and_then(|context| context.trace.as_ref());
    DeliveryHead {
        topic,
        from: message.from.as_str(),
        message: message.id,
        correlation: message.correlation.as_deref(),
        traceparent: trace.map(Trace::to_traceparent),
    }
}

#[cfg(test)]
mod tests;
