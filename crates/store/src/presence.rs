//! The table `presence`: whether agents could take messages, and since when; and until when the broker ran.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::Timestamp;

use crate::pen::Pen;
use crate::record::PresenceRecord;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[NOTE, RUNNING, BEGIN, LAST_HEARD_OF, ALL_ENDED, FORGET, KEPT];

const NOTE: &str = "insert into presence (agent, at, status) values (?, ?, ?) \
     on conflict (agent, at) do update set status = excluded.status";

const RUNNING: &str = "update total set alive_at = max(alive_at, ?)";

const BEGIN: &str = "update total set kept_since = ? where kept_since = 0";

/// The last sign of life of a broker that ended without a word.
const LAST_HEARD_OF: &str = "select max((select alive_at from total), \
     coalesce((select max(at) from presence), 0), \
     coalesce((select max(last_seen) from agent), 0), \
     coalesce((select accepted_at from message order by seq desc limit 1), 0)) as at";

const ALL_ENDED: &str = "insert into presence (agent, at, status) \
     select a.id, ?1, 'unavailable' from agent a where coalesce( \
         (select p.status from presence p where p.agent = a.id order by p.at desc limit 1), \
         'unavailable') <> 'unavailable' \
     on conflict (agent, at) do update set status = excluded.status";

/// What each agent was at the cutoff stays known.
const FORGET: &str = "delete from presence where (agent, at) in \
     (select p.agent, p.at from presence p where p.at < ?1 and exists \
         (select 1 from presence later \
          where later.agent = p.agent and later.at > p.at and later.at <= ?1) \
      order by p.at limit ?2)";

const KEPT: &str = "update total set kept_since = max(kept_since, ?)";

pub(crate) fn apply(pen: &Pen, records: &[PresenceRecord]) -> rusqlite::Result<()> {
    let mut note = pen.statement(NOTE)?;
    for record in records {
        note.execute(params![record.agent.as_str(), record.at.0, record.status.as_str()])?;
    }
    Ok(())
}

/// The broker ran at these times.
pub(crate) fn running(pen: &Pen, times: &[Timestamp]) -> rusqlite::Result<()> {
    times.iter().try_for_each(|at| pen.run(RUNNING, params![at.0]).map(drop))
}

/// Nobody was there while the broker did not run. After a crash they went when it was last heard of.
pub(crate) async fn end_all(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query(BEGIN).bind(now.0).execute(&mut *connection).await?;
    let row = sqlx::query(LAST_HEARD_OF).fetch_one(&mut *connection).await?;
    let ended = row.try_get::<i64, _>("at")?.saturating_add(1).min(now.0);
    sqlx::query(ALL_ENDED).bind(ended).execute(connection).await?;
    Ok(())
}

/// Forgets some of what was before `cutoff`.
pub(crate) fn forget(pen: &Pen, cutoff: Timestamp, limit: u32) -> rusqlite::Result<u64> {
    let forgotten = pen.run(FORGET, params![cutoff.0, limit])?;
    if forgotten > 0 {
        kept_since(pen, cutoff)?;
    }
    Ok(forgotten)
}

/// Something was forgotten that was still so until then.
pub(crate) fn kept_since(pen: &Pen, at: Timestamp) -> rusqlite::Result<()> {
    pen.run(KEPT, params![at.0])?;
    Ok(())
}
