//! The table `audit_event`: who did what.

use rusqlite::params;
use switchboard_model::Timestamp;

use crate::batch::NewAudit;
use crate::pen::Pen;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[INSERT, FORGET];

const INSERT: &str = "insert into audit_event (at, actor, action, subject, detail) \
     values (?, ?, ?, ?, ?)";

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

/// Forgets some of those before `cutoff`.
pub(crate) fn forget(pen: &Pen, cutoff: Timestamp, limit: u32) -> rusqlite::Result<u64> {
    pen.run(FORGET, params![cutoff.0, limit])
}
