//! The bus door: JSON-RPC 2.0 over WebSocket at `/`.

mod convert;
mod peer;
mod server;
mod session;
mod wire;

pub use server::router;
