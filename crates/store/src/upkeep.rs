//! What the operator can have done to the database while it is open: one piece of work at a time, beside the writer and
//! never on its way.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use switchboard_model::Timestamp;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::backup::{self, Backup};
use crate::open::{self, log_path};
use crate::retention::{Pages, pages_read};
use crate::rows::uint;
use crate::{Error, Options, clock, compact, damage, restore};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[OLDEST, RANGE, COUNT];

const OLDEST: &str = "select accepted_at from message order by seq limit 1";
const RANGE: &str =
    "select coalesce(max(seq), 0) as newest, coalesce(min(seq), 1) as oldest from message";
const COUNT: &str = "select count(*) from message";

/// How often SQLite asks whether to go on, in steps of its machine.
const ASK_EVERY: i32 = 10_000;
/// For how long a count of messages is good enough: so many times what it took, and at most so long.
const COUNTED: u32 = 100;
const COUNTED_AT_MOST: Duration = Duration::from_secs(30);
/// How long somebody who looks waits for a new count before an older one has to do.
const PATIENCE: Duration = Duration::from_millis(300);

/// What is kept, and how much of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The data folder.
    pub folder: PathBuf,
    /// The size of the database.
    pub database_bytes: u64,
    /// The size of its log.
    pub log_bytes: u64,
    /// How much of the database is empty.
    pub unused_bytes: u64,
    /// What is free on the disk.
    pub free_bytes: u64,
    /// How many messages there are; some seconds old where there are many.
    pub messages: u64,
    /// When the oldest of them was accepted.
    pub oldest: Option<Timestamp>,
}

/// Something that is done to the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// What.
    pub kind: WorkKind,
    /// How much of it is done, from 0 to 1.
    pub done: f64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// What came of it, or what went wrong.
    pub result: Option<String>,
    /// Whether it failed.
    pub failed: bool,
}

/// What is done to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A copy is made.
    Backup,
    /// What is empty is given back to the disk.
    Compact,
    /// It is checked for damage.
    Check,
}

impl WorkKind {
    /// What is going on, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Backup => "a copy is being made",
            Self::Compact => "it is being compacted",
            Self::Check => "it is being checked",
        }
    }
}

/// Keeps the database. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Upkeep(Arc<Inner>);

struct Inner {
    database: PathBuf,
    readers: SqlitePool,
    options: watch::Sender<Options>,
    /// Whether the writer is to give back what is empty.
    compacting: watch::Sender<bool>,
    work: watch::Sender<Option<Work>>,
    last_check: watch::Sender<Option<Work>>,
    stop: Arc<AtomicBool>,
    task: Mutex<Option<JoinHandle<()>>>,
    counted: watch::Sender<Counted>,
    counting: Arc<Mutex<()>>,
}

#[derive(Clone, Copy)]
struct Counted {
    /// Until when it is good enough; none before the first.
    until: Option<Instant>,
    messages: u64,
}

impl Upkeep {
    pub(crate) fn new(
        database: PathBuf,
        readers: SqlitePool,
        options: watch::Sender<Options>,
        compacting: watch::Sender<bool>,
    ) -> Self {
        Self(Arc::new(Inner {
            database,
            readers,
            options,
            compacting,
            work: watch::Sender::new(None),
            last_check: watch::Sender::new(None),
            stop: Arc::default(),
            task: Mutex::default(),
            counted: watch::Sender::new(Counted { until: None, messages: 0 }),
            counting: Arc::default(),
        }))
    }

    pub(crate) fn database(&self) -> &Path {
        &self.0.database
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.database.parent().unwrap_or(Path::new("."))
    }

    pub(crate) fn options(&self) -> Options {
        *self.0.options.borrow()
    }

    /// Other limits hold from now on. When a commit counts as done stays as it was.
    pub(crate) fn change(&self, options: Options) {
        self.0.options.send_modify(|now| {
            *now = Options { synchronous: now.synchronous, ..options };
        });
    }

    pub(crate) fn compacting(&self) -> &watch::Sender<bool> {
        &self.0.compacting
    }

    pub(crate) fn work(&self) -> Option<Work> {
        self.0.work.borrow().clone()
    }

    pub(crate) fn last_check(&self) -> Option<Work> {
        self.0.last_check.borrow().clone()
    }

    /// A connection of its own, that reads, and whose work ends when the store closes.
    pub(crate) async fn reader(&self) -> Result<SqliteConnection, Error> {
        let mut connection = open::reader(self.database()).await?;
        let stop = Arc::clone(&self.0.stop);
        let mut handle = connection.lock_handle().await?;
        handle.set_progress_handler(ASK_EVERY, move || !stop.load(Ordering::Relaxed));
        drop(handle);
        Ok(connection)
    }

    pub(crate) async fn pages(&self) -> Result<Pages, Error> {
        let mut reader = self.0.readers.acquire().await?;
        Ok(pages_read(&mut reader).await?)
    }

