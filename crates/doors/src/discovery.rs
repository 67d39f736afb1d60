//! The discovery door: agents announce themselves and ask for each other, over HTTP at `/agents`, over
//! WebSocket at `/ws`, by datagrams, on a topic of the bus, and by documents that are found by multicast
//! DNS. The messages are the same everywhere; `read` reads and proves them, `desk` deals with them.

mod auth;
mod convert;
mod desk;
mod fault;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod read;
mod socket;
mod topic;
mod wire;

pub use desk::{Desk, OwnDocument};
pub use http::router;
pub use topic::listen as listen_to_topic;
