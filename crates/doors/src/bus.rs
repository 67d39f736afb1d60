//! The bus door: JSON-RPC 2.0 over WebSocket at `/`.

mod convert;
mod fields;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod peer;
mod server;
mod session;
mod text;
mod wire;

pub use server::router;

/// A message as a request by this method, for people to see.
pub(crate) fn text_of(method: &str, message: &switchboard_model::Message) -> String {
    let topic = message.address.topic();
    let payload = message.payload_in(switchboard_model::Dialect::Bus);
    let head = convert::head(message, topic.as_str());
    wire::delivery(method, message.seq, &head, payload.as_str())
}
