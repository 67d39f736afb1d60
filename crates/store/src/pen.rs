//! A connection that writes: the hand's, and the checkpointer's, which only moves the log. Each is one thread's at a time, and a
//! statement is a call into SQLite and no more: a message and what became of it are some ten of them.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, OpenFlags, Params, Result};

use crate::checkpoint::{KEPT_LOG, PASSIVE};
use crate::rows::uint;
use crate::{Options, Synchronous};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[BEGIN, COMMIT, ROLLBACK, EMPTY_LOG];

const BEGIN: &str = "begin immediate";
const COMMIT: &str = "commit";
const ROLLBACK: &str = "rollback";
const EMPTY_LOG: &str = "pragma wal_checkpoint(truncate)";

/// Room for every statement there is: none is ever prepared twice.
pub(crate) const STATEMENTS: usize = 256;
/// How long to wait for somebody else's lock.
const PATIENCE: Duration = Duration::from_secs(5);
/// In KiB. Enough for where rows are added; SQLite walks through all of it at nearly every commit.
const CACHE_KIB: u32 = 8_192;

thread_local! {
    /// How many pages the log had at this thread's last commit. A hook of SQLite's takes nothing along with it.
    static LOG_PAGES: Cell<u64> = const { Cell::new(0) };
}

/// Writes, statement by statement.
pub(crate) struct Pen {
    connection: Connection,
    /// How many pages the log had at the last commit, on whichever thread that was.
    log_pages: Cell<u64>,
}

impl Pen {
    /// On a database that is there and has all its tables.
    pub(crate) fn open(database: &Path, options: &Options) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(database, flags)?;
        // Else SQLite would look for a better plan whenever a value changes.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.busy_timeout(PATIENCE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let synchronous = match options.synchronous {
            Synchronous::Full => "full",
            Synchronous::Normal => "normal",
        };
        connection.execute_batch(&format!(
            "pragma synchronous = {synchronous}; pragma foreign_keys = on; \
             pragma temp_store = memory; pragma journal_size_limit = {KEPT_LOG}; \
             pragma cache_size = -{CACHE_KIB}"
        ))?;
        // In the place of SQLite's own, which would move the log while somebody waits for a commit.
        connection.wal_hook(Some(|_, pages| {
            LOG_PAGES.set(u64::try_from(pages).unwrap_or(0));
            Ok(())
        }));
        Ok(Self { connection, log_pages: Cell::default() })
    }

    /// Runs a statement once. Returns how many rows it changed.
    pub(crate) fn run(&self, sql: &'static str, values: impl Params) -> Result<u64> {
        self.statement(sql)?.execute(values).map(|rows| rows as u64)
    }

    /// A statement to be run for many rows.
    pub(crate) fn statement(&self, sql: &'static str) -> Result<CachedStatement<'_>> {
        self.connection.prepare_cached(sql)
    }

    /// The one value that a statement finds.
    pub(crate) fn value<T: FromSql>(&self, sql: &'static str, values: impl Params) -> Result<T> {
        self.statement(sql)?.query_one(values, |row| row.get(0))
    }

    pub(crate) fn begin(&self) -> Result<()> {
        self.run(BEGIN, []).map(drop)
    }

    pub(crate) fn commit(&self) -> Result<()> {
        self.run(COMMIT, [])?;
        self.log_pages.set(LOG_PAGES.get());
        Ok(())
    }

    /// Takes back what was begun. SQLite may have done so already, which is as good.
    pub(crate) fn roll_back(&self) {
        drop(self.run(ROLLBACK, []));
    }

    /// Does this without waiting for somebody else's lock.
    pub(crate) fn without_patience<T>(&self, act: impl FnOnce() -> T) -> T {
        self.be_patient(Duration::ZERO);
        let done = act();
        self.be_patient(PATIENCE);
        done
    }

    fn be_patient(&self, patience: Duration) {
        if let Err(error) = self.connection.busy_timeout(patience) {
            tracing::debug!(%error, "could not set how long to wait for a lock");
        }
    }

    /// How many pages the log had after the last commit.
    pub(crate) fn log_pages(&self) -> u64 {
        self.log_pages.get()
    }

    /// Moves the log into the database as far as nobody reads there. Returns how many of its pages are there now.
    pub(crate) fn move_log(&self) -> Result<u64> {
        self.statement(PASSIVE)?.query_one([], |row| row.get("checkpointed").map(uint))
    }

    /// Moves the whole log into the database and empties it; for the end, when nobody else reads.
    pub(crate) fn empty_log(&self) -> Result<()> {
        self.value::<i64>(EMPTY_LOG, []).map(drop)
    }
}
