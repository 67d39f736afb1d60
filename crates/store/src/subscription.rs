//! The table `subscription`: who listened to what, and when.

use sqlx::sqlite::SqliteConnection;
use switchboard_model::Timestamp;

use crate::batch::SubscriptionChange;
use crate::rows::int;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[BEGAN, ENDED, ALL_ENDED, FORGET];

const BEGAN: &str = "insert into subscription (id, agent, door, pattern, policy, started_at) \
     values (?, ?, ?, ?, ?, ?)";

const ENDED: &str = "update subscription set ended_at = ? where id = ? and ended_at is null";

const ALL_ENDED: &str = "update subscription set ended_at = \
     max(started_at, coalesce((select max(last_seen) from agent), started_at)) \
     where ended_at is null";

const FORGET: &str = "delete from subscription where id in \
     (select id from subscription where ended_at < ? order by id limit ?)";

pub(crate) async fn apply(
    connection: &mut SqliteConnection,
    changes: &[SubscriptionChange],
) -> Result<(), sqlx::Error> {
    for change in changes {
        let query = match change {
            SubscriptionChange::Began(subscription) => sqlx::query(BEGAN)
                .bind(int(subscription.id.0))
                .bind(subscription.agent.as_str())
                .bind(subscription.door.as_str())
                .bind(subscription.pattern.as_str())
                .bind(subscription.policy.as_str())
                .bind(subscription.at.0),
            SubscriptionChange::Ended { id, at } => sqlx::query(ENDED).bind(at.0).bind(int(*id)),
        };
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// A subscription lives as long as its connection, and no connection outlives the broker. After a
/// crash those still open ended when the last agent was heard of.
pub(crate) async fn end_all(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query(ALL_ENDED).execute(connection).await?;
    Ok(())
}

/// Forgets some of those that ended before `cutoff`.
pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    cutoff: Timestamp,
    limit: u32,
) -> Result<u64, sqlx::Error> {
    let query = sqlx::query(FORGET).bind(cutoff.0).bind(limit);
    Ok(query.execute(connection).await?.rows_affected())
}
