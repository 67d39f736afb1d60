//! The table `dead_letter`: messages that nobody took, until the operator deals with them.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::DeadReason;

use crate::Error;
use crate::agent::meaningless;
use crate::batch::{ClosedLetter, NewDeadLetter};
use crate::rows::{Many, int};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[CLOSE, REASON];

/// Not for a message that the disk did not take: there would be nothing to replay or discard.
pub(crate) static INSERT: Many = Many::new(
    "insert into dead_letter (message, reason, died_at) \
     select letter.column1, letter.column2, letter.column3 from (values",
    "(?, ?, ?)",
    ") as letter join message on message.seq = letter.column1 where true \
     on conflict (message) do update set reason = excluded.reason, died_at = excluded.died_at, \
     status = 'open', replayed_as = null, closed_at = null",
);

const CLOSE: &str = "update dead_letter set status = ?, closed_at = ? \
     where message = ? and status = 'open' \
     and (select state from message where seq = dead_letter.message) is not 'dead'";

const REASON: &str = "select reason from dead_letter where message = ? and status <> 'replayed'";

pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    letters: &[NewDeadLetter],
) -> Result<(), sqlx::Error> {
    INSERT
        .run(connection, letters, |query, letter| {
            query.bind(int(letter.message)).bind(letter.reason).bind(letter.at.0)
        })
        .await?;
    Ok(())
}

/// Closes letters whose messages are dead no longer; to be called when those have been settled.
pub(crate) async fn close(
    connection: &mut SqliteConnection,
    letters: &[ClosedLetter],
) -> Result<(), sqlx::Error> {
    for letter in letters {
        sqlx::query(CLOSE)
            .bind(letter.status)
            .bind(letter.at.0)
            .bind(int(letter.message))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Why this message is a dead letter, or was one when the operator threw it away.
pub(crate) async fn reason(
    connection: &mut SqliteConnection,
    message: u64,
) -> Result<Option<DeadReason>, Error> {
    let query = sqlx::query(REASON).bind(int(message));
    let Some(row) = query.fetch_optional(connection).await? else {
        return Ok(None);
    };
    let text: &str = row.try_get("reason")?;
    let reason = DeadReason::parse(text);
    reason.map(Some).ok_or_else(|| meaningless("why a message died", text))
}
