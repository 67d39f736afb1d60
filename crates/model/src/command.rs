//! What a caller may ask of the broker, and what it is told.

use std::sync::Arc;
use std::time::Duration;

use crate::{
    Ack, Address, AgentId, AgentStatus, AgentView, AllowEntry, AnnouncedView, Announcement, Answer,
    Arrival, AttemptId, Capability, Context, ConversationId, DeadMessage, Declared, Dialect,
    IssuedToken, JobId, JobView, Kind, Label, Lifecycle, ListenFilter, Mechanism, MessageId,
    MessageState, NewJob, NewSession, Pattern, Payload, Policy, Priority, RuleChange, RuleEdit,
    SavedKind, Secret, Session, SessionUpdate, SubscriptionId, Timestamp, Topic, TurnedAway,
};

/// Everything that can change anything. Every door, the operator and discovered peers speak this.
#[derive(Clone, Debug)]
pub enum Command {
    /// Say who is at the other end of this connection.
    Join(Join),
    /// Make an agent known and give it a token, without a connection that speaks for it.
    Register(Join),
    /// Speak for an agent while this connection lasts, without being connected as that agent.
    Visit(Visit),
    /// The owner of a mailbox has fetched these messages, named by their seqs.
    Collect(Vec<u64>),
    /// The owner of a mailbox says what became of a message.
    Mark(Mark),
    /// Show another token than the one this connection joined with. A wrong one counts as a try.
    Prove(Secret),
    /// Say what the speaker can do, beside what it said before or in its place.
    Declare {
        /// New ones, and new versions of old ones.
        capabilities: Vec<Declared>,
        /// The names of those that are no more.
        withdrawn: Vec<String>,
    },
    /// Say whether the speaker takes requests.
    SetStatus(AgentStatus),
    /// Look for agents by what they can do.
    Find(Find),
    /// Open a session.
    OpenSession(NewSession),
    /// Read or change a session.
    UpdateSession(SessionUpdate),
    /// Say goodbye. A connection that ends without it means the same.
    Leave,
    /// Listen to topics.
    Subscribe {
        /// The topics.
        pattern: Pattern,
        /// When the chain stops; the broker's default if none.
        policy: Option<Policy>,
        /// Which messages on those topics; all if none.
        filter: Option<Arc<ListenFilter>>,
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
    /// Make, change and take away rules, all or none. Only the operator may.
    EditRules {
        /// What to do.
        edits: Vec<RuleEdit>,
        /// The operator's words.
        note: Option<String>,
        /// The change that is taken back by this; refused if its rules have changed since.
        undoes: Option<Box<RuleChange>>,
    },
    /// Give an agent a token; an older one stops working. Only the operator may.
    IssueToken {
        /// Whose it will be; made known if it is not.
        agent: AgentId,
        /// The highest priority its messages get.
        ceiling: Priority,
    },
    /// Take an agent's token away: its connections end, and it cannot join. Only the operator may.
    RevokeToken {
        /// Whose.
        agent: AgentId,
    },
    /// End every connection of an agent; it may come back. Only the operator may.
    Disconnect(AgentId),
    /// Keep an agent out by every door, or let it in again. It keeps its name, its rules and its
    /// mailbox; what others send to it waits, as for any agent that is away. Only the operator may.
    Block {
        /// Which.
        agent: AgentId,
        /// Whether it is to be kept out.
        blocked: bool,
    },
    /// Give an agent a name of the operator's own, which is for people and no address. Only the operator
    /// may.
    NameAgent {
        /// Which.
        agent: AgentId,
        /// The name; none takes it away.
        label: Option<Label>,
    },
    /// An agent was announced.
    Appear(Box<Announcement>, Arrival),
    /// An announcement could not even be read, or its proof was bad.
    TurnAway(TurnedAway),
    /// An announced agent is no longer there: by one way, or by none at all.
    Vanish {
        /// Which.
        agent: AgentId,
        /// By which way it is not found any more; by none of them if none.
        mechanism: Option<Mechanism>,
    },
    /// Let an announced agent in. Only the operator may.
    Admit {
        /// Which.
        agent: AgentId,
        /// The key that is meant, where that is another than the known one.
        fingerprint: Option<String>,
    },
    /// Turn an announced agent away, now and from now on. Only the operator may.
    RefuseAgent(AgentId),
    /// Forget what was decided about an announced agent. Only the operator may.
    ForgetAgent(AgentId),
    /// Change who may announce themselves. Only the operator may.
    EditAllowList {
        /// Entries that are new, or have new words.
        add: Vec<AllowEntry>,
        /// The patterns of those that go.
        remove: Vec<String>,
    },
    /// Keep something for another time, in the place of what has the same name. Only the operator may.
    Keep {
        /// What it is.
        kind: SavedKind,
        /// Its name.
        name: String,
        /// What it says; none forgets it.
        text: Option<String>,
    },
    /// Write down what was done beside the broker, for whoever asks later. Only the operator may.
    Note {
        /// What was done.
        action: &'static str,
        /// To what, and how.
        subjects: Vec<(String, Option<String>)>,
    },
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
    /// What it can do; none leaves what was declared before, and so does a name alone.
    pub capabilities: Option<Vec<Declared>>,
    /// Its token, if it has one.
    pub token: Option<Secret>,
    /// Whether it is to get a token if it has none.
    pub wants_token: bool,
    /// Whether it takes requests, if it says.
    pub status: Option<AgentStatus>,
    /// Whether it promises to be heard of regularly.
    pub heartbeats: bool,
}

impl Join {
    /// Someone of whom no more is known than this.
    pub fn of(agent: AgentId, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            agent,
            name: name.into(),
            version: version.into(),
            capabilities: None,
            token: None,
            wants_token: false,
            status: None,
            heartbeats: false,
        }
    }
}

