//! Everything that can go wrong for a client, each with what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be one of a broker.
    #[error("{url} is not a broker's address ({reason}): it looks like ws://127.0.0.1:7892")]
    BadAddress {
        /// The address as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing accepts connections there.
    #[error("nothing listens at {url}: start Switchboard, or set BUB_BUS_URL")]
    NothingListens {
        /// The address.
        url: String,
    },
    /// The network did not let us through.
    #[error("cannot reach {url}: {source}")]
    Unreachable {
        /// The address.
        url: String,
        /// What the system said.
        source: io::Error,
    },
    /// Something listens, but it does not speak our protocol or does not want us.
    #[error("{url} did not let us in: {reason}")]
    Turned {
        /// The address.
        url: String,
        /// What it said.
        reason: String,
    },
    /// Something listens, but the two could not agree to trust each other.
    #[error("cannot speak with {url} over TLS: {reason}")]
    Untrusted {
        /// The address.
        url: String,
        /// What is wrong, and what would help.
        reason: String,
    },
    /// Something listens, but it does not answer.
    #[error("{url} did not answer within {seconds} seconds: is it Switchboard?")]
    Silent {
        /// The address.
        url: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The bus understood and refused.
    #[error("the bus refused: {message} ({code})")]
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// The bus's words.
        message: String,
    },
    /// The connection ended before the answer.
    #[error("the connection to the bus ended: {reason}")]
    Ended {
        /// What is known of the cause.
        reason: String,
    },
    /// The answer has another shape than the protocol's.
    #[error("the answer to {method} cannot be read: {source}")]
    Unreadable {
        /// What was asked.
        method: String,
        /// Where it went wrong.
        source: serde_json::Error,
    },
    /// No broker says that it runs with this data folder.
    #[error(
        "no broker is running with the data folder {}: start Switchboard, or give --data-dir",
        folder.display()
    )]
    NotRunning {
        /// The folder.
        folder: PathBuf,
    },
    /// A broker left its address behind without a goodbye.
    #[error(
        "the broker that used {} is gone ({url} does not answer): start Switchboard again",
        folder.display()
    )]
    Gone {
        /// The folder.
        folder: PathBuf,
        /// The address it had.
        url: String,
    },
    /// A file in the data folder cannot be used.
    #[error("cannot use {}: {reason}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The console understood and refused.
    #[error("{message}")]
    CallRefused {
        /// The broker's code, such as `unauthorized`.
        code: String,
        /// The broker's words.
        message: String,
    },
}
