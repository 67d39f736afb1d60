//! What is remembered: everything, in one SQLite database in the data folder.
//!
//! Read `store` for the handle, `open` and `folder` for how a folder becomes one; `record` for what can be
//! written; `queue` and `writer` for how it gets to disk: one thread commits many writes at once. The one writing connection,
//! the `pen`, belongs to the one `hand` that writes. `batch` decides what a set of writes comes to. Then one file a
//! table, each with its SQL: `agent`, `token`, `announced`, `message`, `mail`, `decision`, `delivery`, `dead_letter`,
//! `subscription`, `rule`, `session`, `conversation`, `audit`, `total`, `presence`, `figure`, `saved`, `search`, `block`, `word_list`.
//! `history` and `related` are the reading side, `moment` that of the past; `retention`, `checkpoint` and `disk` keep house,
//! `log` looks at the log before SQLite does, and `trouble` tells when the disk does not;
//! `upkeep` is what the operator can have done: `backup`, `restore`, `compact`, `damage`.
//!
//! The only crate that names sqlx, which reads, and rusqlite, which writes. It decides nothing about messages, and reads the clock only to
//! forget old ones.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod announced;
mod audit;
mod backup;
mod batch;
mod block;
mod checkpoint;
mod clock;
mod commit;
mod compact;
mod conversation;
mod damage;
mod dead_letter;
mod decision;
mod delivery;
mod disk;
mod eights;
mod error;
mod figure;
mod folder;
mod hand;
mod history;
mod housekeeping;
mod job;
mod letters;
mod log;
mod mail;
mod message;
mod moment;
mod open;
mod pen;
mod presence;
mod queue;
mod record;
mod related;
mod restore;
mod retention;
mod rows;
mod rule;
mod saved;
mod search;
mod session;
mod store;
mod subscription;
mod token;
mod total;
mod trouble;
mod upkeep;
mod word_list;
mod writer;

#[cfg(test)]
mod tests;

pub use audit::Audited;
pub use backup::Backup;
pub use commit::Commit;
pub use conversation::ConversationFilter;
pub use decision::{NamedRequest, RequestGroup};
pub use delivery::Tried;
pub use error::Error;
pub use figure::Scopes;
pub use history::MessageList;
pub use job::Replayed;
pub use letters::LetterList;
pub use moment::{PresentThen, Then};
pub use open::{Opened, Options, Restored, Synchronous};
pub use queue::{Closed, QueueFull, Ticket};
pub use record::{
    AgentRecord, AllowChange, AnnouncedRecord, AttemptRecord, DeliveryRecord, FigureRecord,
    JobRecord, LetterRecord, MailChange, PresenceRecord, Record, ReplacedDocument, RulesRecord,
    SavedChange, SessionRecord, SubscriptionRecord, TokenChange, TokenRecord, TrustChange,
};
pub use related::Relation;
pub use rule::RestoredRules;
pub use store::Store;
pub use trouble::{Trouble, TroubleKind};
pub use upkeep::{Kept, Work, WorkKind};
