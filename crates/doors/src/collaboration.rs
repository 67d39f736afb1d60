//! The collaboration door: one JSON message a frame at `/collab`, or an endpoint in this program.

mod convert;
mod endpoint;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod router;
mod server;
mod session;
mod wire;

pub use endpoint::{Endpoint, EndpointError, RetryConfig};
pub use server::router as routes;
pub use wire::ErrorInfo;

/// A message as it is here, for people to see.
pub(crate) fn text_of(message: &switchboard_model::Message, receiver: &str) -> String {
    convert::deliver(message, receiver)
}
