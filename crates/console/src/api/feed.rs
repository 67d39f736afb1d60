//! The live feed: a snapshot, then one batch a frame.

use serde::{Deserialize, Serialize};
use switchboard_model::{
    AgentId, AgentView, JobView, MessageFilter, MessageId, MessageRow, MessageState, Timestamp,
    Totals,
};
use ts_rs::TS;

use super::Status;

/// Opens a feed.
#[derive(Clone, Debug, Default, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
pub struct Watch {
    /// Which messages to show; agents and figures come whatever it says.
    pub filter: MessageFilter,
}

/// What the feed says.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FeedEvent {
    /// Everything as it is now. Comes first, and again when the feed fell behind.
    Snapshot {
        /// Batches that follow count on from here, one by one.
        seq: u64,
        /// What is running here.
        status: Status,
        /// Where every message is now.
        totals: Totals,
        /// How busy the broker is.
        figures: Figures,
        /// Everyone the registry knows.
        agents: Vec<AgentView>,
        /// The newest messages that pass the filter, newest first.
        rows: Vec<MessageRow>,
        /// The jobs that run, and the last ones that ended.
        jobs: Vec<JobView>,
    },
    /// What changed since the event before.
    Batch {
        /// One more than the event before.
        seq: u64,
        /// Where every message is now.
        totals: Totals,
        /// How busy the broker is.
        figures: Figures,
        /// What is running here, if that changed.
        status: Option<Status>,
        /// Agents that came, went or changed.
        agents: Vec<AgentView>,
        /// New messages that pass the filter, oldest first; the newest few hundred of them.
        rows: Vec<MessageRow>,
        /// How many more passed the filter than there was room for. History has them.
        skipped: u64,
        /// Messages of earlier events that moved on.
        moved: Vec<Moved>,
        /// Jobs that began, went on or ended.
        jobs: Vec<JobView>,
        /// Whether the rules changed.
        rules: bool,
        /// Whether something changed about who is announced.
        discovery: bool,
        /// Whether a session was opened or changed.
        sessions: bool,
        /// Messages that were sent in the place of dead letters, and died too.
        died_again: Vec<DiedAgain>,
    },
}

/// A message of an earlier event that moved on.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// The message.
    pub seq: u64,
    /// Where it is now.
    pub state: MessageState,
    /// Who has it or took it.
    pub to: Option<AgentId>,
    /// Microseconds from acceptance to here; none where it only waits, or the operator moved it.
    pub took_micros: Option<u64>,
    /// What went wrong, if it did.
    pub error: Option<String>,
    /// When somebody is asked again, if the message waits for that.
    pub retry_at: Option<Timestamp>,
}

/// A message that was sent in the place of a dead letter, and died too.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiedAgain {
    /// The message.
    pub id: MessageId,
    /// The dead letter in whose place it was sent.
    pub replay_of: MessageId,
    /// The topic that it was sent to.
    pub topic: String,
    /// What went wrong this time.
    pub error: Option<String>,
}

/// How busy the broker is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Messages accepted a second, over the last seconds.
    pub per_second: f64,
    /// Half of the messages were settled within this many microseconds; none if none were.
    pub p50_micros: Option<u64>,
    /// All but one in a hundred were settled within this many.
    pub p99_micros: Option<u64>,
    /// Dead letters that nobody has dealt with.
    pub open_letters: u64,
    /// Live connections.
    pub connections: u32,
    /// The size of the database on disk.
    pub database_bytes: u64,
    /// How long the broker has been running.
    pub uptime_seconds: u64,
}
