//! The table `figure`: how busy the broker was.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use switchboard_model::{Scope, Tally, Times};

use crate::Error;
use crate::agent::meaningless;
use crate::pen::Pen;
use crate::record::FigureRecord;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[INSERT, OF_SCOPE, OF_ALL, LAST, FORGET];

/// A stretch that was written before is written again when more is known of it.
const INSERT: &str = "insert or replace into figure \
     (span, scope, at, accepted, processed, refused, dead, queued, open_letters, times) \
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

macro_rules! columns {
    () => {
        "select scope, at, accepted, processed, refused, dead, queued, open_letters, times \
         from figure "
    };
}

const OF_SCOPE: &str =
    concat!(columns!(), "where span = ?1 and scope = ?2 and at >= ?3 order by at");

const OF_ALL: &str = concat!(
    columns!(),
    "indexed by figure_at where span = ?1 and at >= ?2 and (?3 is null or scope glob ?3) order by at"
);

const LAST: &str = "select max(at) as at from figure where span = ?1";

const FORGET: &str = "delete from figure where span = ?1 and at < ?2";

/// Many scopes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// All doors.
    Doors,
    /// All agents.
    Agents,
}

/// One scope's stretches of this length since then, oldest first, each with its beginning.
pub(crate) async fn of_scope(
    pool: &SqlitePool,
    span: u32,
    scope: &Scope,
    since: i64,
) -> Result<Vec<(i64, Tally)>, Error> {
    let query = sqlx::query(OF_SCOPE).bind(span).bind(scope.text()).bind(since);
    let rows = query.fetch_all(pool).await?;
    rows.iter().map(|row| Ok((row.try_get("at")?, tally(row)?))).collect()
}

/// Everyone's stretches of this length since then, oldest first; or only those of doors, or of agents.
pub(crate) async fn of_all(
    pool: &SqlitePool,
    span: u32,
    since: i64,
    only: Option<Scopes>,
) -> Result<Vec<(Scope, i64, Tally)>, Error> {
    let names = only.map(|only| match only {
        Scopes::Doors => "door *",
        Scopes::Agents => "agent *",
    });
    let query = sqlx::query(OF_ALL).bind(span).bind(since).bind(names);
    let rows = query.fetch_all(pool).await?;
    let read = |row: &SqliteRow| {
        let name: &str = row.try_get("scope")?;
        let scope = Scope::parse(name).ok_or_else(|| meaningless("what a figure is of", name))?;
        Ok((scope, row.try_get("at")?, tally(row)?))
    };
    rows.iter().map(read).collect()
}

/// The beginning of the last stretch of this length, if there is one.
pub(crate) async fn last(pool: &SqlitePool, span: u32) -> Result<Option<i64>, Error> {
    Ok(sqlx::query(LAST).bind(span).fetch_one(pool).await?.try_get("at")?)
}

/// Writes these, and forgets those of the same lengths that are too old.
pub(crate) fn apply(pen: &Pen, figures: &[FigureRecord]) -> rusqlite::Result<()> {
    let mut insert = pen.statement(INSERT)?;
    for figures in figures {
        let span = figures.span;
        for (scope, at, tally) in &figures.rows {
            insert.execute(params![
                span,
                scope.text(),
                at,
                int(tally.accepted),
                int(tally.processed),
                int(tally.refused),
                int(tally.dead),
                int(tally.queued),
                int(tally.open_letters),
                tally.times.text(),
            ])?;
        }
        pen.run(FORGET, params![span, figures.forget_before])?;
    }
    Ok(())
}

fn tally(row: &SqliteRow) -> Result<Tally, Error> {
    let times: &str = row.try_get("times")?;
    Ok(Tally {
        accepted: uint(row.try_get("accepted")?),
        processed: uint(row.try_get("processed")?),
        refused: uint(row.try_get("refused")?),
        dead: uint(row.try_get("dead")?),
        queued: uint(row.try_get("queued")?),
        open_letters: uint(row.try_get("open_letters")?),
        times: Times::parse(times).ok_or_else(|| meaningless("the times of a figure", times))?,
    })
}
