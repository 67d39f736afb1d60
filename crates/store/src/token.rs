//! The table `token`: who can prove who they are. Only hashes are kept.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::Timestamp;

use crate::Error;
use crate::agent::{agent_id, meaningless};
use crate::message::priority;
use crate::pen::Pen;
use crate::record::{TokenChange, TokenRecord};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[ISSUE, REVOKE, ALL];

const ISSUE: &str = "insert into token (hash, agent, priority_ceiling, created_at) \
     values (?, ?, ?, ?)";

const REVOKE: &str = "update token set revoked_at = ? where agent = ? and revoked_at is null";

/// The last of each agent, which may be revoked.
const ALL: &str = "select hash, agent, priority_ceiling, max(created_at) as created_at, revoked_at \
     from token group by agent";

pub(crate) fn apply(pen: &Pen, changes: &[TokenChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            TokenChange::Issued(token) => {
                let (agent, ceiling) = (token.agent.as_str(), token.ceiling.as_str());
                pen.run(ISSUE, params![token.hash, agent, ceiling, token.created_at.0])?;
            }
            TokenChange::Revoked { agent, at } => {
                pen.run(REVOKE, params![at.0, agent.as_str()])?;
            }
        }
    }
    Ok(())
}

/// Each agent's last token.
pub(crate) async fn all(connection: &mut SqliteConnection) -> Result<Vec<TokenRecord>, Error> {
    let rows = sqlx::query(ALL).fetch_all(connection).await?;
    let one = |row: &sqlx::sqlite::SqliteRow| {
        let hash: &[u8] = row.try_get("hash")?;
        Ok(TokenRecord {
            hash: hash
                .try_into()
                .map_err(|_| meaningless("a token's hash", "of a wrong length"))?,
            agent: agent_id(row.try_get("agent")?)?,
            ceiling: priority(row.try_get("priority_ceiling")?)?,
            created_at: Timestamp(row.try_get("created_at")?),
            revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Timestamp),
        })
    };
    rows.iter().map(one).collect()
}
