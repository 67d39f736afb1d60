//! The AACP door: requests over HTTP at `/api/v1/protocol`, for agents that have no connection. What is
//! for them waits in a mailbox.

mod convert;
mod description;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod mailbox;
mod rate;
mod server;
mod wire;

pub use server::{AacpSettings, router};

/// A message as it is here, for people to see; none where it is in no mailbox.
pub(crate) fn text_of(mail: &switchboard_model::Mail) -> Option<String> {
    serde_json::to_string(&convert::view(mail)?).ok()
}
