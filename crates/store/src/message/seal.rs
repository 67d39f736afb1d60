//! Seals: whether a message is as it was written.

use crc32fast::Hasher;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::Error;
use crate::rows::uint;

/// What a message carries, with what it takes to know whether that is as it was written. Only where payloads are read:
/// it lies behind them.
macro_rules! carried {
    () => {
        "m.payload, m.seal, m.seq >= (select sealed_from from total) as sealed"
    };
    (if $condition:literal) => {
        concat!(
            "case when ",
            $condition,
            " then m.payload end as payload, case when ",
            $condition,
            " then m.seal end as seal, m.seq >= (select sealed_from from total) as sealed"
        )
    };
}
pub(crate) use carried;

/// A change of one bit is always seen, others but for one in four thousand million.
pub(crate) fn seal(seq: i64, id: &[u8], sender: &str, topic: &str, payload: &str) -> i64 {
    // In no text: so none can take over what was another's.
    let end = &[0xff][..];
    // Put together first where that is little: to begin and end costs more than the few bytes between.
    let head = [&seq.to_be_bytes()[..], id, sender.as_bytes(), end, topic.as_bytes(), end].concat();
    let mut hasher = Hasher::new();
    hasher.update(&head);
    hasher.update(payload.as_bytes());
    hasher.update(end);
    i64::from(hasher.finalize())
}

/// What a message carries; none where it was not asked for. Refuses what is not as it was written.
pub(crate) fn carried_by(row: &SqliteRow) -> Result<Option<&str>, Error> {
    let Some(payload) = row.try_get::<Option<&str>, _>("payload")? else { return Ok(None) };
    let seq: i64 = row.try_get("seq")?;
    let whole = match row.try_get::<Option<i64>, _>("seal")? {
        Some(sealed) => {
            let (sender, topic) = (row.try_get("sender")?, row.try_get("topic")?);
            sealed == seal(seq, row.try_get("id")?, sender, topic, payload)
        }
        None => !row.try_get::<bool, _>("sealed")?,
    };
    if whole { Ok(Some(payload)) } else { Err(Error::Altered { message: uint(seq) }) }
}

/// The same where it was asked for.
pub(crate) fn payload(row: &SqliteRow) -> Result<&str, Error> {
    carried_by(row)?.ok_or_else(|| crate::agent::meaningless("a payload", "null"))
}
