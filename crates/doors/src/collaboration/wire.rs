//! The protocol's messages, as its specification shows them.

use serde::{Deserialize, Serialize};
use switchboard_model::{Object, Payload};

/// The broker's own name on this door.
pub(crate) const ROUTER: &str = "router";

/// A message from an agent. What it says of time is not believed: time is the broker's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Incoming {
    pub(crate) id: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<To>,
    pub(crate) correlation_id: Option<String>,
    pub(crate) priority: Option<PriorityText>,
    #[serde(default)]
    pub(crate) payload: Option<Object>,
    #[serde(default)]
    pub(crate) metadata: Option<Object>,
}

/// One recipient, or some; `*` is everyone.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum To {
    One(String),
    Many(Vec<String>),
}

/// A priority by its number or by its name.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum PriorityText {
    Number(f64),
    Name(String),
}

/// A message to an agent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outgoing<'a> {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) correlation_id: Option<&'a str>,
    pub(crate) timestamp: String,
    pub(crate) priority: u8,
    pub(crate) payload: Payload,
    pub(crate) metadata: Object,
}

impl Outgoing<'_> {
    /// The message as the text of a frame.
    pub(crate) fn to_text(&self) -> String {
        // Everything in it was JSON or is text.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// What went wrong: an upper-case word for programs, a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ErrorInfo {
    /// An upper-case word.
    pub code: String,
    /// For people: what is wrong and what to do.
    pub message: String,
}

/// What can be read of a message that cannot be taken, so that its sender learns which it was.
#[derive(Default)]
pub(crate) struct Fragment {
    pub(crate) id: Option<String>,
    pub(crate) from: Option<String>,
}

impl Fragment {
    pub(crate) fn of(text: &str) -> Self {
        let Ok(object) = Object::parse(text) else { return Self::default() };
        Self { id: object.text("id"), from: object.text("from") }
    }
}
