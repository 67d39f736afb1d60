//! The table `subscription`: who listened to what, and when.

use rusqlite::params;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::Timestamp;

use crate::batch::SubscriptionChange;
use crate::pen::Pen;
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

pub(crate) fn apply(pen: &Pen, changes: &[SubscriptionChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            SubscriptionChange::Began(subscription) => {
                pen.statement(BEGAN)?.execute(params![
                    int(subscription.id.0),
                    subscription.agent.as_str(),
                    subscription.door.as_str(),
                    subscription.pattern.as_str(),
                    subscription.policy.as_str(),
                    subscription.at.0,
                ])?;
            }
            SubscriptionChange::Ended { id, at } => {
                pen.run(ENDED, params![at.0, int(*id)])?;
            }
        }
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
pub(crate) fn forget(pen: &Pen, cutoff: Timestamp, limit: u32) -> rusqlite::Result<u64> {
    pen.run(FORGET, params![cutoff.0, limit])
}
