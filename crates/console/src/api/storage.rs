//! Calls about the data folder.

use serde::{Deserialize, Serialize};
use switchboard_model::Timestamp;
use ts_rs::TS;

/// What is kept where.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StorageView {
    /// The data folder.
    pub folder: String,
    /// The size of the database.
    pub database_bytes: u64,
    /// The size of its log, which is emptied into it again and again.
    pub log_bytes: u64,
    /// How much of the database is empty; compacting gives it back.
    pub unused_bytes: u64,
    /// What is free on the disk.
    pub free_bytes: u64,
    /// How many messages are kept.
    pub messages: u64,
    /// When the oldest of them was accepted.
    pub oldest: Option<Timestamp>,
    /// Copies of the database, newest first.
    pub backups: Vec<BackupView>,
    /// What is done to the database now, or was last.
    pub work: Option<StorageWork>,
    /// The file that takes the place of the database at the next start.
    pub restoring: Option<String>,
}

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackupView {
    /// Its name in the folder of backups.
    pub name: String,
    /// The whole path.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// When it was made.
    pub made_at: Timestamp,
}

/// Something that is done to the database.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StorageWork {
    /// What.
    pub kind: StorageWorkKind,
    /// How much of it is done, from 0 to 1.
    pub done: f64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// What came of it, for people; what went wrong, if something did.
    pub result: Option<String>,
    /// Whether it failed.
    pub failed: bool,
}

/// What is done to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum StorageWorkKind {
    /// A copy is made.
    Backup,
    /// What is empty is given back to the disk.
    Compact,
    /// It is checked for damage.
    Check,
}

/// Names a copy of the database, or none.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RestoreBackup {
    /// Its name in the folder of backups, or a whole path; none takes the wish back.
    #[serde(default)]
    #[ts(optional)]
    pub file: Option<String>,
}

/// Names a copy of the database.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneBackup {
    /// Its name in the folder of backups.
    pub name: String,
}
