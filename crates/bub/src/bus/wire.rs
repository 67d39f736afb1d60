//! What travels on the bus door, as the protocol spells it.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_model::{AgentId, Capability, Payload, Policy, Priority};

use super::ClientInfo;

/// Any frame from the bus: a call if it has a method, else the answer to one of ours. Parts that
/// are only passed on stay text.
#[derive(Deserialize)]
pub(super) struct Incoming<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<RpcError>,
}

#[derive(Deserialize)]
pub(super) struct RpcError {
    pub(super) code: i64,
    #[serde(default)]
    message: String,
    /// Details: words, or an object with its words under `reason`.
    #[serde(default)]
    data: serde_json::Value,
}

impl RpcError {
    /// The bus's words, with the details that say what to do.
    pub(super) fn words(&self) -> String {
        match self.data.as_str().or_else(|| self.data.get("reason")?.as_str()) {
            Some(details) => format!("{}: {details}", self.message),
            None => self.message.clone(),
        }
    }
}

/// What the bus calls us with, by `processMessage` or by the older `sendMessage`.
#[derive(Deserialize)]
pub(super) struct DeliveryParams<'a> {
    pub(super) topic: String,
    #[serde(borrow)]
    pub(super) payload: &'a RawValue,
    #[serde(default)]
    pub(super) from: Option<String>,
    #[serde(default, rename = "messageId")]
    pub(super) message_id: Option<String>,
    #[serde(default)]
    pub(super) correlation_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize<'a> {
    client_id: &'a AgentId,
    client_info: Program<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_token: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Capability]>::is_empty")]
    capabilities: &'a [Capability],
}

#[derive(Serialize)]
struct Program<'a> {
    name: &'a str,
    version: &'a str,
}

impl<'a> Initialize<'a> {
    pub(super) fn new(id: &'a AgentId, info: &'a ClientInfo, token: Option<&'a str>) -> Self {
        Self {
            client_id: id,
            client_info: Program { name: &info.name, version: &info.version },
            auth_token: token,
            capabilities: &info.capabilities,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Subscribe<'a> {
    pub(super) topic: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) policy: Option<Policy>,
}

#[derive(Serialize)]
pub(super) struct Unsubscribe<'a> {
    pub(super) topic: &'a str,
}

/// How a message is to be treated on its way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendOptions {
    /// Who is served first; the bus's usual if none.
    pub priority: Option<Priority>,
    /// How long it is worth delivering; for ever if none.
    pub ttl: Option<Duration>,
    /// The conversation that it belongs to; none if it stands alone.
    pub conversation: Option<String>,
}

/// The payload goes in as the text it is, so that numbers keep every digit.
pub(super) fn send_params(topic: &str, payload: &Payload, options: &SendOptions) -> String {
    let mut params = format!(r#"{{"topic":{},"payload":{}"#, json_string(topic), payload.as_str());
    if let Some(priority) = options.priority {
        params.push_str(&format!(r#","priority":"{}""#, priority.as_str()));
    }
    if let Some(ttl) = options.ttl {
        // Whole seconds without a fraction, for buses that count in whole ones.
        params.push_str(&format!(r#","ttl_seconds":{}"#, ttl.as_secs_f64()));
    }
    if let Some(conversation) = &options.conversation {
        params.push_str(&format!(r#","conversation_id":{}"#, json_string(conversation)));
    }
    params.push('}');
    params
}

/// A call; `params` is JSON text.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":{id}}}"#)
}

/// The answer to a call of the bus; `id` and `result` are JSON text.
pub(super) fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#)
}

/// The refusal of a call of the bus; `id` is JSON text.
pub(super) fn refusal(id: &str, code: i64, message: &str) -> String {
    let message = json_string(message);
    format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":{message}}},"id":{id}}}"#)
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What became of a message.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendResult {
    /// Somebody took care of it.
    pub success: bool,
    /// It is on the broker's disk.
    #[serde(default)]
    pub accepted: bool,
    /// The broker's name for it.
    #[serde(default)]
    pub message_id: Option<String>,
    /// A recipient asked that nobody after it gets the message.
    #[serde(default)]
    pub stop_propagation: bool,
    /// How many recipients it was handed to.
    #[serde(default)]
    pub delivered_to: u64,
    /// What each recipient said.
    #[serde(default)]
    pub acks: Vec<Ack>,
    /// The whole result as the bus wrote it.
    #[serde(skip)]
    pub json: String,
}

impl SendResult {
    pub(super) fn read(raw: Box<RawValue>) -> Result<Self, serde_json::Error> {
        let result: Self = serde_json::from_str(raw.get())?;
        let json = Box::<str>::from(raw).into_string();
        Ok(Self { json, ..result })
    }
}

/// What one recipient said.
#[derive(Clone, Debug, Deserialize)]
pub struct Ack {
    /// The recipient.
    pub client_id: String,
    /// It took care of the message.
    pub processed: bool,
    /// Its words.
    #[serde(default)]
    pub message: Option<String>,
    /// What it gives back: JSON text.
    #[serde(default)]
    pub payload: Option<Box<RawValue>>,
    /// The broker will try again.
    #[serde(default, rename = "retryScheduled")]
    pub retry_scheduled: bool,
    /// When, in seconds.
    #[serde(default, rename = "retrySeconds")]
    pub retry_seconds: Option<f64>,
}
