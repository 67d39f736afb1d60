//! What is remembered: everything, in one SQLite database in the data folder.
//!
//! Read `store` for the handle, `open` and `folder` for how a folder becomes one; `record` for what can be
//! written; `queue` and `writer` for how it gets to disk: one task owns the one writing connection
//! and commits many writes at once. `batch` decides what a set of writes comes to. Then one file a
//! table, each with its SQL: `agent`, `token`, `announced`, `message`, `mail`, `decision`, `delivery`, `dead_letter`,
//! `subscription`, `rule`, `session`, `conversation`, `audit`, `total`, `search`. `history` is the reading side; `retention`, `checkpoint` and `disk` keep house.
//!
//! The only crate that names sqlx. It decides nothing about messages, and reads the clock only to
//! forget old ones.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod announced;
mod audit;
mod batch;
mod checkpoint;
mod clock;
mod commit;
mod conversation;
mod dead_letter;
mod decision;
mod delivery;
mod disk;
mod error;
mod folder;
mod history;
mod housekeeping;
mod job;
mod letters;
mod mail;
mod message;
mod open;
mod queue;
mod record;
mod retention;
mod rows;
mod rule;
mod search;
mod session;
mod store;
mod subscription;
mod token;
mod total;
mod writer;

#[cfg(test)]
mod tests;

pub use commit::Commit;
pub use decision::{NamedRequest, RequestGroup};
pub use delivery::Tried;
pub use error::Error;
pub use letters::LetterList;
pub use open::{Opened, Options, Restored, Synchronous};
pub use queue::{Closed, QueueFull, Ticket};
pub use record::{
    AgentRecord, AllowChange, AnnouncedRecord, AttemptRecord, DecisionRecord, DeliveryRecord,
    JobRecord, LetterRecord, MailChange, Record, ReplacedDocument, RulesRecord, SessionRecord,
    SubscriptionRecord, TokenChange, TokenRecord, TrustChange,
};
pub use rule::RestoredRules;
pub use store::Store;
