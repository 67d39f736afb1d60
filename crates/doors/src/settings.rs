//! What an operator can set about connections.

use std::time::Duration;

/// Limits that hold at every door.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at the same time.
    pub connections: usize,
    /// The longest message, in bytes.
    pub message_bytes: usize,
    /// The longest message from someone who has not said who they are.
    pub preauth_bytes: usize,
    /// The longest registration, with its schemas.
    pub register_bytes: usize,
    /// How long someone may take to say who they are.
    pub preauth: Duration,
    /// How long writing to a connection may take before it is given up as stuck.
    pub write: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            message_bytes: 1 << 20,
            preauth_bytes: 8 << 10,
            register_bytes: 64 << 10,
            preauth: Duration::from_secs(5),
            write: Duration::from_secs(10),
        }
    }
}
