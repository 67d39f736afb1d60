//! Why discovery cannot start.

/// What is wrong, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nowhere to speak.
    #[error("no interface is named: name at least one in [discovery] interfaces, such as \"lo\"")]
    NoInterface,
    /// What should be announced cannot be.
    #[error("the broker cannot be announced: {0}")]
    Announcement(String),
    /// Multicast DNS does not work here.
    #[error("multicast DNS failed: {0}")]
    Mdns(#[from] mdns_sd::Error),
}
