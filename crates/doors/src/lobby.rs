//! The lobby door: one JSON message a frame at `/lobby`; or `POST /api/register`, then a WebSocket at
//! `/ws/{agent_id}?token=`.

mod convert;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod server;
mod session;
mod wire;

pub use server::router;

/// A message as it is here, for people to see.
pub(crate) fn text_of(message: &switchboard_model::Message, receiver: &str) -> String {
    convert::deliver(message, receiver)
}
