//! SQLite alone: rows of the same size into one table, as many in a transaction as there are publishes in flight, each
//! transaction on disk before the next.

use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::Outcome;
use crate::lab::{Cores, Lab};
use crate::process::Process;

const TABLE: &str = "create table message (seq integer primary key, id blob not null, sender text not null, \
                     topic text not null, at integer not null, payload text not null) strict";
const INSERT: &str = "insert into message (id, sender, topic, at, payload) values ";
const VALUES: &str = "(?, ?, ?, ?, ?)";
/// Rows in a statement: each statement passes to another thread and back, which is no cost of SQLite's.
const AT_ONCE: usize = 128;
const PAYLOAD: usize = 260;

pub(crate) fn start(lab: &Lab, rows: usize) -> Outcome<Process> {
    let mut command = lab.role("sqlite", Cores::All);
    command.arg(lab.folder("sqlite")?.join("rows.db")).arg(rows.to_string());
    Process::start(command)
}

/// Rows in a second, written for so long.
pub(crate) async fn rate(process: &mut Process, seconds: f64) -> Outcome<f64> {
    process.tell(&seconds.to_string()).await?;
    Ok(process.line().await?.parse()?)
}

/// Being that process: answers each line, a number of seconds, with the rows in a second.
pub(crate) async fn serve(file: &Path, rows: usize) -> Outcome<()> {
    let mut database = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await?;
    sqlx::query(TABLE).execute(&mut database).await?;
    let payload = "x".repeat(PAYLOAD);
    for line in std::io::stdin().lock().lines() {
        let seconds: f64 = line?.parse()?;
        let (begun, mut written) = (Instant::now(), 0_usize);
        while begun.elapsed().as_secs_f64() < seconds {
            transaction(&mut database, &payload, rows).await?;
            written += rows;
        }
        println!("{}", written as f64 / begun.elapsed().as_secs_f64());
    }
    Ok(())
}

async fn transaction(database: &mut SqliteConnection, payload: &str, rows: usize) -> Outcome<()> {
    sqlx::query("begin immediate").execute(&mut *database).await?;
    for from in (0..rows).step_by(AT_ONCE) {
        let count = AT_ONCE.min(rows - from);
        let statement = format!("{INSERT}{}", vec![VALUES; count].join(","));
        let mut insert = sqlx::query(AssertSqlSafe(statement));
        for number in 0..count {
            insert = insert
                .bind([0_u8; 16].as_slice())
                .bind("publisher-0")
                .bind("agent:absent-0")
                .bind(i64::try_from(number)?)
                .bind(payload);
        }
        insert.execute(&mut *database).await?;
    }
    sqlx::query("commit").execute(&mut *database).await?;
    Ok(())
}
