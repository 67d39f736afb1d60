//! The table `audit_event`: who did what.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use switchboard_model::Timestamp;

use crate::Error;
use crate::batch::NewAudit;
use crate::pen::Pen;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[INSERT, PAGE, FORGET];

const INSERT: &str = "insert into audit_event (at, actor, action, subject, detail) \
     values (?, ?, ?, ?, ?)";

const PAGE: &str = "select id, at, actor, subject, detail from audit_event \
     where action = ? and id < ? order by id desc limit ?";

const FORGET: &str = "delete from audit_event where id in \
     (select id from audit_event where at < ? order by id limit ?)";

pub(crate) fn insert(pen: &Pen, events: &[NewAudit]) -> rusqlite::Result<()> {
    let mut insert = pen.statement(INSERT)?;
    for event in events {
        insert.execute(params![
            event.at.0,
            event.actor.as_str(),
            event.action.as_str(),
            event.subject.as_str(),
            event.detail.as_deref(),
        ])?;
    }
    Ok(())
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Its number; later ones have larger ones.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub actor: String,
    /// To what.
    pub subject: String,
    /// How.
    pub detail: Option<String>,
}

/// When this was done, before `before`, newest first.
pub(crate) async fn page(
    pool: &SqlitePool,
    action: &str,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Audited>, Error> {
    let read = |row: &SqliteRow| {
        Ok(Audited {
            id: uint(row.try_get("id")?),
            at: Timestamp(row.try_get("at")?),
            actor: row.try_get("actor")?,
            subject: row.try_get("subject")?,
            detail: row.try_get("detail")?,
        })
    };
    let query = sqlx::query(PAGE).bind(action).bind(before.map_or(i64::MAX, int)).bind(limit);
    query.fetch_all(pool).await?.iter().map(read).collect()
}

/// Forgets some of those before `cutoff`.
pub(crate) fn forget(pen: &Pen, cutoff: Timestamp, limit: u32) -> rusqlite::Result<u64> {
    pen.run(FORGET, params![cutoff.0, limit])
}
