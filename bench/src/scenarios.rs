//! What is measured: one file a scenario.

mod doors;
mod fan_out;
mod feed;
mod latency;
mod letters;
mod memory;
mod preview;
mod publish;
mod rest;
mod search;
mod start_up;
mod subscriptions;
mod throughput;

use crate::Outcome;
use crate::figures::Section;
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::Lab;
use crate::peers::Server;

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
    /// One message to 1,000 listeners
    FanOut,
    /// What 100,000 unrelated subscriptions cost
    Subscriptions,
    /// Calls from the bus to the lobby and to AACP
    Doors,
    /// Memory for each idle connection
    Memory,
    /// Posts by HTTP
    Rest,
    /// How soon a broker listens, with an empty and with a large database
    StartUp,
    /// How fast dead letters are sent again
    Letters,
    /// Search over 1,000,000 messages
    Search,
    /// What a change of rules would have done to 100,000 requests
    Preview,
    /// The console's feed at 10,000 messages a second
    Feed,
}

impl Scenario {
    pub(crate) async fn run(self, lab: &Lab) -> Outcome<Section> {
        match self {
            Self::Latency => latency::run(lab).await,
            Self::Pinned => latency::pinned(lab).await,
            Self::Throughput => throughput::run(lab).await,
            Self::Publish => publish::run(lab).await,
            Self::FanOut => fan_out::run(lab).await,
            Self::Subscriptions => subscriptions::run(lab).await,
            Self::Doors => doors::run(lab).await,
            Self::Memory => memory::run(lab).await,
            Self::Rest => rest::run(lab).await,
            Self::StartUp => start_up::run(lab).await,
            Self::Letters => letters::run(lab).await,
            Self::Search => search::run(lab).await,
            Self::Preview => preview::run(lab).await,
            Self::Feed => feed::run(lab).await,
        }
    }
}

/// The names of the sides, which are also those in the history.
const FULL: &str = "switchboard";
const NORMAL: &str = "switchboard, synchronous=normal";
const NATS: &str = "NATS core";
const RELAY: &str = "bare relay";

/// Those that ask, and those that answer.
pub(crate) fn plan(
    server: &Server,
    speech: Speech,
    connections: usize,
    in_flight: usize,
    responders: usize,
) -> Plan {
    plan_on(server, speech, (connections, in_flight, responders), |number| {
        (format!("bench.{number}"), format!("bench.{number}"))
    })
}

/// The same on other topics: for each responder what it listens to, and what it is asked on.
fn plan_on(
    server: &Server,
    speech: Speech,
    (connections, in_flight, responders): (usize, usize, usize),
    topic: impl Fn(usize) -> (String, String),
) -> Plan {
    let (listens, topics): (Vec<_>, Vec<_>) = (0..responders).map(topic).unzip();
    let group = |name, count, part| Group::new(server.address, speech, name, count, part);
    let responder = Part::Responder { topics: listens };
    let asker = Part::Asker { in_flight, topics, answers: 1 };
    Plan {
        groups: vec![
            group("responder-#", responders, responder),
            group("asker-#", connections, asker),
        ],
    }
}
