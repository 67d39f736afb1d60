//! SQLite alone: rows of the same size into one table, as many in a transaction as there are publishes in flight, each
//! transaction on disk before the next.

use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};

use crate::Outcome;
use crate::lab::{Cores, Lab};
use crate::process::Process;

const TABLE: &str = "create table message (seq integer primary key, id blob not null, sender text not null, \
                     topic text not null, at integer not null, payload text not null) strict";
const INSERT: &str = "insert into message (id, sender, topic, at, payload) values (?, ?, ?, ?, ?)";
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
    for number in 0..rows {
        sqlx::query(INSERT)
            .bind([0_u8; 16].as_slice())
            .bind("publisher-0")
            .bind("agent:absent-0")
            .bind(i64::try_from(number)?)
            .bind(payload)
            .execute(&mut *database)
            .await?;
    }
    sqlx::query("commit").execute(&mut *database).await?;
    Ok(())
}
