//! The table `dead_letter`: messages that nobody took, until the operator deals with them.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{DeadReason, Letter, LetterStatus, Timestamp};

use crate::Error;
use crate::agent::meaningless;
use crate::batch::NewDeadLetter;
use crate::message::message_id;
use crate::record::LetterRecord;
use crate::rows::{Many, int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[CHANGE, OF_MESSAGE, OF_STATUS, CAUSES];

/// Not for a message that the disk did not take: there would be nothing to replay or discard.
pub(crate) static INSERT: Many = Many::new(
    "insert into dead_letter (message, reason, died_at) \
     select new.column1, new.column2, new.column3 from",
    3,
    "join message on message.seq = new.column1 where true \
     on conflict (message) do update set reason = excluded.reason, died_at = excluded.died_at, \
     status = 'open', replayed_as = null, closed_at = null, note = null, job = null",
);

const CHANGE: &str = "update dead_letter set status = ?2, closed_at = ?3, replayed_as = ?4, \
     note = ?5, job = ?6 where message = ?1";

/// The columns of a letter, as `read` reads them.
macro_rules! columns {
    () => {
        "d.reason, d.died_at, d.status, d.replayed_as, d.closed_at, d.note"
    };
}
pub(crate) use columns;

const OF_MESSAGE: &str = concat!("select ", columns!(), " from dead_letter d where d.message = ?");

const OF_STATUS: &str = "select message from dead_letter where status = ?";

const CAUSES: &str = "select reason, count(*) as letters from dead_letter \
     where status = 'open' group by reason";

pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    letters: &[NewDeadLetter],
) -> Result<(), sqlx::Error> {
    INSERT
        .run(connection, letters, |values, letter| {
            values.bind(int(letter.message)).word(letter.reason).bind(letter.at.0);
        })
        .await?;
    Ok(())
}

/// What became of letters, in order.
pub(crate) async fn change(
    connection: &mut SqliteConnection,
    letters: &[LetterRecord],
) -> Result<(), sqlx::Error> {
    for letter in letters {
        let closed_at = (letter.status != LetterStatus::Open).then_some(letter.at.0);
        sqlx::query(CHANGE)
            .bind(int(letter.message))
            .bind(letter.status.as_str())
            .bind(closed_at)
            .bind(letter.replayed_as.as_ref().map(|id| &id.0.as_bytes()[..]))
            .bind(letter.note.as_deref())
            .bind(letter.job.map(|job| int(job.0)))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// What became of this message, if it died.
pub(crate) async fn of_message(
    connection: &mut SqliteConnection,
    message: u64,
) -> Result<Option<Letter>, Error> {
    let query = sqlx::query(OF_MESSAGE).bind(int(message));
    query.fetch_optional(connection).await?.as_ref().map(read).transpose()
}

/// The messages of every letter of this status.
pub(crate) async fn of_status(
    connection: &mut SqliteConnection,
    status: LetterStatus,
) -> Result<Vec<u64>, sqlx::Error> {
    let rows = sqlx::query(OF_STATUS).bind(status.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get("message").map(uint)).collect()
}

/// How many letters are open of each reason, most first.
pub(crate) async fn causes(
    connection: &mut SqliteConnection,
) -> Result<Vec<(DeadReason, u64)>, Error> {
    let rows = sqlx::query(CAUSES).fetch_all(connection).await?;
    let one = |row: &SqliteRow| {
        Ok::<_, Error>((reason(row.try_get("reason")?)?, uint(row.try_get("letters")?)))
    };
    let mut causes = rows.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(causes)
}

pub(crate) fn read(row: &SqliteRow) -> Result<Letter, Error> {
    let status: &str = row.try_get("status")?;
    Ok(Letter {
        reason: reason(row.try_get("reason")?)?,
        died_at: Timestamp(row.try_get("died_at")?),
        status: LetterStatus::parse(status)
            .ok_or_else(|| meaningless("a dead letter's status", status))?,
        replayed_as: row.try_get::<Option<&[u8]>, _>("replayed_as")?.map(message_id).transpose()?,
        closed_at: row.try_get::<Option<i64>, _>("closed_at")?.map(Timestamp),
        note: row.try_get("note")?,
    })
}

fn reason(text: &str) -> Result<DeadReason, Error> {
    DeadReason::parse(text).ok_or_else(|| meaningless("why a message died", text))
}
