//! What things are: the words of Switchboard as types. No I/O, no async, no clock.
//!
//! Read `id`, `agent`, `topic`, `message`, `delivery` and `letter` for the nouns; `command` for what
//! a caller may ask and what it is told; `event` for what others may watch; `view`, `route` and `job`
//! for what the operator sees and `filter` for which of it; `code` for every way to be refused.
// Adding a variant to one of our enums shows every place that has to decide about it.
#![warn(clippy::wildcard_enum_match_arm)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod code;
mod command;
mod delivery;
mod event;
mod filter;
mod id;
mod job;
mod letter;
mod message;
mod route;
mod timestamp;
mod topic;
mod view;

pub use agent::{AgentStatus, Capability, Door, Lifecycle};
pub use code::Code;
pub use command::{Command, Join, Joined, Receipt, Replay, Reply, Send, Wait};
pub use delivery::{Ack, Again, Answer, AttemptOutcome, DeadReason, DeliveryState, Policy};
pub use event::Event;
pub use filter::{MessageFilter, search_words};
pub use id::{
    AgentId, AttemptId, ConnectionId, ConversationId, DeliveryId, InvalidId, JobId, MessageId,
    SubscriptionId,
};
pub use job::{JobAction, JobKind, JobStatus, JobView, NewJob};
pub use letter::{DeadMessage, Letter, LetterFilter, LetterRow, LetterStatus};
pub use message::{Address, InvalidPayload, Kind, Message, MessageState, Payload, Priority};
pub use route::{Fate, RouteStep, RouteView};
pub use timestamp::Timestamp;
pub use topic::{InvalidTopic, Pattern, Shape, Topic};
pub use view::{
    AgentView, AttemptView, DeliveryView, MessageDetail, MessageRow, SubscriptionView, Totals,
};
