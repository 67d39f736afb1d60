//! What happened, for those who watch. Watching never slows what is watched.

use std::sync::Arc;

use crate::{AgentId, AgentView, JobView, Message, MessageId, MessageState, Timestamp, Topic};

/// What happened since the last time something was told, in order. They come together, because telling each
/// one by itself would cost more than what it tells of.
pub type Events = Arc<[Event]>;

/// A fact about the running broker.
#[derive(Clone, Debug)]
pub enum Event {
    /// A message was accepted.
    Accepted(Arc<Message>),
    /// A message moved on.
    Moved {
        /// Its place in the order of acceptance.
        seq: u64,
        /// Where it is now.
        state: MessageState,
        /// Who has it or took it.
        to: Option<AgentId>,
        /// Who was asked last, where it died.
        last_asked: Option<AgentId>,
        /// Microseconds from acceptance to here; none where the operator moved it.
        took_micros: Option<u64>,
        /// What went wrong, if it did.
        error: Option<Arc<str>>,
        /// When somebody is asked again, if the message waits for that.
        retry_at: Option<Timestamp>,
    },
    /// A message could not be written to disk, so it was not accepted after all.
    Withdrawn {
        /// Its place in the order of acceptance.
        seq: u64,
    },
    /// A message was not accepted; what was tried is kept.
    Refused(Arc<Message>, Arc<str>),
    /// A message that was sent in the place of a dead letter has died too.
    DiedAgain {
        /// The message.
        id: MessageId,
        /// The dead letter in whose place it was sent.
        replay_of: MessageId,
        /// The topic that it was sent to.
        topic: Topic,
        /// What went wrong.
        error: Arc<str>,
    },
    /// A session was opened, changed or closed.
    Sessions,
    /// The rules changed.
    Rules,
    /// Something changed about who is announced.
    Discovery,
    /// An agent came, went or changed.
    Agent(Arc<AgentView>),
    /// A job began, went on or ended.
    Job(Arc<JobView>),
}
