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
    /// What they join by; the number of the connection stands for `#`.
    pub(crate) name: String,
    pub(crate) count: usize,
    pub(crate) part: Part,
    /// What proves the name, where that is needed.
    pub(crate) token: Option<String>,
}

/// The protocol a connection speaks.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Speech {
    /// The bus door; the bare relay speaks it too.
    Bus,
    /// The bus door, where a question is done when it is on disk, though nobody takes it.
    Accepted,
    /// The bus door, where a question is done only when its recipient calls back with its number.
    CalledBack,
    /// NATS's text protocol, for core messages and for JetStream.
    Nats,
    /// MQTT 3.1.1 with acknowledgements (QoS 1).
    Mqtt,
    /// Redis: publishes to a channel.
    RedisChannel,
    /// Redis: pushes to a list.
    RedisList,
    /// The lobby door.
    Lobby,
    /// A mailbox at the AACP door.
    Mailbox,
    /// Posts by HTTP, at the AACP door and at the bare echo.
    Post,
    /// The console's live feed.
    Feed,
}

/// What a connection does. Of topics, the n-th connection of a group has the n-th, and so round.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Part {
    /// Asks, and asks again when it has its answer.
    Asker {
        in_flight: usize,
        topics: Vec<String>,
        /// A question is done after so many answers.
        answers: u32,
    },
    /// Listens to a topic and answers whatever it is asked there.
    Responder { topics: Vec<String> },
    /// The same, where everyone who listens to the topic is asked.
    Listener { topic: String },
    /// Listens to so many topics that nobody asks.
    Crowd { subscriptions: usize },
}

/// One measurement.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) enum Order {
    /// Asks for so long; what is under way then is awaited.
    For { seconds: f64 },
    /// Asks so often in all.
    Times { count: u64 },
    /// Asks at so many a second and no faster, for so long.
    Paced { rate: f64, seconds: f64 },
    /// Asks nothing, and answers until so many calls have come.
    Serve { calls: u64 },
}

/// What the askers saw. Times are in microseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Measured {
    pub(crate) operations: u64,
    pub(crate) seconds: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    /// Bytes that came.
    pub(crate) heard: u64,
}

impl Group {
    pub(crate) fn new(
        address: SocketAddr,
        speech: Speech,
        name: &str,
        count: usize,
        part: Part,
    ) -> Self {
        Self { address, speech, name: name.into(), count, part, token: None }
    }

    pub(crate) fn with_token(self, token: String) -> Self {
        Self { token: Some(token), ..self }
    }
}

impl Part {
    /// One that asks one topic and needs one answer.
    pub(crate) fn asker(in_flight: usize, topic: &str) -> Self {
        Self::Asker { in_flight, topics: vec![topic.into()], answers: 1 }
    }
}
