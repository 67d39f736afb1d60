//! Long work on many dead letters, done by the broker while the operator watches.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{JobId, LetterFilter, Timestamp, Topic};

/// What to do with many dead letters.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// What is done with each.
    pub action: JobAction,
    /// Which letters.
    pub filter: LetterFilter,
    /// How many there are.
    pub total: u64,
}

/// What is done with each letter.
#[derive(Clone, Debug, PartialEq)]
pub enum JobAction {
    /// A new message is sent in its place.
    Replay {
        /// To this topic instead of its own.
        topic: Option<Topic>,
        /// At most so many a second; none for as fast as they are taken.
        per_second: Option<u32>,
    },
    /// It is thrown away.
    Discard {
        /// Why, in the operator's words.
        note: String,
    },
    /// It is open again, after it was thrown away.
    Restore,
}

/// The name of what is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Sends a new message in the place of each.
    Replay,
    /// Throws each away.
    Discard,
    /// Takes each back that was thrown away.
    Restore,
}

impl JobAction {
    /// What is done, in a word.
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Replay { .. } => JobKind::Replay,
            Self::Discard { .. } => JobKind::Discard,
            Self::Restore => JobKind::Restore,
        }
    }
}

impl JobKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Replay, Self::Discard, Self::Restore];

    /// The kind's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Discard => "discard",
            Self::Restore => "restore",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    /// At work; goes on by itself when the broker was restarted.
    Running,
    /// The operator stopped it; it can go on.
    Stopped,
    /// Nothing is left to do.
    Done,
}

impl JobStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Running, Self::Stopped, Self::Done];

    /// The status's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Done => "done",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// One job as the operator sees it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// Its id.
    pub id: JobId,
    /// What is done with each letter.
    pub kind: JobKind,
    /// How far it is.
    pub status: JobStatus,
    /// Which letters.
    pub filter: LetterFilter,
    /// The topic that replayed letters go to, if not their own.
    pub topic: Option<String>,
    /// At most so many a second.
    pub per_second: Option<u32>,
    /// The operator's words.
    pub note: Option<String>,
    /// How many letters there were when it began.
    pub total: u64,
    /// How many of them are dealt with.
    pub done: u64,
    /// How many could not be, and are left as they were.
    pub failed: u64,
    /// Of those that were sent again, how many were processed.
    pub processed: u64,
    /// Of those that were sent again, how many died again.
    pub died_again: u64,
    /// Why the last of those could not.
    pub last_error: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
}
