//! What is measured: one file a scenario.

mod latency;
mod publish;
mod throughput;

use crate::Outcome;
use crate::figures::Section;
use crate::lab::Lab;

/// Something that can be measured, by the name it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
pub(crate) enum Scenario {
    /// Request–response, 1 in flight: how long an answer takes
    Latency,
    /// The same with every process on one core
    Pinned,
    /// Request–response, 8 connections × 32 in flight: how many answers there are
    Throughput,
    /// Durable publishes to an agent that is away
    Publish,
}

impl Scenario {
    pub(crate) async fn run(self, lab: &Lab) -> Outcome<Section> {
        match self {
            Self::Latency => latency::run(lab).await,
            Self::Pinned => latency::pinned(lab).await,
            Self::Throughput => throughput::run(lab).await,
            Self::Publish => publish::run(lab).await,
        }
    }
}

/// The names of the sides, which are also those in the history.
const FULL: &str = "switchboard";
const NORMAL: &str = "switchboard, synchronous=normal";
const NATS: &str = "NATS core";
const RELAY: &str = "bare relay";
