//! Why the broker would not.

use switchboard_model::{AgentId, Code, JobId, MessageId, Pattern};

/// A command that was not carried out, in words that say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The connection has not said who it is.
    #[error("not initialized: say who you are first")]
    NotJoined,
    /// It has said so before.
    #[error("this connection already speaks for {0}")]
    AlreadyJoined(AgentId),
    /// The name is the broker's or the operator's own.
    #[error("{0} is a name of the broker itself: choose another id")]
    ReservedId(AgentId),
    /// Same pattern, same connection, same policy.
    #[error("already subscribed to {0}")]
    AlreadySubscribed(Pattern),
    /// Nothing to unsubscribe.
    #[error("not subscribed to {0}: use the same text as in subscribe")]
    NotSubscribed(Pattern),
    /// The connection has as many subscriptions as it may have.
    #[error("this connection has {0} subscriptions, the most it may have: unsubscribe from some")]
    TooManySubscriptions(usize),
    /// Deliveries pile up at a recipient.
    #[error("{agent} has {waiting} messages waiting: try again later")]
    QueueFull {
        /// The recipient.
        agent: AgentId,
        /// How many wait.
        waiting: usize,
    },
    /// The disk does not keep up.
    #[error("the disk does not keep up: try again in a second")]
    DiskBusy,
    /// The disk did not take the message.
    #[error("the message could not be written to disk and was not accepted")]
    StorageFailed,
    /// Only the person at the console may.
    #[error("only the operator may do this")]
    OperatorOnly,
    /// There is no such dead letter, or somebody has dealt with it.
    #[error("{0} is no open dead letter: it was replayed, discarded or never died")]
    NoSuchLetter(MessageId),
    /// Nobody is there to take it, but the broker has only just been started.
    #[error("nobody listens yet after the restart: waiting for agents to come back")]
    NobodyBack,
    /// There is no such job, or it cannot do this now.
    #[error("there is no job {} that could do this now", .0.0)]
    NoSuchJob(JobId),
    /// The broker is closing down.
    #[error("the broker is stopping: connect again when it is back")]
    Stopping,
}

impl Refusal {
    /// The kind of refusal, for programs.
    pub fn code(&self) -> Code {
        match self {
            Self::NotJoined => Code::NotJoined,
            Self::AlreadyJoined(_) => Code::AlreadyJoined,
            Self::ReservedId(_) => Code::InvalidClient,
            Self::AlreadySubscribed(_) => Code::AlreadySubscribed,
            Self::NotSubscribed(_) => Code::NotSubscribed,
            Self::TooManySubscriptions(_)
            | Self::QueueFull { .. }
            | Self::DiskBusy
            | Self::NobodyBack => Code::Busy,
            Self::OperatorOnly => Code::Forbidden,
            Self::NoSuchLetter(_) | Self::NoSuchJob(_) => Code::NotFound,
            Self::StorageFailed => Code::StorageFailed,
            Self::Stopping => Code::Stopping,
        }
    }
}
