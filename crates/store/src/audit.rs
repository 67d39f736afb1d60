//! The table `audit_event`: who did what.

use sqlx::sqlite::SqliteConnection;
use switchboard_model::Timestamp;

use crate::batch::NewAudit;
use crate::rows::Many;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[FORGET];

pub(crate) static INSERT: Many = Many::new(
    "insert into audit_event (at, actor, action, subject, detail) select * from",
    5,
    "where column1 is not null",
);

const FORGET: &str = "delete from audit_event where id in \
     (select id from audit_event where at < ? order by id limit ?)";

pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    events: &[NewAudit],
) -> Result<(), sqlx::Error> {
    INSERT
        .run(connection, events, |values, event| {
            values
                .bind(event.at.0)
                .bind(event.actor.as_str())
                .bind(event.action.as_str())
                .bind(event.subject.as_str())
                .bind(event.detail.as_deref());
        })
        .await?;
    Ok(())
}

/// Forgets some of those before `cutoff`.
pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    cutoff: Timestamp,
    limit: u32,
) -> Result<u64, sqlx::Error> {
    let query = sqlx::query(FORGET).bind(cutoff.0).bind(limit);
    Ok(query.execute(connection).await?.rows_affected())
}
