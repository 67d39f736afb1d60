//! How a folder becomes a store, and every way in which it cannot.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool,
    SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Row, SqlSafeStr};
use switchboard_model::{AllowEntry, LetterStatus, Session, Totals};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::checkpoint::{self, Checkpointer, KEPT_LOG};
use crate::commit::{Commit, Reporter};
use crate::disk::DiskGuard;
use crate::error::{is_damage, is_damage_code, is_disk, is_not_understood};
use crate::folder::{create_folder, create_private, lock, look_at_header};
use crate::hand::Hand;
use crate::housekeeping::{Housekeeping, Orders};
use crate::pen::Pen;
use crate::queue::{Queue, Ticket};
use crate::record::{AgentRecord, AnnouncedRecord, JobRecord, ReplacedDocument, TokenRecord};
use crate::total::Uncounted;
use crate::trouble::{TroubleKind, Troubles};
use crate::upkeep::Upkeep;
use crate::writer::Writer;
use crate::{
    Error, RestoredRules, Store, agent, announced, clock, dead_letter, job, log, presence, restore,
    rule, search, session, subscription, token, total,
};

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// When the disk has it; it survives loss of power.
    #[default]
    Full,
    /// When the system has it; it survives the end of the program, but the last commits may not
    /// survive loss of power.
    Normal,
}

/// How to keep things.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// When a commit counts as done.
    pub synchronous: Synchronous,
    /// How long settled messages are kept.
    pub retention_days: u32,
    /// How large the database may become before the oldest settled messages go.
    pub retention_max_mb: u64,
    /// With less than this free on the disk, new messages are refused.
    pub disk_free_mb: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::Full,
            retention_days: 7,
            retention_max_mb: 2048,
            disk_free_mb: 200,
        }
    }
}

/// An open store, news of its commits, and what it remembered.
pub struct Opened {
    /// The handle.
    pub store: Store,
    /// News of commits, in order. Ends when the store is closed.
    pub commits: mpsc::Receiver<Commit>,
    /// What was there already.
    pub restored: Restored,
}

/// What was remembered from before.
#[derive(Debug)]
pub struct Restored {
    /// Everyone ever heard of.
    pub agents: Vec<AgentRecord>,
    /// Where every message ever accepted is.
    pub totals: Totals,
    /// The next message's seq.
    pub next_seq: u64,
    /// The next delivery's id.
    pub next_delivery: u64,
    /// The next subscription's id.
    pub next_subscription: u64,
    /// The messages of every dead letter that nobody has dealt with, by their seqs.
    pub open_letters: Vec<u64>,
    /// And of every one that was thrown away and can be taken back.
    pub discarded_letters: Vec<u64>,
    /// Every job that is remembered, oldest first.
    pub jobs: Vec<JobRecord>,
    /// Each agent's last token.
    pub tokens: Vec<TokenRecord>,
    /// The rules in force.
    pub rules: RestoredRules,
    /// Sessions, those that changed last first.
    pub sessions: Vec<Session>,
    /// Announced agents about which something was decided.
    pub announced: Vec<AnnouncedRecord>,
    /// Their documents that newer ones have replaced, oldest first.
    pub replaced: Vec<ReplacedDocument>,
    /// The entries of the allow-list that the operator made.
    pub allow_list: Vec<AllowEntry>,
}

/// Everything a store is made of, before its tasks run.
pub(crate) struct Parts {
    /// The one that found out what there was. Nobody needs it any longer.
    pub(crate) connection: SqliteConnection,
    pub(crate) writer: Writer,
    pub(crate) checkpointer: Checkpointer,
    pub(crate) queue: Queue,
    pub(crate) readers: SqlitePool,
    pub(crate) delivery_readers: SqlitePool,
    pub(crate) job_readers: SqlitePool,
    pub(crate) commits: mpsc::Receiver<Commit>,
    pub(crate) restored: Restored,
    pub(crate) database: PathBuf,
    pub(crate) upkeep: Upkeep,
    pub(crate) troubles: Troubles,
}

const DATABASE: &str = "switchboard.db";
pub(crate) const APPLICATION_ID: i64 = 0x5377_6264;

/// Connections for what the operator looks at. The writer and the checkpointer have their own, and so
/// have messages and jobs: no search may hold them up, however long it takes.
const READERS: u32 = 3;
const DELIVERY_READERS: u32 = 2;
const JOB_READERS: u32 = 1;

/// Opens the store in `folder`, creating what is missing.
pub(crate) async fn open(folder: &Path, options: &Options) -> Result<Parts, Error> {
    let database = folder.join(DATABASE);
    let opened = open_database(folder, database.clone(), options).await;
    opened.map_err(|error| explain_any(error, &database))
}

