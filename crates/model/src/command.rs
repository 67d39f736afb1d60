//! What a caller may ask of the broker, and what it is told.

use crate::{
    Ack, Address, AgentId, Answer, AttemptId, Capability, ConversationId, DeadMessage, JobId,
    JobView, Kind, Lifecycle, MessageId, MessageState, NewJob, Pattern, Payload, Policy, Priority,
    SubscriptionId, Timestamp, Topic,
};

/// Everything that can change anything. Every door, the operator and discovered peers speak this.
#[derive(Clone, Debug)]
pub enum Command {
    /// Say who is at the other end of this connection.
    Join(Join),
    /// Say goodbye. A connection that ends without it means the same.
    Leave,
    /// Listen to topics.
    Subscribe {
        /// The topics.
        pattern: Pattern,
        /// When the chain stops; the broker's default if none.
        policy: Option<Policy>,
    },
    /// Stop listening; the pattern is the one given to `Subscribe`.
    Unsubscribe {
        /// The pattern.
        pattern: Pattern,
    },
    /// Say something.
    Send(Send),
    /// Tell how a delivery went.
    Answer {
        /// The attempt at it that is answered.
        attempt: AttemptId,
        /// How it went.
        answer: Answer,
    },
    /// Be seen alive.
    Touch,
    /// Send a new message in the place of a dead letter. Only the operator may.
    Replay(Box<Replay>),
    /// Do something with many dead letters. Only the operator may.
    StartJob(NewJob),
    /// Stop a job where it is. Only the operator may.
    StopJob(JobId),
    /// Let a stopped job go on. Only the operator may.
    ResumeJob(JobId),
    /// Take in dead letters from elsewhere. Only the operator may.
    Import(Vec<DeadMessage>),
    /// Tell agents what happened to one of them. Only the operator's own programs may.
    Announce {
        /// What happened.
        event: Lifecycle,
        /// To whom.
        agent: AgentId,
        /// More about it, for people.
        detail: String,
    },
}

/// A dead letter to be sent again.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The dead letter, as it lies on disk.
    pub letter: DeadMessage,
    /// Where it goes now, if not where it went then.
    pub topic: Option<Topic>,
    /// What it carries now, if not what it carried then.
    pub payload: Option<Payload>,
}

/// Who an agent says it is.
#[derive(Clone, Debug)]
pub struct Join {
    /// Its id.
    pub agent: AgentId,
    /// Its program's name, for people.
    pub name: String,
    /// Its program's version.
    pub version: String,
    /// What it can do; none leaves what was declared before.
    pub capabilities: Option<Vec<Capability>>,
}

/// Something to say.
#[derive(Clone, Debug)]
pub struct Send {
    /// To whom.
    pub address: Address,
    /// What it is for.
    pub kind: Kind,
    /// What it asks for, if it asks.
    pub capability: Option<String>,
    /// Who is served first.
    pub priority: Priority,
    /// What links an answer to its question.
    pub correlation: Option<String>,
    /// The exchange it belongs to.
    pub conversation: Option<ConversationId>,
    /// What it carries.
    pub payload: Payload,
    /// When it stops being worth delivering.
    pub expires_at: Option<Timestamp>,
    /// When the caller wants to hear back.
    pub wait: Wait,
}

/// When the sender of a message is answered. Never before the message is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As soon as the message is on disk.
    Accepted,
    /// After the first attempt of every delivery.
    FirstAttempts,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The connection now speaks for an agent.
    Joined(Joined),
    /// The subscription is in force.
    Subscribed(SubscriptionId),
    /// The message is on disk, and as far on its way as the sender wanted to wait for.
    Sent(Receipt),
    /// The job is as it is now.
    Job(Box<JobView>),
    /// So many dead letters were taken in.
    Imported(usize),
    /// It is done; there is nothing more to say.
    Done,
}

/// What a joining agent learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The broker's own name.
    pub server: AgentId,
}

/// Proof that a message is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The message's id.
    pub message: MessageId,
    /// Where the message is now.
    pub state: MessageState,
    /// Whether a recipient stopped the chain.
    pub stopped: bool,
    /// What each recipient said.
    pub acks: Vec<Ack>,
}
