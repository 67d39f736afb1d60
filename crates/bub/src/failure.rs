//! How a command ends when it does not simply succeed.

use std::io;
use std::process::ExitCode;

use bub::Error;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was asked for in a wrong way.
    Usage(String),
    /// It was refused, or something failed.
    Failed(String),
    /// It was refused, and the refusal has been printed as the result.
    Shown,
    /// Whoever read its output has seen enough.
    ReaderGone,
}

impl Failure {
    /// What to tell the person, if anything.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            Self::Usage(words) | Self::Failed(words) => Some(words),
            Self::Shown | Self::ReaderGone => None,
        }
    }

    /// What to tell the shell.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) | Self::Shown => ExitCode::from(1),
            Self::ReaderGone => ExitCode::SUCCESS,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Failed(format!("cannot write: {error}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(format!("the broker's answer cannot be read: {error}"))
    }
}
