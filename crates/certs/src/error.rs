//! What can go wrong, with what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a certificate was not made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody has made an authority there.
    #[error("there is no authority in {}: make one with bub tls make", dir.display())]
    NoAuthority {
        /// The folder.
        dir: PathBuf,
    },
    /// A file is not what it should be.
    #[error("cannot use {}: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    CannotWrite {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A name that a certificate cannot carry.
    #[error("{name:?} cannot be in a certificate: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// What would be right.
        reason: &'static str,
    },
    /// Another authority's certificate, or none.
    #[error("this authority has issued no certificate {serial}: bub tls list shows those it has")]
    Unknown {
        /// The serial number as given.
        serial: String,
    },
    /// The authority's own certificate.
    #[error(
        "the authority cannot revoke itself: take its certificate out of client_ca, and make another \
         in another folder"
    )]
    Itself,
    /// The library that makes certificates failed.
    #[error("the certificate could not be made: {0}")]
    Making(#[from] rcgen::Error),
}
