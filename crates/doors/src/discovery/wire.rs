//! The protocol's own types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_model::Transport;

/// The version that this broker speaks.
pub(super) const VERSION: &str = "v1.0";

/// A message, as far as one must look to know what it is.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<'a> {
    pub(super) protocol_version: Option<String>,
    #[serde(borrow)]
    pub(super) agent: Option<&'a RawValue>,
    pub(super) signature: Option<String>,
    /// The signature of an older key over the same document.
    pub(super) rotation_signature: Option<String>,
    #[serde(borrow)]
    pub(super) query: Option<&'a RawValue>,
    /// May stand beside the query or in it.
    pub(super) agent_id: Option<String>,
    pub(super) matched: Option<bool>,
}

/// What an agent says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct AgentObject<'a> {
    pub(super) agent_id: String,
    pub(super) agent_name: Option<String>,
    pub(super) capabilities: BTreeMap<String, String>,
    pub(super) public_key: Option<String>,
    #[serde(borrow)]
    pub(super) transport: &'a RawValue,
    pub(super) metadata: Option<BTreeMap<String, serde::de::IgnoredAny>>,
}

/// Whom to look for.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Query {
    pub(super) capability: String,
    pub(super) agent_id: Option<String>,
}

/// An agent that was found. With its signature it is an announcement as well, so that whoever gets it can
/// see for itself who signed it.
#[derive(Debug, Serialize)]
pub(super) struct Response<'a> {
    pub(super) protocol_version: &'a str,
    pub(super) agent: &'a RawValue,
    pub(super) matched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<&'a str>,
    /// What went wrong, where there is no other place to say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'a Problem>,
}

/// An announcement.
#[derive(Debug, Serialize)]
pub(super) struct Announce<'a> {
    pub(super) protocol_version: &'a str,
    pub(super) agent: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<&'a str>,
}

/// An agent that came by another door, as this protocol describes it.
#[derive(Debug, Serialize)]
pub(super) struct Described<'a> {
    pub(super) agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_name: Option<&'a str>,
    pub(super) capabilities: BTreeMap<&'a str, &'a str>,
    /// The broker's: it stands for those who are reached through it.
    pub(super) public_key: &'a str,
    pub(super) transport: &'a Transport,
    pub(super) metadata: BTreeMap<&'static str, &'a str>,
}

/// Why a request was not carried out.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    pub(super) code: &'static str,
    pub(super) message: String,
    /// What to do: when to try again, or what to wait for.
    pub(super) retry: &'static str,
    /// The version that is spoken here.
    pub(super) protocol_version: &'static str,
}
