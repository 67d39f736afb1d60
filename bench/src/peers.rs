//! The servers that are compared: Switchboard, others of its kind, and bare limits. Each is started afresh for a
//! scenario, on a spare port of this machine, with a folder of its own that is deleted afterwards.

pub(crate) mod disk;
pub(crate) mod nats;
pub(crate) mod relay;
pub(crate) mod switchboard;

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::process::Process;

/// A running server.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    /// Where it keeps what it keeps.
    pub(crate) folder: PathBuf,
}
