//! The AACP door: requests over HTTP at `/api/v1/protocol`, for agents that have no connection. What is
//! for them waits in a mailbox.

mod convert;
mod description;
mod mailbox;
mod rate;
mod server;
mod wire;

pub use server::{AacpSettings, router};
