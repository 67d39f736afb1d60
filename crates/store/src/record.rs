//! What can be written.

use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentStatus, AllowEntry, AttemptOutcome, Capability, DeadReason, DeliveryId,
    DeliveryState, Door, JobId, JobView, KeyChange, KeyView, Label, LetterStatus, Message,
    MessageId, MessageState, Payload, Policy, Priority, RetiredKey, Rule, RuleChange, Saved,
    SavedKind, Scope, Session, SessionChange, SubscriptionId, Tally, Timestamp, Trust, TrustedBy,
};

/// One fact. The facts of one write are committed together or not at all.
#[derive(Clone, Debug)]
pub enum Record {
    /// An agent is known, or known better.
    Agent(AgentRecord),
    /// A known agent was heard of.
    AgentSeen {
        /// The agent.
        id: AgentId,
        /// When.
        at: Timestamp,
    },
    /// Whether an agent can take messages has changed.
    Presence(PresenceRecord),
    /// The broker runs, at least until then.
    Running(Timestamp),
    /// An agent listens.
    Subscribed(SubscriptionRecord),
    /// An agent stopped listening.
    Unsubscribed {
        /// The subscription.
        id: SubscriptionId,
        /// When.
        at: Timestamp,
    },
    /// A message was taken in; it waits.
    Message(Arc<Message>),
    /// A message was not accepted; what was tried is kept, and counts nowhere.
    Refused {
        /// The message.
        message: Arc<Message>,
        /// Why.
        error: String,
    },
    /// A token was made or taken away.
    Token(TokenChange),
    /// Something happened to what lies in a mailbox.
    Mail(MailChange),
    /// Whom to trust has changed.
    Trust(TrustChange),
    /// The rules were changed.
    Rules(Box<RulesRecord>),
    /// A session is as it is now.
    Session(Box<SessionRecord>),
    /// A message goes to a recipient.
    Delivery(DeliveryRecord),
    /// A try at a delivery ended.
    Attempt(AttemptRecord),
    /// A delivery that waited for another try gets none.
    DeliveryEnded(DeliveryId),
    /// A message moved on. Changes nothing if the message is not in the state `from`.
    Settled {
        /// The message's seq.
        message: u64,
        /// Where it was.
        from: MessageState,
        /// Where it is.
        state: MessageState,
        /// When.
        at: Timestamp,
        /// Who took it; an agent that it was addressed to stays its recipient.
        to: Option<AgentId>,
        /// What went wrong, if something did.
        error: Option<String>,
    },
    /// A message lies among the dead letters, until somebody deals with it.
    DeadLetter {
        /// The message's seq.
        message: u64,
        /// Why.
        reason: DeadReason,
        /// Since when.
        at: Timestamp,
    },
    /// Somebody dealt with a dead letter, or took that back.
    Letter(LetterRecord),
    /// A job is as it is now.
    Job(Box<JobRecord>),
    /// How busy the broker was.
    Figures(Box<FigureRecord>),
    /// Something is kept for another time, or no more.
    Saved(SavedChange),
    /// Someone did something that may be asked about later.
    Audit {
        /// When.
        at: Timestamp,
        /// Who.
        actor: String,
        /// What was done.
        action: String,
        /// To what.
        subject: String,
        /// More about it.
        detail: Option<String>,
    },
}

impl Record {
    /// The message without which it is not written, where it comes with a new one.
    pub fn new_message(&self) -> Option<u64> {
        match self {
            Self::Message(message) | Self::Refused { message, .. } => Some(message.seq),
            Self::Delivery(delivery) => Some(delivery.message),
            Self::Mail(MailChange::Arrived { message, .. }) => Some(*message),
            Self::Mail(
                MailChange::Read { .. } | MailChange::Said { .. } | MailChange::Removed { .. },
            )
            | Self::Agent(_)
            | Self::AgentSeen { .. }
            | Self::Presence(_)
            | Self::Running(_)
            | Self::Subscribed(_)
            | Self::Unsubscribed { .. }
            | Self::Token(_)
            | Self::Trust(_)
            | Self::Rules(_)
            | Self::Session(_)
            | Self::Attempt(_)
            | Self::DeliveryEnded(_)
            | Self::Settled { .. }
            | Self::DeadLetter { .. }
            | Self::Letter(_)
            | Self::Job(_)
            | Self::Figures(_)
            | Self::Saved(_)
            | Self::Audit { .. } => None,
        }
    }
}

/// What was counted in stretches of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRecord {
    /// Their length in seconds.
    pub span: u32,
    /// Of whom, when it began in seconds since 1970, and what was counted.
    pub rows: Vec<(Scope, i64, Tally)>,
    /// Those that began before this are forgotten.
    pub forget_before: i64,
}

/// What happened to something that the operator keeps.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedChange {
    /// It is kept.
    Kept(Saved),
    /// It is kept no more.
    Forgotten {
        /// What it was.
        kind: SavedKind,
        /// Its name.
        name: String,
    },
}

/// An agent as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRecord {
    /// Its id.
    pub id: AgentId,
    /// Its program's name.
    pub name: String,
    /// Its program's version.
    pub version: String,
    /// The door it last joined by.
    pub door: Door,
    /// The door by which it said what it can do, if it did.
    pub declared_by: Option<Door>,
    /// Whether messages for it wait until it fetches them.
    pub mailbox: bool,
    /// The operator's own name for it.
    pub label: Option<Label>,
    /// Whether the operator keeps it out.
    pub blocked: bool,
    /// What it can do; none leaves what is stored. Always given in what is restored.
    pub capabilities: Option<Vec<Capability>>,
    /// When it was first heard of; what is stored already stays.
    pub first_seen: Timestamp,
    /// When it was last heard of.
    pub last_seen: Timestamp,
}

