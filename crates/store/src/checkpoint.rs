//! Moving what was committed from the log into the database file, beside the writer and not on its
//! way: a commit someone waits for never pays for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[PASSIVE, TRUNCATE];

const PASSIVE: &str = "pragma wal_checkpoint(passive)";
const TRUNCATE: &str = "pragma wal_checkpoint(truncate)";

/// How often the log is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A log this large is moved at the next look. It is also cut to this when it begins anew.
pub(crate) const LARGE_LOG: u64 = 4 * 1024 * 1024;

/// A smaller log is moved this often.
const SMALL_LOG_EVERY: Duration = Duration::from_secs(30);

/// Moves the log while the store is open.
pub(crate) struct Checkpointer {
    pub(crate) connection: SqliteConnection,
    log: PathBuf,
    commits: Arc<AtomicU64>,
}

impl Checkpointer {
    /// With a connection of its own, the log's path, and the writer's count of commits.
    pub(crate) fn new(connection: SqliteConnection, log: PathBuf, commits: Arc<AtomicU64>) -> Self {
        Self { connection, log, commits }
    }

    /// Runs until `stop` is sent or dropped.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut moved = self.commits.load(Ordering::Relaxed);
        let mut moved_at = Instant::now();
        loop {
            tokio::select! {
                _ = &mut stop => break,
                _ = look.tick() => {}
            }
            let commits = self.commits.load(Ordering::Relaxed);
            let large =
                tokio::fs::metadata(&self.log).await.is_ok_and(|log| log.len() >= LARGE_LOG);
            if commits == moved || !(large || moved_at.elapsed() >= SMALL_LOG_EVERY) {
                continue;
            }
            match sqlx::query(PASSIVE).execute(&mut self.connection).await {
                Ok(_) => (moved, moved_at) = (commits, Instant::now()),
                Err(error) => tracing::warn!(%error, "could not move the log into the database"),
            }
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "could not close a connection to the database");
        }
    }
}

/// Moves what can be moved without anyone having to wait.
pub(crate) async fn some(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query(PASSIVE).execute(connection).await?;
    Ok(())
}

/// Moves the whole log and empties it; for the end, when nobody else reads.
pub(crate) async fn finish(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query(TRUNCATE).execute(connection).await?;
    Ok(())
}
