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
    /// Datagrams cannot be sent to such an address.
    #[error(
        "{group:?} is no group for datagrams, since {reason}: write ADDRESS:PORT with a multicast or \
         broadcast address, such as \"239.255.78.92:7893\", \"[ff02::7892]:7893\" or \
         \"255.255.255.255:7893\""
    )]
    Group {
        /// What was given.
        group: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A registry cannot be at such an address.
    #[error(
        "{url:?} is no registry, since {reason}: write https://HOST[:PORT][/BASE]; http:// is for \
         this machine alone"
    )]
    Registry {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A registry's certificate could not be judged.
    #[error("the certificates to trust cannot be read from {file}: {reason}")]
    Certificates {
        /// Where they should be.
        file: String,
        /// What is wrong there.
        reason: String,
    },
}
