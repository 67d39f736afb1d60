//! What the operator keeps for another time.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

/// What kind of thing is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SavedKind {
    /// A filter of messages.
    Filter,
    /// A message to be sent again and again.
    Template,
}

impl SavedKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Filter, Self::Template];

    /// The kind's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Template => "template",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Something that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    /// What it is.
    pub kind: SavedKind,
    /// Its name; each kind has it once.
    pub name: String,
    /// What it says, in the console's own words.
    pub text: String,
    /// When it was kept.
    pub saved_at: Timestamp,
}