/// Whether an agent could take messages, and since when, as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct PresenceRecord {
    /// Which.
    pub agent: AgentId,
    /// Since when.
    pub at: Timestamp,
    /// Whether it could.
    pub status: AgentStatus,
}

/// A subscription as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionRecord {
    /// Its id.
    pub id: SubscriptionId,
    /// Who listens.
    pub agent: AgentId,
    /// By which door.
    pub door: Door,
    /// The pattern, as the agent wrote it.
    pub pattern: String,
    /// When its chain stops.
    pub policy: Policy,
    /// Since when.
    pub at: Timestamp,
}

/// A delivery as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryRecord {
    /// Its id.
    pub id: DeliveryId,
    /// The message's seq.
    pub message: u64,
    /// The recipient.
    pub agent: AgentId,
    /// The door it goes out by.
    pub door: Door,
    /// The subscription's pattern that brought it here.
    pub pattern: Option<String>,
    /// Whether the recipient only watches.
    pub observer: bool,
    /// Since when.
    pub at: Timestamp,
}

/// A try at a delivery as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRecord {
    /// The delivery.
    pub delivery: DeliveryId,
    /// 1 for the first.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The recipient's words, or what went wrong.
    pub message: Option<String>,
    /// What the recipient gave back.
    pub payload: Option<Payload>,
    /// Where the delivery is after it.
    pub state: DeliveryState,
    /// When the recipient is asked again, if it is.
    pub due_at: Option<Timestamp>,
}

/// What became of a dead letter.
#[derive(Clone, Debug, PartialEq)]
pub struct LetterRecord {
    /// The message's seq.
    pub message: u64,
    /// What it is now.
    pub status: LetterStatus,
    /// When.
    pub at: Timestamp,
    /// The message that was sent in its place.
    pub replayed_as: Option<MessageId>,
    /// The operator's words.
    pub note: Option<String>,
    /// The job that did it.
    pub job: Option<JobId>,
}

/// A job as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// What the operator sees of it.
    pub view: JobView,
    /// Letters after this one came later than the job.
    pub up_to: u64,
}

/// What happens to tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenChange {
    /// One was made.
    Issued(TokenRecord),
    /// Those of an agent stopped working.
    Revoked {
        /// Whose.
        agent: AgentId,
        /// When.
        at: Timestamp,
    },
}

/// A token as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenRecord {
    /// Its SHA-256.
    pub hash: [u8; 32],
    /// Whose it is.
    pub agent: AgentId,
    /// The highest priority its owner's messages get.
    pub ceiling: Priority,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stopped working, if it has.
    pub revoked_at: Option<Timestamp>,
}

/// A change of the rules as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesRecord {
    /// What was done.
    pub change: RuleChange,
    /// For each edit the rule that it made; none where it took one away.
    pub made: Vec<Option<Rule>>,
}

/// A session as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// The session as it is now. Its messages are remembered by themselves.
    pub session: Session,
    /// What made it so.
    pub change: SessionChange,
}

/// What happened to what lies in a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub enum MailChange {
    /// A message came for an agent.
    Arrived {
        /// Whose mailbox.
        agent: AgentId,
        /// The message's seq.
        message: u64,
    },
    /// Its owner has fetched it.
    Read {
        /// Whose mailbox.
        agent: AgentId,
        /// The message's seq.
        message: u64,
        /// When.
        at: Timestamp,
    },
    /// Its owner said what became of it.
    Said {
        /// Whose mailbox.
        agent: AgentId,
        /// The message's seq.
        message: u64,
        /// Whether it failed; else it was processed.
        failed: bool,
        /// When.
        at: Timestamp,
    },
    /// It is not for its owner to see any more.
    Removed {
        /// Whose mailbox.
        agent: AgentId,
        /// The message's seq.
        message: u64,
    },
}

/// What happened to whom we trust.
#[derive(Clone, Debug, PartialEq)]
pub enum TrustChange {
    /// An announced agent is as it is now.
    Announced(Box<AnnouncedRecord>),
    /// A newer document of an announced agent has replaced an older one.
    Replaced(ReplacedDocument),
    /// Nothing is remembered of an announced agent.
    Forgotten(AgentId),
    /// The allow-list changed.
    AllowList(AllowChange),
}

/// A change of the allow-list.
#[derive(Clone, Debug, PartialEq)]
pub enum AllowChange {
    /// An entry is there, perhaps with other words than before.
    Added(AllowEntry),
    /// The entry of this pattern is gone.
    Removed(String),
}

/// An announced agent as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnouncedRecord {
    /// Its id.
    pub agent: AgentId,
    /// Whether it counts as one of ours.
    pub trust: Trust,
    /// Who decided that.
    pub trusted_by: Option<TrustedBy>,
    /// The key it is known by.
    pub key: Option<KeyView>,
    /// Keys it had before that still count.
    pub retired: Vec<RetiredKey>,
    /// Someone came with another key.
    pub key_change: Option<KeyChange>,
    /// The last document, as it was sent.
    pub document: Arc<str>,
    /// Hexadecimal SHA-256 of the canonical document.
    pub digest: String,
    /// Its signature.
    pub signature: Option<String>,
    /// The version of the protocol it was written in.
    pub version: String,
    /// When it was first heard of.
    pub first_seen: Timestamp,
    /// When it was last heard of.
    pub last_seen: Timestamp,
}

/// A document that a newer one has replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedDocument {
    /// Whose it was.
    pub agent: AgentId,
    /// Hexadecimal SHA-256 of the canonical document.
    pub digest: String,
    /// When it was replaced.
    pub at: Timestamp,
}
