//! Calls about the settings.

use serde::{Deserialize, Serialize};
use switchboard_model::Timestamp;
use ts_rs::TS;

/// All settings.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// The file that they are in.
    pub file: String,
    /// In the order of docs/SETTINGS.md.
    pub sections: Vec<SettingSection>,
    /// Whether something in the file will hold only after a restart.
    pub restart_needed: bool,
    /// What is wrong with the file as it is now, if somebody has changed it by hand.
    pub problem: Option<String>,
}

/// Settings that belong together.
#[derive(Clone, Debug, Serialize, TS)]
pub struct SettingSection {
    /// Its name in the file, such as `delivery`; empty for those outside of any.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What they are about.
    pub explanation: String,
    /// Each setting.
    pub settings: Vec<SettingView>,
}

/// One setting.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingView {
    /// Its name in the file with its section, such as `delivery.attempts`.
    pub key: String,
    /// Its name for people.
    pub title: String,
    /// What it does.
    pub explanation: String,
    /// What may be given.
    pub kind: SettingKind,
    /// What holds now.
    #[ts(type = "unknown")]
    pub value: serde_json::Value,
    /// What the file says, where that is something else and waits for a restart.
    #[ts(type = "unknown")]
    pub next: Option<serde_json::Value>,
    /// What holds where the file says nothing.
    #[ts(type = "unknown")]
    pub default: serde_json::Value,
    /// Whether a change holds at once; else after a restart.
    pub at_once: bool,
    /// What it is fixed by, such as `--listen`, if the file does not count.
    pub fixed_by: Option<String>,
}

/// What may be given for a setting.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SettingKind {
    /// Yes or no.
    Switch,
    /// A number.
    Number {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
        /// Whether it may have a fraction.
        fraction: bool,
        /// What it counts: `ms`, `bytes`, `MB`, `days`, or nothing.
        unit: String,
    },
    /// One of a few words.
    Choice {
        /// Those.
        options: Vec<String>,
    },
    /// Some text.
    Text {
        /// What it looks like.
        example: String,
    },
    /// Several pieces of text, in order.
    List {
        /// What one looks like.
        example: String,
    },
    /// Something that is edited in the file itself.
    File,
}

/// Changes settings, all or none: in the file, and at once where that is possible.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct EditSettings {
    /// What to change.
    pub changes: Vec<SettingChange>,
}

/// A change of one setting.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SettingChange {
    /// Which.
    pub key: String,
    /// What it is to be; null is the default.
    #[serde(default)]
    #[ts(type = "unknown")]
    pub value: serde_json::Value,
}

/// Asks for changes of settings that were made.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SettingHistoryQuery {
    /// Older than this change.
    #[serde(default)]
    #[ts(optional)]
    pub before: Option<u64>,
    /// At most this many; 1 to 500.
    pub limit: u32,
}

/// Changes of settings, for as long as history is kept.
#[derive(Clone, Debug, Serialize, TS)]
pub struct SettingHistory {
    /// Newest first.
    pub changes: Vec<ChangedSetting>,
    /// Where the next page begins; none at the end.
    pub next: Option<u64>,
}

/// One setting that was changed here. What was changed in the file by hand is not known.
#[derive(Clone, Debug, Serialize, TS)]
pub struct ChangedSetting {
    /// Its number; later changes have larger ones.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Which setting.
    pub key: String,
    /// What the file said before; none where that is not shown, because there may be a secret in it.
    #[ts(type = "unknown")]
    pub before: Option<serde_json::Value>,
    /// What it said then.
    #[ts(type = "unknown")]
    pub after: Option<serde_json::Value>,
}

/// What is kept of a changed setting.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SettingNote {
    /// What the file said before; none where it is not to be shown.
    pub before: Option<serde_json::Value>,
    /// What it says since.
    pub after: Option<serde_json::Value>,
}

impl SettingNote {
    /// What was done, as it is kept.
    pub const ACTION: &'static str = "setting changed";
}

/// What one needs to know to help.
#[derive(Clone, Debug, Serialize, TS)]
pub struct Diagnostics {
    /// As text, without secrets and without what messages say.
    pub text: String,
}
