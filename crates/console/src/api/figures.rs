//! Calls about how busy the broker was.

use serde::{Deserialize, Serialize};
use switchboard_model::{AgentId, Door};
use ts_rs::TS;

/// Asks how busy the broker was, over the last minutes. Of everything, or of one door or one agent.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct HistoryQuery {
    /// How far back; 1 to 10,080, which is a week.
    #[ts(optional = false)]
    pub minutes: u32,
    /// What came in by this door.
    pub door: Option<Door>,
    /// What this agent sent, and what it did with what it got.
    pub agent: Option<AgentId>,
}

/// How busy the broker was, step by step, oldest first. All lists are as long as `at`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FigureHistory {
    /// The length of one step.
    pub step_seconds: u32,
    /// When each step begins, in seconds since 1970.
    pub at: Vec<i64>,
    /// Messages accepted in it; none where the broker did not run. The same holds for those below.
    pub accepted: Vec<Option<u64>>,
    /// Messages processed.
    pub processed: Vec<Option<u64>>,
    /// Messages refused.
    pub refused: Vec<Option<u64>>,
    /// Messages that died.
    pub dead: Vec<Option<u64>>,
    /// Half of what was settled was so within this many microseconds.
    pub p50_micros: Vec<Option<u64>>,
    /// All but one in a hundred.
    pub p99_micros: Vec<Option<u64>>,
    /// Deliveries that waited, the most at any time in the step.
    pub queued: Vec<Option<u64>>,
    /// Dead letters that nobody had dealt with, at its end; only of everything.
    pub open_letters: Vec<Option<u64>>,
}

/// Asks who was how busy, over the last minutes.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct BusyQuery {
    /// How far back; 1 to 10,080.
    pub minutes: u32,
    /// Put together by what.
    pub by: BusyBy,
}

/// By what figures are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum BusyBy {
    /// By the doors that messages came in by.
    Door,
    /// By agents.
    Agent,
}

/// Who was how busy, the busiest first.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BusyList {
    /// The length of one step of the lists in the rows.
    pub step_seconds: u32,
    /// A row each.
    pub rows: Vec<BusyRow>,
}

/// How busy one door or one agent was.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BusyRow {
    /// The door's name or the agent's id.
    pub name: String,
    /// Messages that came in by the door, or that the agent sent.
    pub accepted: u64,
    /// Messages that were processed: by the agent, or of those that came in by the door.
    pub processed: u64,
    /// Messages that were refused to it.
    pub refused: u64,
    /// Messages that died: in its hands, or of those that came in by the door.
    pub dead: u64,
    /// Half were settled within this many microseconds.
    pub p50_micros: Option<u64>,
    /// All but one in a hundred.
    pub p99_micros: Option<u64>,
    /// Deliveries to the agent that wait now; none for a door.
    pub queued: Option<u64>,
    /// Messages in and out in each step, at most 60 of them, oldest first.
    pub traffic: Vec<u64>,
    /// The median time in each of these steps, in microseconds; none where nothing was settled.
    pub latency: Vec<Option<u64>>,
}
