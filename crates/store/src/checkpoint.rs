//! Moving what was committed from the log into the database file, beside the writer and not on its
//! way: a commit someone waits for does not pay for it.
//!
//! The log begins anew only when all of it is moved, and while somebody writes there is always a little more. So the
//! writer moves that little itself, after it has told of its commit. Then the log is written over from its beginning,
//! again and again: that costs a disk less than a file that grows.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use sqlx::sqlite::SqliteConnection;
use tokio::sync::oneshot;

use crate::pen::Pen;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[PASSIVE, TRUNCATE];

pub(crate) const PASSIVE: &str = "pragma wal_checkpoint(passive)";
const TRUNCATE: &str = "pragma wal_checkpoint(truncate)";

/// A log of so many pages is moved at once: soon, so that it is soon written over. Where so much is written that it would
/// be moved again and again, it may become larger.
const LARGE: u64 = 2_048;
const LARGEST: u64 = 8_192;
/// A log that is moved again sooner than this may become larger, and one that lasts longer than that smaller.
const OFTEN: Duration = Duration::from_millis(400);
const SELDOM: Duration = Duration::from_secs(10);
/// The writer moves the log itself where it has come to this, because nobody else did.
const TOO_LARGE: u64 = 65_536;
/// So little is left to the writer: it takes about as long as a commit.
const LITTLE: u64 = 64;
/// How often what was written meanwhile is moved, too, before the rest is left to the writer.
const TURNS: usize = 2;
/// A smaller log is moved this often.
const SMALL_LOG_EVERY: Duration = Duration::from_secs(30);
/// In bytes: to this the file is cut when the log begins anew. As large as it is under load, so that it need not
/// grow again.
pub(crate) const KEPT_LOG: u64 = 48 << 20;
/// How far the checkpointer steps back for those who wait for an answer.
#[cfg(target_os = "linux")]
const STEP_BACK: i32 = 10;

/// What the writer and the checkpointer know of the log.
#[derive(Default)]
struct Log {
    commits: AtomicU64,
    /// As many as there were at the last commit.
    pages: AtomicU64,
    /// The writer is to move the rest of it.
    rest: AtomicBool,
}

/// The writer's end.
pub(crate) struct LogWatch {
    log: Arc<Log>,
    news: SyncSender<()>,
    /// So many pages are to be moved.
    large: u64,
    /// At so many pages somebody has to do something.
    mark: u64,
    /// It has come to so much that the writer has to move it, whoever else does.
    too_large: bool,
    began: Instant,
}

impl LogWatch {
    fn new(news: SyncSender<()>) -> Self {
        let began = Instant::now();
        Self { log: Arc::default(), news, large: LARGE, mark: LARGE, too_large: false, began }
    }

    /// The log has so many pages after what was committed now.
    pub(crate) fn written(&mut self, pages: u64, now: Instant) {
        self.log.commits.fetch_add(1, Ordering::Relaxed);
        if self.log.pages.swap(pages, Ordering::Relaxed) > pages {
            self.begun_anew(now);
        }
        let grown = pages >= self.mark;
        if grown {
            self.mark = pages + self.large;
            match self.news.try_send(()) {
                // It knows already, or it has ended, which is said where it happens.
                Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
            }
        }
        self.too_large |= grown && pages >= TOO_LARGE;
    }

    /// Whether the writer has to move what is left of the log.
    pub(crate) fn is_wanted(&self) -> bool {
        self.too_large || self.log.rest.load(Ordering::Relaxed)
    }

    /// The same, for the writer that does so now.
    pub(crate) fn take_wish(&mut self) -> bool {
        let is_rest = self.log.rest.swap(false, Ordering::Relaxed);
        std::mem::take(&mut self.too_large) || is_rest
    }

    fn begun_anew(&mut self, now: Instant) {
        let lasted = now.duration_since(std::mem::replace(&mut self.began, now));
        if lasted < OFTEN {
            self.large = (self.large * 2).min(LARGEST);
        } else if lasted > SELDOM {
            self.large = (self.large / 2).max(LARGE);
        }
        self.mark = self.large;
    }
}

/// Moves the log while the store is open, on a thread of its own. It ends with the writer.
pub(crate) struct Checkpointer {
    pen: Pen,
    log: Arc<Log>,
    news: Receiver<()>,
}

