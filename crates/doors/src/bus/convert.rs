//! Between the bus's words and the model's.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use switchboard_broker::{Refusal, now};
use switchboard_model::{
    Ack, Address, Again, AgentId, Answer, AttemptOutcome, Capability, Code, Command, DeliveryId,
    Join, Kind, Message, MessageState, Pattern, Payload, Policy, Priority, Receipt, Send,
    Timestamp, Topic, Wait,
};

use super::wire::{DeliveryHead, RpcError, present};

#[derive(Deserialize)]
struct Initialize<'a> {
    #[serde(rename = "clientId", borrow)]
    client_id: Option<Cow<'a, str>>,
    #[serde(rename = "clientInfo")]
    client_info: Option<ClientInfo>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ClientInfo {
    name: String,
    #[serde(default)]
    version: String,
}

/// A capability by name alone, or in full.
#[derive(Deserialize)]
#[serde(untagged)]
enum Declared {
    Name(String),
    Full(Capability),
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
    Ok((Join { agent, name: info.name, version: info.version, capabilities }, types_payloads))
}

fn declared(capabilities: &RawValue) -> Result<Vec<Capability>, RpcError> {
    let list: Vec<Declared> = serde_json::from_str(capabilities.get()).map_err(|error| {
        let form = "a list of names, or of objects with a name";
        RpcError::invalid_params(format!("capabilities must be {form}: {error}"))
    })?;
    let full = |one| match one {
        Declared::Name(name) => Capability::named(name),
        Declared::Full(capability) => capability,
    };
    Ok(list.into_iter().map(full).collect())
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

/// What names a topic, in each generation's word.
#[derive(Deserialize)]
struct Where<'a> {
    #[serde(borrow)]
    topic: Option<Cow<'a, str>>,
    #[serde(borrow)]
    address: Option<Cow<'a, str>>,
    #[serde(borrow)]
    to: Option<Cow<'a, str>>,
    #[serde(borrow)]
    policy: Option<Cow<'a, str>>,
    #[serde(borrow)]
    correlation_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    priority: Option<Cow<'a, str>>,
    #[serde(alias = "ttlSeconds")]
    ttl_seconds: Option<f64>,
    #[serde(borrow, default, deserialize_with = "present")]
    payload: Option<&'a RawValue>,
}

impl<'a> Where<'a> {
    fn read(params: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let params = params.ok_or_else(|| RpcError::invalid_params("params are missing"))?;
        serde_json::from_str(params.get())
            .map_err(|error| RpcError::invalid_params(error.to_string()))
    }

    fn topic(&self) -> Result<&str, RpcError> {
        let topic = self.topic.as_deref().or(self.address.as_deref()).or(self.to.as_deref());
        topic.ok_or_else(|| RpcError::invalid_params("topic is missing"))
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
    Ok(Command::Subscribe { pattern: pattern(given.topic()?)?, policy })
}

/// Reads `unsubscribe`.
pub(crate) fn unsubscribe(params: Option<&RawValue>) -> Result<Command, RpcError> {
    Ok(Command::Unsubscribe { pattern: pattern(Where::read(params)?.topic()?)? })
}

fn pattern(text: &str) -> Result<Pattern, RpcError> {
    Pattern::parse(text).map_err(|error| RpcError::invalid_params(error.to_string()))
}

/// What the broker wants to know of a payload.
#[derive(Default, Deserialize)]
struct PayloadHead<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    capability: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "if_text")]
    priority: Option<Cow<'a, str>>,
}

/// A field that means something to us only if it is text; what else agents keep there is theirs.
fn if_text<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    let raw = <&RawValue>::deserialize(field)?;
    Ok(serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned))
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
    let head: PayloadHead<'_> = match serde_json::from_str(payload.get()) {
        Ok(head) => head,
        Err(error) if must_be_typed => {
            return Err(RpcError::invalid_params(format!("payload: {error}")));
        }
        // The first clients sent whatever they had.
        Err(_) => PayloadHead::default(),
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
        conversation: None,
        payload: Payload::from_raw(payload),
        expires_at,
        wait: Wait::FirstAttempts,
    };
    Ok((send, typed))
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

/// What a peer answers to a delivery, in any generation's words.
#[derive(Deserialize)]
struct PeerAnswer<'a> {
    processed: Option<bool>,
    success: Option<bool>,
    #[serde(alias = "stop_propagation", rename = "stopPropagation", default)]
    stop_propagation: bool,
    #[serde(alias = "shouldRetry", default)]
    should_retry: bool,
    #[serde(alias = "retrySeconds")]
    retry_seconds: Option<f64>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// Reads a peer's result.
