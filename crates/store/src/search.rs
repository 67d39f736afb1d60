//! The tables `search`, `search_progress` and `search_again`: finding messages by their words.
//!
//! The index runs behind: the writer fills it when nobody waits for a commit. Readers look at what is
//! not in it yet row by row, so a search misses nothing.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{MessageFilter, MessageRow, search_words};

use crate::Error;
use crate::batch::{NewMessage, Settle};
use crate::rows::{Many, int, uint};
use crate::{block, message};

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[PROGRESS, BEHIND, ADVANCE, NEXT_SIZES, NEXT, STALE_SIZES, STALE, REMOVE_STALE, DONE_AGAIN];

/// Marks messages whose words are about to grow: nobody had them, and now somebody has.
pub(crate) static MARK: Many = Many::new(
    "insert or ignore into search_again (seq) select m.seq from",
    1,
    "join message m on m.seq = new.column1 where m.recipient is null",
);

/// Marks messages that came later than others with higher numbers.
pub(crate) static MARK_LATE: Many = Many::new(
    "insert or ignore into search_again (seq) select * from",
    1,
    "where column1 is not null",
);

pub(crate) static INSERT: Many =
    Many::new("insert into search (rowid, words) select * from", 2, "where column1 is not null");

const PROGRESS: &str = "select up_to from search_progress";

const BEHIND: &str = "select (select count(*) from message where seq > \
     (select up_to from search_progress)) + (select count(*) from search_again) as behind";

const ADVANCE: &str = "update search_progress set up_to = ?";

const NEXT_SIZES: &str =
    "select octet_length(payload) as size from message where seq > ? order by seq limit ?";

const STALE_SIZES: &str = "select octet_length(m.payload) as size \
     from search_again s cross join message m on m.seq = s.seq order by s.seq limit ?";

const NEXT: &str = concat!(
    "select ",
    message::columns!(),
    ", m.payload from message m where m.seq > ? order by m.seq limit ?"
);

const STALE: &str = concat!(
    "select ",
    message::columns!(),
    ", m.payload from search_again s cross join message m on m.seq = s.seq order by s.seq limit ?"
);

const REMOVE_STALE: &str =
    "delete from search where rowid in (select seq from search_again order by seq limit ?)";

const DONE_AGAIN: &str =
    "delete from search_again where seq in (select seq from search_again order by seq limit ?)";

/// How many messages and bytes one step of indexing takes: few enough that a message which comes in
/// meanwhile hardly waits.
const STEP: u32 = 128;
const STEP_BYTES: u64 = 512 * 1024;

/// The words typed, as a query that finds messages in which each begins some word. They are letters
/// and digits only; the quotes keep even `AND` a word.
pub(crate) fn query(filter: &MessageFilter) -> Option<String> {
    let words = filter.words();
    let terms = words.iter().map(|word| format!("\"{word}\"*"));
    (!words.is_empty()).then(|| terms.collect::<Vec<_>>().join(" AND "))
}

/// Messages up to here are in the index.
pub(crate) async fn progress(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    let row = sqlx::query(PROGRESS).fetch_one(connection).await?;
    Ok(uint(row.try_get("up_to")?))
}

/// How many messages are not in the index, or not with all their words.
pub(crate) async fn behind(connection: &mut SqliteConnection) -> Result<u64, Error> {
    let row = sqlx::query(BEHIND).fetch_one(connection).await?;
    Ok(uint(row.try_get("behind")?))
}

/// Notes which of these new messages the index has passed already.
pub(crate) async fn mark_late(
    connection: &mut SqliteConnection,
    messages: &[NewMessage<'_>],
    up_to: u64,
) -> Result<(), sqlx::Error> {
    let seqs = messages.iter().map(|new| new.message.seq);
    let late: Vec<u64> = seqs.filter(|seq| *seq <= up_to).collect();
    MARK_LATE
        .run(connection, &late, |values, seq| {
            values.bind(int(*seq));
        })
        .await?;
    Ok(())
}

/// Notes which of these settled messages will have to be indexed again. Comes before the settling.
pub(crate) async fn mark(
    connection: &mut SqliteConnection,
    settles: &[Settle<'_>],
    up_to: u64,
) -> Result<(), sqlx::Error> {
    let gains_a_word = |settle: &&Settle<'_>| settle.to.is_some() && settle.message <= up_to;
    let seqs: Vec<u64> = settles.iter().filter(gains_a_word).map(|settle| settle.message).collect();
    MARK.run(connection, &seqs, |values, seq| {
        values.bind(int(*seq));
    })
    .await?;
    Ok(())
}

/// One step of indexing after `up_to`, to be run in a transaction. Returns how far the index now
/// goes and whether there may be more to do.
pub(crate) async fn step(
    connection: &mut SqliteConnection,
    up_to: u64,
) -> Result<(u64, bool), Error> {
    let sizes = sqlx::query(NEXT_SIZES).bind(int(up_to)).bind(STEP);
    let count = within(&sizes.fetch_all(&mut *connection).await?)?;
    let fresh = sqlx::query(NEXT).bind(int(up_to)).bind(count);
    let fresh = words(&fresh.fetch_all(&mut *connection).await?)?;
    add(&mut *connection, &fresh).await?;
    let now = fresh.last().map_or(up_to, |(row, _)| row.seq);
    if now > up_to {
        let advance = sqlx::query(ADVANCE).bind(int(now));
        advance.execute(&mut *connection).await?;
    }

    let sizes = sqlx::query(STALE_SIZES).bind(STEP);
    let count = within(&sizes.fetch_all(&mut *connection).await?)?;
    let stale = sqlx::query(STALE).bind(count);
    let stale = words(&stale.fetch_all(&mut *connection).await?)?;
    if !stale.is_empty() {
        for statement in [REMOVE_STALE, DONE_AGAIN] {
            let query = sqlx::query(statement).bind(count);
            query.execute(&mut *connection).await?;
        }
        add(&mut *connection, &stale).await?;
    }
    Ok((now, !fresh.is_empty() || !stale.is_empty()))
}

/// How many of these messages fit in one step; at least one, if there is one.
fn within(sizes: &[SqliteRow]) -> Result<u32, sqlx::Error> {
    let mut bytes = 0;
    let mut count = 0;
    for row in sizes {
        bytes += uint(row.try_get("size")?);
        if count > 0 && bytes > STEP_BYTES {
            break;
        }
        count += 1;
    }
    Ok(count)
}

fn words(rows: &[SqliteRow]) -> Result<Vec<(MessageRow, String)>, Error> {
    let words_of = |row: &SqliteRow| {
        let view = message::row(row)?;
        let words = search_words(&view, row.try_get("payload")?);
        Ok((view, words))
    };
    rows.iter().map(words_of).collect()
}

/// Puts messages into the index, and describes the blocks they are in.
async fn add(
    connection: &mut SqliteConnection,
    entries: &[(MessageRow, String)],
) -> Result<(), sqlx::Error> {
    if entries.is_empty() {
        return Ok(());
    }
    INSERT
        .run(&mut *connection, entries, |values, (row, words)| {
            values.bind(int(row.seq)).text(words);
        })
        .await?;
    let rows: Vec<&MessageRow> = entries.iter().map(|(row, _)| row).collect();
    block::note(connection, &rows).await
}
