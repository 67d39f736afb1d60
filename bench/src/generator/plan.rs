//! What a generator is asked to do, as it travels between the two processes.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Everyone who connects, in this order.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Plan {
    pub(crate) groups: Vec<Group>,
}

/// Connections that do the same.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Group {
    pub(crate) address: SocketAddr,
    pub(crate) speech: Speech,
    /// The names they join by are this and a number.
    pub(crate) name: String,
    pub(crate) count: usize,
    pub(crate) part: Part,
}

/// The protocol a connection speaks.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) enum Speech {
    /// The bus door; the bare relay speaks it too.
    Bus,
    /// NATS's text protocol, for core messages and for JetStream.
    Nats,
}

/// What a connection does.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Part {
    /// Asks, and asks again when it has its answer. The n-th connection of a group asks the n-th topic, and so round.
    Asker { in_flight: usize, topics: Vec<String> },
    /// Listens to a topic and answers whatever it is asked there.
    Responder { topics: Vec<String> },
}

/// One measurement.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) enum Order {
    /// Asks for so long; what is under way then is awaited.
    For { seconds: f64 },
}

/// What the askers saw. Times are in microseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Measured {
    pub(crate) operations: u64,
    pub(crate) seconds: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
}
