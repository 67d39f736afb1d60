//! What things are: the words of Switchboard as types. No I/O, no async, no clock.
//!
//! Read `id`, `agent`, `topic`, `message`, `delivery`, `letter`, `rule`, `token`, `session`, `mail` and `trace`
//! for the nouns, `announced` for those that were heard of before they came; `dialect` for how one call is written at each door, with `object` for JSON that stays
//! the text it was; `command` for what a caller may ask and what it is told; `event` for what others
//! may watch; `view`, `route` and `job` for what the operator sees, `filter` for which of it, by which `search_words`, and `listen` for
//! what a subscriber wants, `figures` for how busy something was; `code` for every way to be refused, `words` for how much is said about it. `fail` makes a part fail, for tests.
// Adding a variant to one of our enums shows every place that has to decide about it.
#![warn(clippy::wildcard_enum_match_arm)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod announced;
mod code;
mod command;
mod conversation;
mod delivery;
mod dialect;
mod event;
mod fail;
mod figures;
mod filter;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod id;
mod job;
mod label;
mod letter;
mod listen;
mod mail;
mod message;
mod object;
mod route;
mod rule;
mod saved;
mod search_words;
mod session;
mod timestamp;
mod token;
mod topic;
mod trace;
mod view;
mod words;

pub use agent::{AgentStatus, Capability, Declared, Door, Lifecycle};
pub use announced::{
    AllowEntry, AnnouncedView, Announcement, Arrival, KeyChange, KeyView, Mechanism, RetiredKey,
    SeenBy, Transport, Trust, TrustedBy, TurnedAway,
};
pub use code::Code;
pub use command::{
    Appeared, Command, Find, Found, Join, Joined, Mark, Receipt, Replay, Reply, Send, Visit, Wait,
};
pub use conversation::{ConversationMessage, ConversationRow, SessionView};
pub use delivery::{Ack, Again, Answer, AttemptOutcome, DeadReason, DeliveryState, Policy};
pub use dialect::{Call, Dialect, Failure, Outcome};
pub use event::{Event, Events};
pub use fail::fail_here;
pub use figures::{Scope, Tally, Times};
pub use filter::MessageFilter;
pub use id::{
    AgentId, AttemptId, ConnectionId, ConversationId, DeliveryId, InvalidId, JobId, MessageId,
    SubscriptionId,
};
pub use job::{JobAction, JobKind, JobStatus, JobView, NewJob};
pub use label::{InvalidLabel, Label};
pub use letter::{DeadMessage, Letter, LetterFilter, LetterRow, LetterStatus};
pub use listen::{Expression, InvalidFilter, ListenFilter};
pub use mail::{Mail, MailPage, MailStatus};
pub use message::{Address, InvalidPayload, Kind, Message, MessageState, Payload, Priority};
pub use object::Object;
pub use route::{Fate, Obstacle, RouteStep, RouteView, WhatIf};
pub use rule::{
    ChangedRule, DecidedBy, Decision, Effect, Precision, Rule, RuleChange, RuleEdit, RuleId,
    RulePart,
};
pub use saved::{Saved, SavedKind};
pub use search_words::each_search_word;
pub use session::{
    MessageSummary, NewSession, Session, SessionChange, SessionStatus, SessionUpdate,
};
pub use timestamp::Timestamp;
pub use token::{IssuedToken, Secret, TokenView};
pub use topic::{InvalidTopic, Pattern, Shape, Topic};
pub use trace::{Context, Trace};
pub use view::{
    AgentView, AttemptView, DeliveryView, MessageDetail, MessageRow, SubscriptionView, Totals,
};
pub use words::in_short;
