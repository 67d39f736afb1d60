//! Why the broker would not.

use switchboard_model::{AgentId, Code, ConversationId, JobId, MessageId, Pattern};

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
    /// The id has a token, and none was given.
    #[error("{0} has a token: give it to use this id")]
    TokenMissing(AgentId),
    /// The allow-list does not name it.
    #[error("{0} is not on the allow-list: ask the operator to add it")]
    NotListed(AgentId),
    /// The operator turned it away.
    #[error("the operator has refused {0}")]
    RefusedAgent(AgentId),
    /// The operator keeps it out.
    #[error("{0} is blocked by the operator")]
    Blocked(AgentId),
    /// It has signed before.
    #[error("{0} has signed its announcements: an unsigned one is not believed")]
    MustSign(AgentId),
    /// Nobody vouches for it.
    #[error("the first announcement of {0} must be signed, unless the allow-list names it")]
    Unsigned(AgentId),
    /// It is known by another key.
    #[error(
        "{0} is known by another key: have the old one sign the change (rotation_signature), or ask the operator"
    )]
    OtherKey(AgentId),
    /// It was replaced by a newer one.
    #[error("this announcement of {0} is an old one: a newer one has replaced it")]
    Replayed(AgentId),
    /// Someone holds a token of that name, and may be another.
    #[error(
        "{0} has a token, and whoever announced it has not shown that: have it announced with its token (X-Agent-Token), or revoke the token first"
    )]
    OwnedByToken(AgentId),
    /// It has said too many different things.
    #[error(
        "{0} has changed what it announces too often: ask the operator to forget it, and say less"
    )]
    ChangedTooOften(AgentId),
    /// More mailboxes than may be made without tokens.
    #[error("there are {0} mailboxes without a token, as many as there may be")]
    TooManyMailboxes(usize),
    /// More announced agents than can be remembered.
    #[error("{0} agents are announced, as many as there may be: try again later")]
    TooManyAnnounced(usize),
    /// Nobody of that id was announced.
    #[error("{0} is not announced here")]
    NotAnnounced(AgentId),
    /// That key was not tried.
    #[error("{0} was not announced with that key: read the fingerprints again")]
    NoSuchKey(AgentId),
    /// An entry of the allow-list cannot be.
    #[error("the entry {0:?} of the allow-list: {1}")]
    BadAllowEntry(String, String),
    /// Nobody may come without a token here.
    #[error("a token is needed: send it as `Authorization: Bearer TOKEN`")]
    TokenNeeded,
    /// Nobody owns this token.
    #[error("nobody owns this token: it was replaced, or never given")]
    UnknownToken,
    /// What is kept cannot be read.
    #[error("what is kept could not be read from disk; the log says why")]
    Unreadable,
    /// The token is not this id's.
    #[error("this is not the token of {0}")]
    WrongToken(AgentId),
    /// The id's token was taken away.
    #[error("the token of {0} was revoked: ask the operator for a new one")]
    TokenRevoked(AgentId),
    /// Too many wrong tokens.
    #[error("too many wrong tokens for {agent}: try again in {seconds} s")]
    LockedOut {
        /// The id.
        agent: AgentId,
        /// For how much longer.
        seconds: u64,
    },
    /// Someone else uses the id.
    #[error("the id {0} is taken: choose another, or join with its token")]
    Taken(AgentId),
    /// What an agent declares cannot be used.
    #[error("capability {name:?}: {why}")]
    BadCapability {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// An agent declares more than it may.
    #[error("{0} capabilities are the most an agent may declare")]
    TooManyCapabilities(usize),
    /// An agent's schemas are too much in all.
    #[error("an agent's schemas have at most {0} bytes in all")]
    TooManySchemas(usize),
    /// The schemas of all agents are as much as may be.
    #[error("there is no room for more schemas: agents that are no longer used hold them")]
    NoRoomForSchemas,
    /// Nobody of that name is known.
    #[error("there is no agent {0}")]
    UnknownAgent(AgentId),
    /// The provider does not offer this.
    #[error("agent '{provider}' does not offer capability '{capability}'{offered}")]
    UnknownCapability {
        /// Who was asked.
        provider: AgentId,
        /// For what.
        capability: String,
        /// What it does offer, in words.
        offered: String,
    },
    /// A rule or the provider's own declaration forbids it. In the words of the lobby protocol.
    #[error(
        "Unauthorized: Agent '{caller}' is not authorized to call capability '{capability}' on agent '{provider}'."
    )]
    Forbidden {
        /// Who asked.
        caller: AgentId,
        /// Who was asked.
        provider: AgentId,
        /// For what.
        capability: String,
    },
    /// Rules keep the sender from everyone who listens.
    #[error("rules keep {caller} from everyone who listens to {topic}")]
    NobodyMayHear {
        /// Who would speak.
        caller: AgentId,
        /// About what.
        topic: String,
    },
    /// The input does not fit the provider's schema.
    #[error("the input does not fit the schema of '{capability}': {faults}")]
    BadInput {
        /// What was asked for.
        capability: String,
        /// What is wrong, with the path of each.
        faults: String,
    },
    /// The output does not fit the provider's own schema.
    #[error("the output does not fit the schema of '{capability}': {faults}")]
    BadOutput {
        /// What was asked for.
        capability: String,
        /// What is wrong, with the path of each.
        faults: String,
    },
    /// Nobody asked, or it has been answered or given up.
    #[error(
        "{asker} waits for no answer of yours to {correlation:?}: it was answered, given up, or never asked of you"
    )]
    NothingToAnswer {
        /// Who would get it.
        asker: AgentId,
        /// What it says that it answers.
        correlation: String,
    },
    /// There is no such session, or the asker takes no part in it.
    #[error("there is no session {0} that you take part in")]
    NoSuchSession(ConversationId),
    /// A session of that id is there already.
    #[error("there is a session {0} already")]
    SessionExists(ConversationId),
    /// The session is over.
    #[error("session {0} is completed: nothing in it changes any more")]
    SessionClosed(ConversationId),
    /// Another writer was faster.
    #[error("session {id} is at version {version}, not {expected}: read it and try again")]
    SessionChanged {
        /// The session.
        id: ConversationId,
        /// The version it has.
        version: u64,
        /// The version that was expected.
        expected: u64,
    },
    /// The session would be too large.
    #[error("{0}")]
    SessionTooLarge(&'static str),
    /// All sessions together share as much as they may.
    #[error("as much is shared in sessions as may be: close some first")]
    TooMuchShared,
    /// The rules of a change have been changed again since.
    #[error("the rules of change {0} have been changed since: undo the later changes first")]
    RulesChanged(u64),
    /// More edits than can be made at once.
    #[error("{0} edits are the most that can be made at once")]
    TooManyEdits(usize),
    /// There is nothing to take away.
    #[error("{0} has no token that works")]
    NoToken(AgentId),
    /// The id cannot be an agent's.
    #[error("{0} is a name of the broker itself: it cannot have a token")]
    NoTokenFor(AgentId),
    /// The system gave no random bits.
    #[error("no random bits could be had from the system")]
    NoRandomness,
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
            | Self::TooMuchShared
            | Self::NoRoomForSchemas
            | Self::TooManyAnnounced(_)
            | Self::TooManyMailboxes(_)
            | Self::NobodyBack => Code::Busy,
            Self::OperatorOnly
            | Self::NotListed(_)
            | Self::RefusedAgent(_)
            | Self::Blocked(_)
            | Self::Forbidden { .. }
            | Self::NobodyMayHear { .. } => Code::Forbidden,
            Self::NoSuchLetter(_)
            | Self::NotAnnounced(_)
            | Self::NoSuchJob(_)
            | Self::UnknownAgent(_)
            | Self::NothingToAnswer { .. }
            | Self::NoToken(_)
            | Self::NoSuchSession(_) => Code::NotFound,
            Self::TokenMissing(_)
            | Self::MustSign(_)
            | Self::Unsigned(_)
            | Self::TokenNeeded
            | Self::UnknownToken
            | Self::WrongToken(_)
            | Self::TokenRevoked(_) => Code::Unauthorized,
            Self::LockedOut { .. } => Code::LockedOut,
            Self::Taken(_) | Self::OtherKey(_) => Code::Taken,
            Self::BadCapability { .. }
            | Self::BadAllowEntry(..)
            | Self::NoSuchKey(_)
            | Self::TooManyCapabilities(_)
            | Self::TooManySchemas(_)
            | Self::TooManyEdits(_)
            | Self::SessionTooLarge(_)
            | Self::NoTokenFor(_) => Code::InvalidRequest,
            Self::UnknownCapability { .. } => Code::UnknownCapability,
            Self::BadInput { .. } | Self::BadOutput { .. } => Code::SchemaViolation,
            Self::SessionExists(_)
            | Self::Replayed(_)
            | Self::ChangedTooOften(_)
            | Self::OwnedByToken(_)
            | Self::SessionClosed(_)
            | Self::SessionChanged { .. }
            | Self::RulesChanged(_) => Code::Conflict,
            Self::NoRandomness => Code::Internal,
            Self::StorageFailed | Self::Unreadable => Code::StorageFailed,
            Self::Stopping => Code::Stopping,
        }
    }
}