    pub(crate) async fn kept(&self) -> Result<Kept, Error> {
        let pages = self.pages().await?;
        let mut reader = self.0.readers.acquire().await?;
        let oldest = sqlx::query(OLDEST).fetch_optional(&mut *reader).await?;
        let oldest = oldest.map(|row| row.try_get(0).map(Timestamp)).transpose()?;
        drop(reader);
        let size = |path: &Path| path.metadata().map_or(0, |file| file.len());
        Ok(Kept {
            folder: self.folder().to_owned(),
            database_bytes: size(self.database()),
            log_bytes: size(&log_path(self.database())),
            unused_bytes: pages.free * pages.size,
            free_bytes: fs4::available_space(self.folder()).unwrap_or(0),
            messages: self.messages().await?,
            oldest,
        })
    }

    /// How many messages there are. Counting goes through all of them, so that it is done beside, and not for everyone
    /// who looks.
    async fn messages(&self) -> Result<u64, Error> {
        let counted = *self.0.counted.borrow();
        if counted.until.is_some_and(|until| Instant::now() < until) {
            return Ok(counted.messages);
        }
        let counting = timeout(PATIENCE, tokio::spawn(self.clone().count()));
        match counting.await {
            Ok(Ok(counted)) => counted,
            Ok(Err(_)) | Err(_) if counted.until.is_some() => Ok(counted.messages),
            Ok(Err(_)) | Err(_) => {
                let mut reader = self.0.readers.acquire().await?;
                let row = sqlx::query(RANGE).fetch_one(&mut *reader).await?;
                let (newest, oldest) = (uint(row.try_get("newest")?), uint(row.try_get("oldest")?));
                Ok((newest + 1).saturating_sub(oldest))
            }
        }
    }

    async fn count(self) -> Result<u64, Error> {
        let before = self.0.counted.borrow().until;
        let _alone = self.0.counting.lock().await;
        let counted = *self.0.counted.borrow();
        if counted.until != before {
            return Ok(counted.messages);
        }
        let mut reader = self.reader().await?;
        let began = Instant::now();
        let row = sqlx::query(COUNT).fetch_one(&mut reader).await?;
        let messages = uint(row.try_get(0)?);
        let good_for = (began.elapsed() * COUNTED).min(COUNTED_AT_MOST);
        self.0.counted.send_replace(Counted { until: Some(Instant::now() + good_for), messages });
        Ok(messages)
    }

    pub(crate) async fn back_up(&self) -> Result<(), Error> {
        let upkeep = self.clone();
        self.begin(WorkKind::Backup, async move { backup::make(&upkeep).await }).await
    }

    pub(crate) async fn compact(&self) -> Result<(), Error> {
        let upkeep = self.clone();
        self.begin(WorkKind::Compact, async move { compact::give_back_all(&upkeep).await }).await
    }

    pub(crate) async fn check(&self) -> Result<(), Error> {
        let upkeep = self.clone();
        self.begin(WorkKind::Check, async move { damage::look(&upkeep).await }).await
    }

    /// Begins a piece of work, unless there is one.
    async fn begin(
        &self,
        kind: WorkKind,
        doing: impl Future<Output = Result<String, Error>> + Send + 'static,
    ) -> Result<(), Error> {
        let mut task = self.0.task.lock().await;
        if let Some(Work { ended_at: None, kind, .. }) = self.work() {
            return Err(Error::WorkUnderWay { words: kind.words() });
        }
        let work = Work {
            kind,
            done: 0.0,
            started_at: clock::now(),
            ended_at: None,
            result: None,
            failed: false,
        };
        self.0.work.send_replace(Some(work));
        let upkeep = self.clone();
        *task = Some(tokio::spawn(async move {
            let (result, failed) = match doing.await {
                Ok(words) => (words, false),
                Err(error) => {
                    tracing::warn!(%error, ?kind, "work on the database failed");
                    (error.to_string(), true)
                }
            };
            upkeep.ended(result, failed);
        }));
        Ok(())
    }

    fn ended(&self, result: String, failed: bool) {
        self.0.work.send_modify(|work| {
            let Some(work) = work else { return };
            work.ended_at = Some(clock::now());
            work.result = Some(result);
            work.failed = failed;
            if !failed {
                work.done = 1.0;
            }
        });
        if let Some(work) = self.work().filter(|work| work.kind == WorkKind::Check) {
            self.0.last_check.send_replace(Some(work));
        }
    }

    /// So much is done.
    pub(crate) fn done(&self, part: f64) {
        self.0.work.send_modify(|work| {
            if let Some(work) = work {
                work.done = part.clamp(work.done, 0.99);
            }
        });
    }

    pub(crate) fn backups(&self) -> Result<Vec<Backup>, Error> {
        backup::list(self.folder())
    }

    pub(crate) fn delete_backup(&self, name: &str) -> Result<(), Error> {
        backup::delete(self.folder(), name)
    }

    pub(crate) fn restoring(&self) -> Option<PathBuf> {
        restore::wanted(self.folder())
    }

    pub(crate) async fn restore(&self, file: Option<&str>) -> Result<(), Error> {
        match file {
            Some(file) => restore::want(self.folder(), self.database(), file).await,
            None => restore::forget(self.folder()),
        }
    }

    /// Ends what is being done.
    pub(crate) async fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
        if let Some(task) = self.0.task.lock().await.take() {
            // It has told of its own failure.
            drop(task.await);
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }
}
