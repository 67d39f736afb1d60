//! What the operator asks and is told about dead letters.

use serde::{Deserialize, Serialize};
use switchboard_model::{DeadReason, JobId, JobView, LetterFilter, LetterRow, MessageId};
use ts_rs::TS;

/// Asks for a page of dead letters.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct LetterQuery {
    /// Which letters.
    #[serde(default)]
    #[ts(optional = false)]
    pub filter: LetterFilter,
    /// Older than this place in the order of acceptance.
    pub before: Option<u64>,
    /// At most this many; 1 to 500.
    #[ts(optional = false)]
    pub limit: u32,
    /// With payloads.
    pub payloads: Option<bool>,
}

/// A page of dead letters.
#[derive(Clone, Debug, Serialize, TS)]
pub struct LetterPage {
    /// Newest first.
    pub rows: Vec<LetterRow>,
    /// Where the next page begins; none at the end.
    pub next: Option<u64>,
    /// How many letters pass the filter.
    pub matching: u64,
    /// How many open letters there are of each cause, whatever the filter.
    pub causes: Vec<Cause>,
}

/// How many died of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
pub struct Cause {
    /// Why they died.
    pub reason: DeadReason,
    /// How many are open.
    pub count: u64,
}

/// Sends one dead letter again.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct ReplayOne {
    /// The letter.
    #[ts(optional = false)]
    pub id: MessageId,
    /// Where to, if not where it went before.
    pub topic: Option<String>,
    /// JSON text, if not what it carried before.
    pub payload: Option<String>,
}

/// Sends many dead letters again.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct ReplayMany {
    /// Which letters.
    #[ts(optional = false)]
    pub filter: LetterFilter,
    /// Where to, if not where they went before.
    pub topic: Option<String>,
    /// At most so many a second; as fast as they are taken if none.
    pub per_second: Option<u32>,
}

/// Throws away many dead letters.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct DiscardMany {
    /// Which letters.
    pub filter: LetterFilter,
    /// Why.
    pub reason: String,
}

/// Takes back dead letters that were thrown away.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RestoreMany {
    /// Which letters: by id, or by the job that threw them away.
    pub filter: LetterFilter,
}

/// Names a job.
#[derive(Clone, Copy, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct OneJob {
    /// Its id.
    pub id: JobId,
}

/// The jobs that run, and the last ones that ended.
#[derive(Clone, Debug, Serialize, TS)]
pub struct JobList {
    /// Newest first.
    pub jobs: Vec<JobView>,
}

/// Asks for dead letters as JSON lines.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct ExportLetters {
    /// Which letters.
    #[serde(default)]
    #[ts(optional = false)]
    pub filter: LetterFilter,
    /// Younger than this place in the order of acceptance.
    pub after: Option<u64>,
}

/// Dead letters as JSON lines.
#[derive(Clone, Debug, Serialize, TS)]
pub struct LetterLines {
    /// One letter a line, oldest first.
    pub lines: String,
    /// Where the next page begins; none at the end.
    pub next: Option<u64>,
}

/// Brings dead letters from elsewhere.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ImportLetters {
    /// One letter a line, as they were exported.
    pub lines: String,
}

/// How an import went.
#[derive(Clone, Debug, Default, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// Letters taken in.
    pub imported: u64,
    /// Letters that are here already.
    pub already_here: u64,
    /// Lines that could not be taken in.
    pub refused: Vec<RefusedLine>,
}

/// A line that could not be taken in.
#[derive(Clone, Debug, Serialize, TS)]
pub struct RefusedLine {
    /// Its number, from 1.
    pub line: u64,
    /// Why.
    pub message: String,
}
