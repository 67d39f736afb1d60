//! What dead letters say, as much of it as is not too much at once.

use std::collections::HashMap;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::LetterRow;

use crate::Error;
use crate::agent::agent_id;
use crate::rows::uint;
use crate::{dead_letter, message};

pub(super) const SIZES: &str = "select m.seq, octet_length(m.payload) + case when ?2 then coalesce( \
         (select sum(coalesce(octet_length(d.answer), 0) + coalesce(octet_length(d.words), 0) \
              + coalesce((select sum(coalesce(octet_length(a.payload), 0) \
                    + coalesce(octet_length(a.message), 0)) \
                from attempt a where a.delivery = d.id), 0)) \
          from delivery d where d.message = m.seq), 0) else 0 end as size \
     from message m where m.seq in (select value from json_each(?1))";

pub(super) const READ: &str = concat!(
    "select ",
    message::columns!(),
    ", ",
    dead_letter::columns!(),
    ", m.correlation, m.expires_at, m.dialect, m.context, m.answer_by, ",
    message::carried!(if "?2"),
    ", (select coalesce(sum((t.outcome is not null) \
          + (select count(*) from attempt where attempt.delivery = t.id)), 0) \
      from delivery t where t.message = m.seq) as attempts, \
     (select agent from delivery where message = m.seq and not observer \
      order by id desc limit 1) as asked \
     from dead_letter d cross join message m on m.seq = d.message \
     where d.message in (select value from json_each(?1)) order by d.message"
);

/// As much as is read at once of what messages and their attempts carry; one letter alone may be more.
const BYTES: u64 = 4 * 1024 * 1024;

/// How many of these letters, from the first on, are not too much at once; one always is not.
pub(super) async fn fitting(
    connection: &mut SqliteConnection,
    seqs: &[u64],
    with_attempts: bool,
) -> Result<usize, Error> {
    let query = sqlx::query(SIZES).bind(list(seqs)).bind(with_attempts);
    let mut sizes = HashMap::new();
    for row in query.fetch_all(connection).await? {
        sizes.insert(uint(row.try_get("seq")?), uint(row.try_get("size")?));
    }
    let mut bytes = 0;
    let too_much = |seq: &u64| {
        bytes += sizes.get(seq).copied().unwrap_or(0);
        bytes > BYTES
    };
    let fitting = seqs.iter().position(too_much).unwrap_or(seqs.len());
    Ok(fitting.max(1).min(seqs.len()))
}

/// These letters, oldest first.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    seqs: &[u64],
    payloads: bool,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    sqlx::query(READ).bind(list(seqs)).bind(payloads).fetch_all(connection).await
}

fn list(seqs: &[u64]) -> String {
    serde_json::Value::from(seqs).to_string()
}

pub(super) fn letter_row(found: &SqliteRow) -> Result<LetterRow, Error> {
    let row = message::with_payload(found)?;
    Ok(LetterRow {
        seq: row.seq,
        id: row.id,
        message_id: row.id,
        from: row.from,
        // Whom it was for, or else who was asked last.
        to: match row.to {
            None => found.try_get::<Option<&str>, _>("asked")?.map(agent_id).transpose()?,
            to => to,
        },
        topic: row.topic.unwrap_or_default(),
        capability: row.capability,
        kind: row.kind,
        priority: row.priority,
        door: row.door,
        conversation_id: row.conversation_id,
        created_at: row.created_at,
        letter: dead_letter::read(found)?,
        error: row.error,
        attempts: found.try_get("attempts")?,
        replay_of: message::replay_of(found)?,
        payload_bytes: row.payload_bytes,
        payload: row.payload,
    })
}
