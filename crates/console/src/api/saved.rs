//! Calls about what the operator keeps for another time.

use serde::{Deserialize, Serialize};
use switchboard_model::Timestamp;
use ts_rs::TS;

/// What kind of thing is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SavedKind {
    /// A filter of messages.
    Filter,
    /// A message to be sent again and again.
    Template,
}

/// Something that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
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

/// Everything that is kept, by name.
#[derive(Clone, Debug, Serialize, TS)]
pub struct SavedList {
    /// Filters and templates.
    pub saved: Vec<Saved>,
}

/// Keeps something, in the place of what has the same name.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Save {
    /// What it is.
    pub kind: SavedKind,
    /// Its name; 1 to 80 characters.
    pub name: String,
    /// What it says; none forgets it. At most 64 KiB.
    #[serde(default)]
    #[ts(optional)]
    pub text: Option<String>,
}