async fn open_database(
    folder: &Path,
    database: PathBuf,
    options: &Options,
) -> Result<Parts, Error> {
    create_folder(folder)?;
    let lock = lock(folder)?;
    restore::put_in_place(folder, &database).await?;
    drop(create_private(&database)?);
    let suspicious = look_at_header(&database)?;
    let damage = log::look(folder, &database)?;

    let connect = writing(&database, options);
    let mut connection = connect.connect().await.map_err(|e| explain(e, &database))?;
    if suspicious {
        quick_check(&mut connection, &database).await?;
    }
    migrate(&mut connection, &database).await?;
    let (restored, indexed_up_to) = restore(&mut connection).await?;

    let readers = pool(&database, READERS);
    let delivery_readers = pool(&database, DELIVERY_READERS);
    let job_readers = pool(&database, JOB_READERS);
    let (log, checkpointer) = checkpoint::watch(Pen::open(&database, options)?);
    let (mut queue, receiver) = Queue::new();
    let (reporter, news) = Reporter::new();
    let (options_in, options_out) = watch::channel(*options);
    let (compacting, wanted) = watch::channel(false);
    let upkeep = Upkeep::new(database.clone(), readers.clone(), options_in, compacting);
    let troubles = Troubles::default();
    damage.into_iter().for_each(|words| troubles.begin(TroubleKind::Damage, words));
    let way = reporter.way();
    let orders = Orders { options: options_out.clone(), compacting: wanted.clone() };
    let hand = Hand {
        pen: Pen::open(&database, options)?,
        database: database.clone(),
        options: *options,
        reporter,
        last: Ticket::NONE,
        kept: Vec::new(),
        retry_at: Instant::now(),
        disk: DiskGuard::new(folder.to_owned(), options_out.clone()),
        house: Housekeeping::new(options_out, wanted, indexed_up_to, restored.next_seq - 1),
        uncounted: Uncounted::none(restored.next_seq - 1),
        log,
        troubles: troubles.clone(),
        troubled: false,
        _lock: lock,
    };
    let hand = Arc::new(Mutex::new(hand));
    match options.synchronous {
        Synchronous::Full => {}
        Synchronous::Normal => queue.write_at_once_with(Arc::downgrade(&hand)),
    }
    let writer = Writer { hand, queue: receiver, news: way, orders };
    Ok(Parts {
        connection,
        writer,
        checkpointer,
        queue,
        readers,
        delivery_readers,
        job_readers,
        commits: news,
        restored,
        database,
        upkeep,
        troubles,
    })
}

/// Connections are made when they are first needed: who starts need not wait for them.
fn pool(database: &Path, connections: u32) -> SqlitePool {
    let options = SqlitePoolOptions::new().max_connections(connections).test_before_acquire(false);
    options.connect_lazy_with(reading(database))
}

/// For what is done to the database as a whole; messages are written by the `pen`.
pub(crate) fn writing(database: &Path, options: &Options) -> SqliteConnectOptions {
    let synchronous = match options.synchronous {
        Synchronous::Full => SqliteSynchronous::Full,
        Synchronous::Normal => SqliteSynchronous::Normal,
    };
    connecting(database)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .pragma("journal_size_limit", KEPT_LOG.to_string())
}

/// A connection of its own, for what takes long.
pub(crate) async fn reader(database: &Path) -> Result<SqliteConnection, sqlx::Error> {
    reading(database).connect().await
}

fn reading(database: &Path) -> SqliteConnectOptions {
    connecting(database).read_only(true)
}

fn connecting(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database)
        .busy_timeout(Duration::from_secs(5))
        .pragma("temp_store", "memory")
        .disable_statement_logging()
}

async fn quick_check(connection: &mut SqliteConnection, path: &Path) -> Result<(), Error> {
    let query = sqlx::query("pragma quick_check(1)");
    let row = query.fetch_one(connection).await.map_err(|e| explain(e, path))?;
    let verdict: String = row.try_get(0)?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(Error::Damaged { path: path.to_owned(), detail: verdict })
}