/// Who speaks, without being connected: an agent that only makes requests over HTTP.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Who it says it is; needed only where it shows no token.
    pub agent: Option<AgentId>,
    /// The token, by which it is known.
    pub token: Option<Secret>,
}

/// What became of a message in a mailbox.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The message's seq.
    pub message: u64,
    /// Whether it failed; else it was processed.
    pub failed: bool,
    /// The owner's words.
    pub words: Option<String>,
}

/// Whom to look for. The asker itself and what it may not call are never found.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Has all of these.
    pub required: Vec<String>,
    /// Those with more of these come first.
    pub preferred: Vec<String>,
    /// Can be found by one of these words; anything will do if there are none.
    pub keywords: Vec<String>,
}

/// An agent that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its id.
    pub agent: AgentId,
    /// Its program's name.
    pub name: String,
    /// Its program's version.
    pub version: String,
    /// Whether it takes requests.
    pub status: AgentStatus,
    /// Since when it is connected.
    pub since: Timestamp,
    /// What it can do, as far as the asker may call it.
    pub capabilities: Vec<Capability>,
    /// The names of those that it was found by.
    pub relevant: Vec<String>,
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
    /// What it carries, in the words of `dialect`.
    pub payload: Payload,
    /// In which door's words the payload is written.
    pub dialect: Dialect,
    /// Trace and depth, where there are any.
    pub context: Option<Arc<Context>>,
    /// How long the sender waits for an answer, if it does; the broker's own time if it does not say.
    pub answer_within: Option<Duration>,
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
#[derive(Clone, Debug)]
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
    /// Who was found, best first.
    Found(Vec<Found>),
    /// The session is as it is now.
    Session(Box<Session>),
    /// The rules are as this change left them.
    Rules(Box<RuleChange>),
    /// A token was made.
    Token(IssuedToken),
    /// An agent is as it is now.
    Agent(Box<AgentView>),
    /// What an announcement came to.
    Appeared(Appeared),
    /// An announced agent is as it is now.
    Announced(Box<AnnouncedView>),
    /// The messages were fetched, but for those that a rule keeps back, by their seqs.
    Collected {
        /// These.
        refused: Vec<u64>,
    },
    /// It is done; there is nothing more to say.
    Done,
}

impl Reply {
    /// The receipt of a message that was sent.
    pub fn sent(self) -> Option<Receipt> {
        if let Self::Sent(receipt) = self { Some(receipt) } else { None }
    }

    /// What a joining agent learns.
    pub fn joined(self) -> Option<Joined> {
        if let Self::Joined(joined) = self { Some(joined) } else { None }
    }

    /// The subscription that is in force.
    pub fn subscribed(self) -> Option<SubscriptionId> {
        if let Self::Subscribed(id) = self { Some(id) } else { None }
    }

    /// Who was found.
    pub fn found(self) -> Option<Vec<Found>> {
        if let Self::Found(found) = self { Some(found) } else { None }
    }

    /// A session.
    pub fn session(self) -> Option<Session> {
        if let Self::Session(session) = self { Some(*session) } else { None }
    }

    /// A job.
    pub fn job(self) -> Option<JobView> {
        if let Self::Job(job) = self { Some(*job) } else { None }
    }

    /// How many dead letters were taken in.
    pub fn imported(self) -> Option<usize> {
        if let Self::Imported(count) = self { Some(count) } else { None }
    }

    /// A change of the rules.
    pub fn rules(self) -> Option<RuleChange> {
        if let Self::Rules(change) = self { Some(*change) } else { None }
    }

    /// What an announcement came to.
    pub fn appeared(self) -> Option<Appeared> {
        if let Self::Appeared(appeared) = self { Some(appeared) } else { None }
    }

    /// An agent.
    pub fn agent(self) -> Option<AgentView> {
        if let Self::Agent(view) = self { Some(*view) } else { None }
    }

    /// An announced agent.
    pub fn announced(self) -> Option<AnnouncedView> {
        if let Self::Announced(view) = self { Some(*view) } else { None }
    }

    /// Which messages a rule keeps back from the owner of a mailbox.
    pub fn kept_back(self) -> Option<Vec<u64>> {
        if let Self::Collected { refused } = self { Some(refused) } else { None }
    }

    /// A token that was made.
    pub fn token(self) -> Option<IssuedToken> {
        if let Self::Token(issued) = self { Some(issued) } else { None }
    }
}

/// What an announcement came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appeared {
    /// The agent is found from now on.
    Accepted,
    /// The operator has to decide first.
    Waiting,
}

/// What a joining agent learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The broker's own name.
    pub server: AgentId,
    /// The agent's own, which may be another than the alias it came with.
    pub agent: AgentId,
    /// Its token: a new one if it was given one, else the one it showed.
    pub token: Option<Secret>,
}

/// Proof that a message is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The message's id.
    pub message: MessageId,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// Where the message is now.
    pub state: MessageState,
    /// Whether a recipient stopped the chain.
    pub stopped: bool,
    /// What each recipient said.
    pub acks: Vec<Ack>,
}
