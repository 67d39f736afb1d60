//! How others reach the broker: one folder a door, each with the same three files: `server`
//! (sockets), `wire` (the spec's own types) and `convert` (to and from the model, error numbers).
//!
//! `listener` accepts connections for all of them on one port, over `tls` where that is set; `guard` turns away whoever comes
//! from a web page or by a wrong name before anything is parsed; `entrance` is what they all need, `forms` shows a message as it is at each, `talk`
//! the socket of those where a frame is a message, `visitor` who speaks by requests.
//! Doors translate and never decide: what may happen is the broker's to say.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod aacp;
pub mod bus;
pub mod collaboration;
pub mod discovery;
mod entrance;
pub mod forms;
#[cfg(any(test, fuzzing))]
mod fuzzing;
pub mod guard;
pub mod listener;
pub mod lobby;
mod named;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod settings;
mod talk;
pub mod tls;
mod visitor;

pub use entrance::Entrance;
pub use settings::Limits;
