//! Calls about what the operator keeps for another time.

use serde::{Deserialize, Serialize};
use switchboard_model::{Saved, SavedKind};
use ts_rs::TS;

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
