//! Why certificates and keys cannot be used, in words that say what to do.

use std::io;
use std::path::PathBuf;

/// What is wrong with the files for TLS.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {what} in {}: {source}", path.display())]
    Unreadable {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file holds nothing of what it should.
    #[error("there is no {what} in {}: give a PEM or DER file that holds one", path.display())]
    Missing {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A file holds something that is not what it says.
    #[error("the {what} in {} cannot be used: {reason}", path.display())]
    Malformed {
        /// What it should hold.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The key is another certificate's.
    #[error(
        "the private key in {} does not belong to the certificate in {}: give the two that were \
         made together",
        key.display(),
        cert.display()
    )]
    Mismatch {
        /// The certificate.
        cert: PathBuf,
        /// The key.
        key: PathBuf,
    },
}
