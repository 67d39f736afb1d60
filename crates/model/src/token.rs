//! Tokens: 256 random bits by which an agent proves who it is. Only their hashes are kept.

use std::fmt;

use serde::Serialize;
use ts_rs::TS;
use zeroize::Zeroize;

use crate::{AgentId, Priority, Timestamp};

/// A token as its owner has it. Shown once, and never in a log; its memory is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a token as someone gave it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The token itself, for its owner only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What may be shown of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TokenView {
    /// When it was made.
    pub created_at: Timestamp,
    /// The highest priority its owner's messages get.
    pub ceiling: Priority,
    /// When it was revoked; its owner has none since, and cannot join.
    pub revoked_at: Option<Timestamp>,
}

/// A token that was made just now.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// Whose it is.
    pub agent: AgentId,
    /// The token. It cannot be shown again.
    pub token: Secret,
    /// Whether an older one stopped working.
    pub replaced: bool,
}
