//! The table `job`: long work on many dead letters.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{JobId, JobKind, JobStatus, JobView, Timestamp};

use crate::Error;
use crate::agent::meaningless;
use crate::pen::Pen;
use crate::record::JobRecord;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[PUT, ALL, REPLAYED, FORGET];

const PUT: &str = "insert into job (id, kind, status, filter, up_to, topic, per_second, note, \
     total, done, failed, last_error, started_at, ended_at) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
     on conflict (id) do update set status = ?3, total = ?9, done = ?10, failed = ?11, \
     last_error = ?12, ended_at = ?14";

const ALL: &str = "select id, kind, status, filter, up_to, topic, per_second, note, total, done, \
     failed, last_error, started_at, ended_at from job order by id";

/// What became of the messages that were sent in the place of letters. One that died once did so whatever
/// the operator did with it since.
const REPLAYED: &str = "select d.job, \
     coalesce(sum(l.message is not null), 0) as died_again, \
     coalesce(sum(l.message is null and m.state = 'processed'), 0) as processed, \
     json_group_array(m.seq) filter (where m.state = 'waiting') as waiting \
     from dead_letter d join message m on m.id = d.replayed_as and m.by_seq is null \
     left join dead_letter l on l.message = m.seq \
     where d.job in (select value from json_each(?)) group by d.job";

/// Those that ended before, but for the newest of all, whose number must not be given again.
const FORGET: &str = "delete from job where status = 'done' and ended_at < ?1 \
     and id < (select max(id) from job)";

/// What became of the messages that a job sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The job.
    pub job: JobId,
    /// How many were processed.
    pub processed: u64,
    /// How many died again.
    pub died_again: u64,
    /// Those that are still on their way, by their seqs.
    pub waiting: Vec<u64>,
}

pub(crate) fn apply(pen: &Pen, jobs: &[JobRecord]) -> rusqlite::Result<()> {
    let mut put = pen.statement(PUT)?;
    for JobRecord { view, up_to } in jobs {
        let filter = serde_json::to_string(&view.filter)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        put.execute(params![
            int(view.id.0),
            view.kind.as_str(),
            view.status.as_str(),
            filter,
            int(*up_to),
            view.topic.as_deref(),
            view.per_second,
            view.note.as_deref(),
            int(view.total),
            int(view.done),
            int(view.failed),
            view.last_error.as_deref(),
            view.started_at.0,
            view.ended_at.map(|at| at.0),
        ])?;
    }
    Ok(())
}

/// Every job, oldest first.
pub(crate) async fn all(connection: &mut SqliteConnection) -> Result<Vec<JobRecord>, Error> {
    let rows = sqlx::query(ALL).fetch_all(connection).await?;
    rows.iter().map(read).collect()
}

/// What became of what these jobs sent; of a job that sent nothing nothing is said.
pub(crate) async fn replayed(
    connection: &mut SqliteConnection,
    jobs: &[JobId],
) -> Result<Vec<Replayed>, Error> {
    let list = serde_json::Value::from_iter(jobs.iter().map(|job| job.0)).to_string();
    let one = |row: &SqliteRow| {
        let waiting: &str = row.try_get("waiting")?;
        Ok(Replayed {
            job: JobId(uint(row.try_get("job")?)),
            processed: uint(row.try_get("processed")?),
            died_again: uint(row.try_get("died_again")?),
            waiting: serde_json::from_str(waiting)
                .map_err(|_| meaningless("a list of messages", waiting))?,
        })
    };
    sqlx::query(REPLAYED).bind(list).fetch_all(connection).await?.iter().map(one).collect()
}

/// Forgets those that ended before `cutoff`.
pub(crate) fn forget(pen: &Pen, cutoff: Timestamp) -> rusqlite::Result<u64> {
    pen.run(FORGET, params![cutoff.0])
}

fn read(row: &SqliteRow) -> Result<JobRecord, Error> {
    let (kind, status): (&str, &str) = (row.try_get("kind")?, row.try_get("status")?);
    let filter: &str = row.try_get("filter")?;
    let view = JobView {
        id: JobId(uint(row.try_get("id")?)),
        kind: JobKind::parse(kind).ok_or_else(|| meaningless("the kind of a job", kind))?,
        status: JobStatus::parse(status)
            .ok_or_else(|| meaningless("the status of a job", status))?,
        filter: serde_json::from_str(filter)
            .map_err(|_| meaningless("the letters of a job", filter))?,
        topic: row.try_get("topic")?,
        per_second: row.try_get("per_second")?,
        note: row.try_get("note")?,
        total: uint(row.try_get("total")?),
        done: uint(row.try_get("done")?),
        failed: uint(row.try_get("failed")?),
        processed: 0,
        died_again: 0,
        last_error: row.try_get("last_error")?,
        started_at: Timestamp(row.try_get("started_at")?),
        ended_at: row.try_get::<Option<i64>, _>("ended_at")?.map(Timestamp),
    };
    Ok(JobRecord { view, up_to: uint(row.try_get("up_to")?) })
}