/// Both ends; the checkpointer's with a pen of its own.
pub(crate) fn watch(pen: Pen) -> (LogWatch, Checkpointer) {
    let (sender, news) = sync_channel(1);
    let watch = LogWatch::new(sender);
    let log = Arc::clone(&watch.log);
    (watch, Checkpointer { pen, log, news })
}

impl Checkpointer {
    /// Starts the thread. When it has ended, the receiver hears of it.
    pub(crate) fn start(self) -> io::Result<oneshot::Receiver<()>> {
        let (ended, end) = oneshot::channel();
        let work = move || {
            step_back();
            self.run();
            if ended.send(()).is_err() {
                tracing::debug!("nobody waited for the checkpointer");
            }
        };
        std::thread::Builder::new().name("checkpointer".to_owned()).spawn(work)?;
        Ok(end)
    }

    fn run(self) {
        let mut moved = 0;
        loop {
            match self.news.recv_timeout(SMALL_LOG_EVERY) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let commits = self.log.commits.load(Ordering::Relaxed);
            if commits == moved {
                continue;
            }
            match self.move_log() {
                Ok(()) => moved = commits,
                Err(error) => tracing::warn!(%error, "could not move the log into the database"),
            }
        }
    }

    /// Moves the log, and where it is written to at the same time, leaves the end of it to the writer.
    fn move_log(&self) -> rusqlite::Result<()> {
        for _ in 0..TURNS {
            let moved = self.pen.move_log()?;
            // SQLite tells of the log as it was when this began.
            let left = self.log.pages.load(Ordering::Relaxed).saturating_sub(moved);
            if left == 0 {
                return Ok(());
            }
            if left <= LITTLE {
                break;
            }
        }
        self.log.rest.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// On Linux a thread has a priority of its own; elsewhere it would be everybody's.
#[cfg(target_os = "linux")]
fn step_back() {
    if let Err(error) = rustix::process::setpriority_process(None, STEP_BACK) {
        tracing::debug!(%error, "the checkpointer runs with everybody's priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn step_back() {}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> (LogWatch, Receiver<()>) {
        let (sender, news) = sync_channel(1);
        (LogWatch::new(sender), news)
    }

    #[test]
    fn a_log_is_told_of_once_whenever_it_has_grown() {
        let (mut watch, news) = ends();
        let now = Instant::now();
        let mut told = |pages| {
            watch.written(pages, now);
            news.try_recv().is_ok()
        };
        assert!(!told(LARGE - 1), "small");
        assert!(told(LARGE), "large");
        assert!(!told(LARGE + 1), "it is known");
        assert!(told(2 * LARGE), "it has grown by as much again");
        assert!(!told(3), "it began anew");
    }

    #[test]
    fn a_log_that_is_moved_often_may_become_larger() {
        let (mut watch, _news) = ends();
        let mut now = Instant::now();
        let mut after = |lasted| {
            now += lasted;
            watch.written(LARGE, now);
            watch.written(1, now);
            watch.mark
        };
        assert_eq!(after(OFTEN), LARGE);
        assert_eq!(after(OFTEN / 2), 2 * LARGE);
        assert_eq!(after(OFTEN / 2), 4 * LARGE);
        assert_eq!(after(OFTEN / 2), LARGEST);
        assert_eq!(after(SELDOM), LARGEST, "neither often nor seldom");
        assert_eq!(after(SELDOM * 2), LARGEST / 2);
    }

    #[test]
    fn the_writer_moves_what_it_is_asked_to_and_what_nobody_moves() {
        let (mut watch, _news) = ends();
        let now = Instant::now();
        let is_asked = |watch: &mut LogWatch, pages| {
            watch.written(pages, now);
            let is_wanted = watch.is_wanted();
            assert_eq!(watch.take_wish(), is_wanted);
            is_wanted
        };
        watch.log.rest.store(true, Ordering::Relaxed);
        assert!(is_asked(&mut watch, 10), "it was asked to");
        assert!(!is_asked(&mut watch, 11), "once");
        assert!(is_asked(&mut watch, TOO_LARGE), "nobody does");
        assert!(!is_asked(&mut watch, TOO_LARGE + 1), "and somebody reads: later again");
        assert!(is_asked(&mut watch, TOO_LARGE + LARGE));
    }
}
