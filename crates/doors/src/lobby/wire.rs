//! The lobby's messages, as its specification shows them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_model::Payload;

/// The lobby's own name on this door.
pub(crate) const LOBBY: &str = "global_lobby";
/// The version of the protocol that is spoken here.
pub(crate) const PROTOCOL: &str = "0.1.0";

/// A message from an agent.
#[derive(Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow)]
    pub(crate) sender_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) receiver_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) message_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) payload: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) conversation_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) auth_token: Option<Cow<'a, str>>,
    /// 0 is the most urgent; an extension of this protocol's own clients.
    pub(crate) priority: Option<u64>,
}

/// A message to an agent. Never carries anyone's token but, in an acknowledgement, its own.
#[derive(Serialize)]
pub(crate) struct Outgoing<'a> {
    pub(crate) sender_id: &'a str,
    pub(crate) receiver_id: &'a str,
    pub(crate) message_type: &'a str,
    pub(crate) payload: Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) priority: Option<u64>,
}

impl Outgoing<'_> {
    /// The message as the text of a frame.
    pub(crate) fn to_text(&self) -> String {
        // Everything in it was JSON or is text.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// The payload of an ERROR.
#[derive(Serialize)]
pub(crate) struct ErrorPayload<'a> {
    pub(crate) error: &'a str,
    pub(crate) code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original_message_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original_conversation_id: Option<&'a str>,
}

/// The payload of a REGISTER_ACK.
#[derive(Serialize)]
pub(crate) struct AckPayload<'a> {
    pub(crate) status: &'a str,
    pub(crate) lobby_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) auth_token: Option<&'a str>,
    pub(crate) protocol_version: &'a str,
}

/// One entry of a SERVICES_AVAILABLE.
#[derive(Serialize)]
pub(crate) struct Service<'a> {
    pub(crate) agent_id: &'a str,
    pub(crate) relevant_capabilities: Vec<&'a switchboard_model::Capability>,
}

/// The payload of a SERVICES_AVAILABLE.
#[derive(Serialize)]
pub(crate) struct ServicesPayload<'a> {
    pub(crate) services_found: Vec<Service<'a>>,
    pub(crate) discovered_for_capability: Option<&'a str>,
}
