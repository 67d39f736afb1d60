//! Deliveries: one message on its way to one recipient, and what the recipient said.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, Payload};

/// When a chain of subscribers stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Policy {
    /// Stop at the first subscriber that processed the message.
    #[default]
    StopPropagationOnProcessed,
    /// Stop only where a subscriber says so.
    StopPropagationOnStop,
    /// An observer: always called, beside the others, and never stops them.
    ContinueAll,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Self; 3] =
        [Self::StopPropagationOnProcessed, Self::StopPropagationOnStop, Self::ContinueAll];

    /// The policy's name in the protocol and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StopPropagationOnProcessed => "stopPropagationOnProcessed",
            Self::StopPropagationOnStop => "stopPropagationOnStop",
            Self::ContinueAll => "continueAll",
        }
    }

    /// The policy of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text)
    }
}

/// What a recipient said of a delivery, in the broker's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it went.
    pub outcome: AttemptOutcome,
    /// The recipient asks that nobody after it gets the message.
    pub stop: bool,
    /// The recipient is of the first generation, which says only whether to stop; that it took
    /// the message is then no reason to stop.
    pub stops_only_on_request: bool,
    /// Whether the recipient wants to be asked again.
    pub again: Again,
    /// Words for people.
    pub message: Option<String>,
    /// What the recipient gives back to the sender.
    pub payload: Option<Payload>,
}

/// Whether a recipient that did not process a message wants to be asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// It did not say so.
    #[default]
    NotAsked,
    /// It does, when the broker sees fit.
    Soon,
    /// It does, after this time.
    After(Duration),
}

/// How one attempt at a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AttemptOutcome {
    /// The recipient took care of the message.
    Processed,
    /// The recipient would not.
    Declined,
    /// The recipient answered with an error or with something that is no answer.
    InvalidAnswer,
    /// The recipient said nothing in time.
    TimedOut,
    /// The connection ended before the answer.
    Disconnected,
    /// The recipient had as much waiting as it may have, and was not asked.
    QueueFull,
    /// A rule keeps the sender from reaching this recipient, and it was not asked.
    Forbidden,
}

impl AttemptOutcome {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::Processed,
        Self::Declined,
        Self::InvalidAnswer,
        Self::TimedOut,
        Self::Disconnected,
        Self::QueueFull,
        Self::Forbidden,
    ];

    /// The outcome's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Processed => "processed",
            Self::Declined => "declined",
            Self::InvalidAnswer => "invalidAnswer",
            Self::TimedOut => "timedOut",
            Self::Disconnected => "disconnected",
            Self::QueueFull => "queueFull",
            Self::Forbidden => "forbidden",
        }
    }

    /// The outcome of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == text)
    }
}

/// Where a delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DeliveryState {
    /// On its way, or waiting for its turn.
    Waiting,
    /// The recipient processed it.
    Processed,
    /// The recipient did not.
    Failed,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Processed, Self::Failed];

    /// The state's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Processed => "processed",
            Self::Failed => "failed",
        }
    }

    /// The state of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// Why a message is a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DeadReason {
    /// Nobody was subscribed.
    NobodySubscribed,
    /// Everyone who was asked declined.
    DeclinedByAll,
    /// The last one asked said nothing in time.
    TimedOut,
    /// Every allowed attempt failed.
    GaveUp,
    /// The recipient's connection ended.
    AgentGone,
    /// Its time ran out.
    Expired,
    /// The recipient's queue was full.
    QueueFull,
    /// The recipient answered with something that is no answer.
    InvalidAnswer,
    /// A rule that was made while it waited forbids it.
    Forbidden,
}

impl DeadReason {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::NobodySubscribed,
        Self::DeclinedByAll,
        Self::TimedOut,
        Self::GaveUp,
        Self::AgentGone,
        Self::Expired,
        Self::QueueFull,
        Self::InvalidAnswer,
        Self::Forbidden,
    ];

    /// The reason's name in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NobodySubscribed => "nobodySubscribed",
            Self::DeclinedByAll => "declinedByAll",
            Self::TimedOut => "timedOut",
            Self::GaveUp => "gaveUp",
            Self::AgentGone => "agentGone",
            Self::Expired => "expired",
            Self::QueueFull => "queueFull",
            Self::InvalidAnswer => "invalidAnswer",
            Self::Forbidden => "forbidden",
        }
    }

    /// The reason of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

/// What the sender is told of one recipient.
#[derive(Clone, Debug, PartialEq)]
pub struct Ack {
    /// The recipient.
    pub agent: AgentId,
    /// How the first attempt ended.
    pub outcome: AttemptOutcome,
    /// The recipient's words.
    pub message: Option<String>,
    /// What the recipient gave back.
    pub payload: Option<Payload>,
    /// When the recipient is asked again, if it is.
    pub again_in: Option<Duration>,
}
