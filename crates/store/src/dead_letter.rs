//! The table `dead_letter`: messages that nobody took, until the operator deals with them.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{DeadReason, Letter, LetterStatus, Timestamp};

use crate::Error;
use crate::agent::meaningless;
use crate::batch::NewDeadLetter;
use crate::message::message_id;
use crate::pen::Pen;
use crate::record::LetterRecord;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[INSERT, CHANGE, OF_MESSAGE, OF_STATUS, CAUSES];

/// Not for a message that the disk did not take: there would be nothing to replay or discard.
const INSERT: &str = "insert into dead_letter (message, reason, died_at) \
     select ?1, ?2, ?3 where exists (select 1 from message where seq = ?1) \
     on conflict (message) do update set reason = excluded.reason, died_at = excluded.died_at, \
     status = 'open', replayed_as = null, closed_at = null, note = null, job = null";

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

pub(crate) fn insert(pen: &Pen, letters: &[NewDeadLetter]) -> rusqlite::Result<()> {
    let mut insert = pen.statement(INSERT)?;
    for letter in letters {
        insert.execute(params![int(letter.message), letter.reason, letter.at.0])?;
    }
    Ok(())
}

/// What became of letters, in order.
pub(crate) fn change(pen: &Pen, letters: &[LetterRecord]) -> rusqlite::Result<()> {
    let mut change = pen.statement(CHANGE)?;
    for letter in letters {
        let closed_at = (letter.status != LetterStatus::Open).then_some(letter.at.0);
        change.execute(params![
            int(letter.message),
            letter.status.as_str(),
            closed_at,
            letter.replayed_as.as_ref().map(|id| &id.0.as_bytes()[..]),
            letter.note.as_deref(),
            letter.job.map(|job| int(job.0)),
        ])?;
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
