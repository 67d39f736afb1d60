//! Why the broker did not start, in words that say what to do.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the broker did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings file cannot be read.
    #[error("cannot read the settings in {}: {source}", path.display())]
    SettingsUnreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The settings file says something that cannot be.
    #[error("the settings in {} are wrong: {reason}", path.display())]
    SettingsWrong {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A command line argument cannot be.
    #[error("{0}")]
    ArgumentWrong(String),
    /// Other machines could reach the broker, and something that must protect it is missing.
    #[error(
        "{address} can be reached from other machines, and that needs {missing}; or listen on \
         127.0.0.1 or [::1]"
    )]
    Unprotected {
        /// The address.
        address: SocketAddr,
        /// What is missing and how to get it.
        missing: String,
    },
    /// The files for TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] switchboard_doors::tls::Error),
    /// There is no home, so there is no default data folder.
    #[error("there is no home folder to keep data in: give --data-dir")]
    NoDataDir,
    /// Someone else has the port.
    #[error(
        "cannot listen on {address}: {source}. Another program may have the port: stop it, or give \
         another with --listen"
    )]
    CannotListen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] switchboard_store::Error),
    /// A file in the data folder cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    CannotWrite {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl StartError {
    /// 2 for wrong settings, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::SettingsUnreadable { .. }
            | Self::SettingsWrong { .. }
            | Self::ArgumentWrong(_)
            | Self::Unprotected { .. }
            | Self::Tls(_)
            | Self::NoDataDir => 2,
            Self::CannotListen { .. } | Self::Store(_) | Self::CannotWrite { .. } => 1,
        }
    }
}
