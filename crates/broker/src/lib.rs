//! What happens: decides what becomes of a command, and makes it so.
//!
//! Read `broker` for the one way in, then `core`, the one task that owns all state. `registry`,
//! `identity`, `rules`, `schemas`, `subscriptions`, `route`, `dispatch`, `retry` and `queue` are the
//! questions it asks, in that order; `calls` are the requests that wait for an answer, `sessions` what
//! agents share, `announced` whom to believe that was announced; `parking` keeps what nobody can take yet, `receipts` what must not be answered before it is on
//! disk, `replies` how that is answered, `deadlines` what must not take forever, and `agenda` what is to be done when; `numbers` finds things by theirs. `figures` counts beside all that.
//! Knows nothing of sockets or JSON-RPC. Never waits for a recipient or a screen, and for the disk
//! only where what must not be lost finds no room.
// Adding a variant to one of our enums shows every place that has to decide about it.
#![warn(clippy::wildcard_enum_match_arm)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agenda;
mod announced;
mod broker;
mod calls;
mod clock;
mod core;
mod deadlines;
mod dispatch;
mod figures;
mod identity;
mod mail;
mod metrics;
mod numbers;
mod parking;
mod queue;
mod receipts;
mod refusal;
mod registry;
mod replies;
mod retry;
mod route;
mod rules;
mod schemas;
mod sessions;
mod settings;
mod subscriptions;

pub use announced::Listed;
pub use broker::{Broker, Caller, Cut, Link, Outgoing, Putting, Scissors};
pub use clock::now;
pub use figures::{Busy, Stretch};
pub use metrics::{Histogram, Metrics};
pub use queue::Escalation;
pub use refusal::Refusal;
pub use replies::{PendingReply, Replied, Replies, ReplyLine, reply_line};
pub use retry::RetryRule;
pub use rules::Rules;
pub use schemas::InvalidSchema;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use schemas::fuzzing;
pub use settings::{DiscoveryRules, Settings};
