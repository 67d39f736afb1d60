//! How much room is left.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::{Error, Options};

/// How old an answer may be. Asking is cheap, but not free for each of thousands of batches.
const FRESH: Duration = Duration::from_secs(1);

const MB: u64 = 1024 * 1024;

/// Refuses new messages before the disk is so full that what is already accepted could not be
/// dealt with.
pub(crate) struct DiskGuard {
    folder: PathBuf,
    options: watch::Receiver<Options>,
    asked: Option<(Instant, u64)>,
}

impl DiskGuard {
    /// Wants as much left on the disk that holds the folder as the options say.
    pub(crate) fn new(folder: PathBuf, options: watch::Receiver<Options>) -> Self {
        let asked = None;
        Self { folder, options, asked }
    }

    /// Whether there is room for more messages.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        let needed_mb = self.options.borrow().disk_free_mb;
        let free_mb = match self.asked {
            Some((at, free_mb)) if at.elapsed() < FRESH => free_mb,
            Some(_) | None => {
                let free = fs4::available_space(&self.folder).unwrap_or_else(|error| {
                    // Not knowing is no reason to refuse; a full disk will show itself.
                    tracing::warn!(%error, "cannot tell how much room is left on the disk");
                    u64::MAX
                });
                let free_mb = free / MB;
                if free_mb < needed_mb {
                    tracing::error!(free_mb, "the disk is nearly full; new messages are refused");
                }
                self.asked = Some((Instant::now(), free_mb));
                free_mb
            }
        };
        if free_mb >= needed_mb {
            return Ok(());
        }
        Err(Error::DiskNearlyFull { free_mb, needed_mb })
    }
}