pub(crate) fn answer(result: &RawValue) -> Answer {
    let peer: PeerAnswer<'_> = match serde_json::from_str(result.get()) {
        Ok(peer) => peer,
        Err(error) => {
            let why = format!("the answer is not an object like {{\"processed\": true}}: {error}");
            return invalid_answer(kept(why.into()));
        }
    };
    let Some(processed) = peer.processed.or(peer.success) else {
        return invalid_answer("the answer says neither processed nor success");
    };
    Answer {
        outcome: if processed { AttemptOutcome::Processed } else { AttemptOutcome::Declined },
        stop: peer.stop_propagation,
        stops_only_on_request: peer.processed.is_none(),
        again: match peer.retry_seconds.map(Duration::try_from_secs_f64) {
            _ if !peer.should_retry => Again::NotAsked,
            Some(Ok(delay)) => Again::After(delay),
            Some(Err(_)) | None => Again::Soon,
        },
        message: peer.message.map(kept),
        payload: peer.payload.map(Payload::from_raw),
    }
}

/// Reads a peer's error.
pub(crate) fn answer_to_error(error: &RawValue) -> Answer {
    #[derive(Deserialize)]
    struct PeerError {
        code: i64,
        message: String,
    }
    match serde_json::from_str::<PeerError>(error.get()) {
        Ok(PeerError { code, message }) => {
            invalid_answer(kept(format!("error {code}: {message}").into()))
        }
        Err(_) => invalid_answer("the answer is an error without code and message"),
    }
}

/// Whether a peer's error says that it does not know the method.
pub(crate) fn is_unknown_method(error: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Coded {
        code: i64,
    }
    serde_json::from_str::<Coded>(error.get()).is_ok_and(|error| error.code == -32601)
}

fn invalid_answer(why: impl Into<String>) -> Answer {
    Answer {
        outcome: AttemptOutcome::InvalidAnswer,
        stop: false,
        stops_only_on_request: false,
        again: Again::NotAsked,
        message: Some(why.into()),
        payload: None,
    }
}

/// The delivery that a peer's response is about.
pub(crate) fn delivery_id(id: &RawValue) -> Option<DeliveryId> {
    id.get().parse().ok().map(DeliveryId)
}

/// What a delivery says beside its payload.
pub(crate) fn head<'a>(message: &'a Message, topic: &'a str) -> DeliveryHead<'a> {
    let message_id = message.id.to_string();
    let correlation_id = match &message.correlation {
        Some(correlation) => Cow::Borrowed(correlation.as_str()),
        None => Cow::Owned(message_id.clone()),
    };
    DeliveryHead { topic, from: message.from.as_str(), to: topic, message_id, correlation_id }
}

/// The answer to `sendMessage`: a superset that clients of every generation read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SendResult {
    success: bool,
    accepted: bool,
    message_id: String,
    stop_propagation: bool,
    delivered_to: usize,
    acks: Vec<AckResult>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AckResult {
    #[serde(rename = "client_id")]
    client_id_of_old: String,
    client_id: String,
    processed: bool,
    success: bool,
    message: Option<String>,
    payload: Option<Payload>,
    retry_scheduled: bool,
    retry_seconds: f64,
}

impl From<Receipt> for SendResult {
    fn from(receipt: Receipt) -> Self {
        let success = match receipt.state {
            MessageState::Processed | MessageState::Waiting => true,
            MessageState::Dead
            | MessageState::Discarded
            | MessageState::Expired
            | MessageState::Refused => false,
        };
        Self {
            success,
            accepted: true,
            message_id: receipt.message.to_string(),
            stop_propagation: receipt.stopped,
            delivered_to: receipt.acks.len(),
            acks: receipt.acks.into_iter().map(AckResult::from).collect(),
        }
    }
}

impl From<Ack> for AckResult {
    fn from(ack: Ack) -> Self {
        let processed = ack.outcome == AttemptOutcome::Processed;
        Self {
            client_id_of_old: ack.agent.to_string(),
            client_id: ack.agent.to_string(),
            processed,
            success: processed,
            message: ack.message,
            payload: ack.payload,
            retry_scheduled: ack.again_in.is_some(),
            retry_seconds: ack.again_in.map_or(0.0, |delay| delay.as_secs_f64()),
        }
    }
}

/// Every refusal in the bus's numbers. Those that the spec does not name count down from -32010.
pub(crate) fn refusal(refusal: &Refusal) -> RpcError {
    let (code, message) = match refusal.code() {
        Code::NotJoined => (-32001, "Not initialized"),
        Code::AlreadyJoined => (-32001, "Already initialized"),
        Code::InvalidClient => (-32002, "Invalid client info"),
        Code::AlreadySubscribed => (-32003, "Already subscribed"),
        Code::NotSubscribed => (-32004, "Subscription not found"),
        Code::InvalidRequest => (-32602, "Invalid params"),
        Code::UnknownMethod => (-32601, "Method not found"),
        Code::Unauthorized => (-32010, "Unauthorized"),
        Code::Forbidden => (-32011, "Forbidden"),
        Code::NotFound => (-32012, "Not found"),
        Code::TooLarge => (-32013, "Too large"),
        Code::Busy => return RpcError::busy(refusal.to_string()),
        Code::Stopping => (-32015, "Stopping"),
        Code::StorageFailed | Code::Internal => (-32603, "Internal error"),
    };
    RpcError::new(code, message, refusal.to_string())
}

#[cfg(test)]
mod tests;