/// The schema, in the order in which it grew.
pub(crate) fn migrator() -> Migrator {
    let first = include_str!("../migrations/0001_first.sql");
    let engine = include_str!("../migrations/0002_delivery_engine.sql");
    let identity = include_str!("../migrations/0003_identity_and_rules.sql");
    let trust = include_str!("../migrations/0004_mail_and_trust.sql");
    let presence = include_str!("../migrations/0005_names_and_presence.sql");
    let figures = include_str!("../migrations/0006_figures_and_saved.sql");
    let blocks = include_str!("../migrations/0007_blocks.sql");
    let attempts = include_str!("../migrations/0008_first_attempt.sql");
    let checks = include_str!("../migrations/0009_quicker_checks.sql");
    let one_row = include_str!("../migrations/0010_one_row_a_message.sql");
    let seals = include_str!("../migrations/0011_seals.sql");
    let words = include_str!("../migrations/0012_words_in_blocks.sql");
    let counted = include_str!("../migrations/0013_counted_later.sql");
    let migration = |version, name: &'static str, sql: &'static str| {
        let sql = sql.into_sql_str();
        Migration::new(version, name.into(), MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(vec![
        migration(1, "first", first),
        migration(2, "delivery engine", engine),
        migration(3, "identity and rules", identity),
        migration(4, "mail and trust", trust),
        migration(5, "names and presence", presence),
        migration(6, "figures and saved", figures),
        migration(7, "blocks", blocks),
        migration(8, "first attempt", attempts),
        migration(9, "quicker checks", checks),
        migration(10, "one row a message", one_row),
        migration(11, "seals", seals),
        migration(12, "words in blocks", words),
        migration(13, "counted later", counted),
    ])
}

async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<(), Error> {
    let not_ours = || Error::NotOurs { path: path.to_owned() };
    let empty = "select count(*) = 0 as empty from sqlite_schema";
    let query = sqlx::query(empty).fetch_one(&mut *connection);
    let row = query.await.map_err(|error| explain(error, path))?;
    if !row.try_get::<bool, _>("empty")? {
        let id = sqlx::query("pragma application_id").fetch_one(&mut *connection).await?;
        // A migration that was cut short left its table behind and no more.
        let begun = connection.list_applied_migrations("_sqlx_migrations").await;
        if id.try_get::<i64, _>(0)? != APPLICATION_ID && !begun.is_ok_and(|done| done.is_empty()) {
            return Err(not_ours());
        }
    }
    migrator().run_direct(None, connection, false).await.map_err(|error| match error {
        MigrateError::VersionMissing(_) => Error::Newer { path: path.to_owned() },
        MigrateError::VersionMismatch(_) => not_ours(),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
            explain(error, path)
        }
        other => Error::Database(sqlx::Error::Migrate(Box::new(other))),
    })
}

async fn restore(connection: &mut SqliteConnection) -> Result<(Restored, u64), Error> {
    subscription::end_all(&mut *connection).await?;
    presence::end_all(&mut *connection, clock::now()).await?;
    total::count_the_rest(&mut *connection).await?;
    let stored = total::read(&mut *connection).await?;
    let restored = Restored {
        agents: agent::all(&mut *connection).await?,
        totals: stored.totals,
        next_seq: stored.last_seq + 1,
        next_delivery: stored.last_delivery + 1,
        next_subscription: stored.last_subscription + 1,
        open_letters: dead_letter::of_status(&mut *connection, LetterStatus::Open).await?,
        discarded_letters: dead_letter::of_status(&mut *connection, LetterStatus::Discarded)
            .await?,
        jobs: job::all(&mut *connection).await?,
        tokens: token::all(&mut *connection).await?,
        rules: rule::restore(&mut *connection).await?,
        sessions: session::restore(&mut *connection).await?,
        announced: announced::all(&mut *connection).await?,
        replaced: announced::replaced(&mut *connection).await?,
        allow_list: announced::allow_list(&mut *connection).await?,
    };
    Ok((restored, search::progress(connection).await?))
}

/// The write-ahead log that SQLite keeps beside the database.
pub(crate) fn log_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Damage and a disk that fails are the user's business; other errors stay as they are.
pub(crate) fn explain(error: sqlx::Error, path: &Path) -> Error {
    let (path, detail) = (path.to_owned(), error.to_string());
    if is_damage(&error) {
        return Error::Damaged { path, detail };
    }
    if is_disk(&error) {
        return Error::NotTaken { path, detail };
    }
    Error::Database(error)
}

/// The same of what writes.
pub(crate) fn explain_writing(error: &rusqlite::Error, path: &Path) -> Error {
    let (path, detail) = (path.to_owned(), error.to_string());
    let code = error.sqlite_error().map_or(0, |error| error.extended_code);
    if is_damage_code(code) {
        return Error::Damaged { path, detail };
    }
    Error::NotTaken { path, detail }
}

fn explain_any(error: Error, path: &Path) -> Error {
    match error {
        // One bit in the text of a table or a view is enough.
        Error::Database(error) if is_not_understood(&error) => {
            Error::Damaged { path: path.to_owned(), detail: error.to_string() }
        }
        Error::Database(error) => explain(error, path),
        Error::Writing(error) => explain_writing(&error, path),
        other => other,
    }
}
