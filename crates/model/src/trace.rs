//! Where a message stands in a trace, and in which conversation: W3C trace context and what the
//! collaboration protocol calls metadata.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use uuid::Uuid;

use crate::Object;

/// One span of a trace: 16 and 8 bytes as lower-case hexadecimal text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// Unique for a conversation.
    pub trace_id: String,
    /// Unique for a message.
    pub span_id: String,
    /// The message that led to this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent_span_id: Option<String>,
}

impl Trace {
    /// A new trace.
    pub fn begin() -> Self {
        let trace_id = Uuid::new_v4().simple().to_string();
        Self { trace_id, span_id: span_id(), parent_span_id: None }
    }

    /// The next span in this trace.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            trace_id: self.trace_id.clone(),
            span_id: span_id(),
            parent_span_id: Some(self.span_id.clone()),
        }
    }

    /// Reads a W3C `traceparent`; the span it names becomes the parent of a new one.
    pub fn from_traceparent(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, parent) = (parts.next()?, parts.next()?, parts.next()?);
        let flags = parts.next()?;
        let good = is_hex(version, 2) && version != "ff" && is_id(trace, 32) && is_id(parent, 16);
        (good && is_hex(flags, 2)).then(|| Self {
            trace_id: trace.to_owned(),
            span_id: span_id(),
            parent_span_id: Some(parent.to_owned()),
        })
    }

    /// The W3C `traceparent` of this span.
    pub fn to_traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace_id, self.span_id)
    }

    /// Whether the ids are as W3C wants them; what is not is replaced, never passed on.
    pub fn is_well_formed(&self) -> bool {
        let parent = self.parent_span_id.as_deref();
        is_id(&self.trace_id, 32)
            && is_id(&self.span_id, 16)
            && parent.is_none_or(|parent| is_id(parent, 16))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_traceparent())
    }
}

fn span_id() -> String {
    let mut id = Uuid::new_v4().simple().to_string();
    id.truncate(16);
    id
}

fn is_hex(text: &str, length: usize) -> bool {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == length && text.bytes().all(digit)
}

/// All zeros is no id.
fn is_id(text: &str, length: usize) -> bool {
    is_hex(text, length) && text.bytes().any(|c| c != b'0')
}

/// What a message carries beside its payload, where its door has such a thing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Where it stands in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// How many messages led to it.
    #[serde(default)]
    pub depth: u32,
    /// What else its sender wrote there.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_leads_to_a_child_of_the_span_it_names() {
        let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trace = Trace::from_traceparent(given).unwrap();
        assert_eq!(trace.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.parent_span_id.as_deref(), Some("00f067aa0ba902b7"));
        assert!(trace.is_well_formed() && trace.span_id != "00f067aa0ba902b7");
        assert_eq!(
            Trace::from_traceparent(&trace.to_traceparent()).unwrap().trace_id,
            trace.trace_id
        );
        assert_eq!(trace.child().parent_span_id.as_ref(), Some(&trace.span_id));
    }

    #[test]
    fn what_is_no_traceparent_is_none() {
        for bad in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-short-01",
        ] {
            assert_eq!(Trace::from_traceparent(bad), None, "{bad}");
        }
    }
}
