//! The tables `search`, `search_progress` and `search_again`: finding messages by their words.
//!
//! The index runs behind: the writer fills it when nobody waits for a commit. Readers look at what is
//! not in it yet row by row, so a search misses nothing.

use rusqlite::{Rows, params};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::{MessageFilter, search_words};

use crate::Error;
use crate::batch::{NewMessage, Settle};
use crate::block;
use crate::pen::Pen;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[
    MARK,
    MARK_LATE,
    INSERT,
    PROGRESS,
    BEHIND,
    ADVANCE,
    NEXT_SIZES,
    NEXT,
    STALE_SIZES,
    STALE,
    REMOVE_STALE,
    DONE_AGAIN,
];

/// Marks a message whose words are about to grow: nobody had it, and now somebody has.
const MARK: &str = "insert or ignore into search_again (seq) \
     select seq from message where seq = ? and recipient is null";

/// Marks a message that came later than others with higher numbers.
const MARK_LATE: &str = "insert or ignore into search_again (seq) values (?)";

const INSERT: &str = "insert into search (rowid, words) values (?, ?)";

const PROGRESS: &str = "select up_to from search_progress";

const BEHIND: &str = "select (select count(*) from message where seq > \
     (select up_to from search_progress)) + (select count(*) from search_again) as behind";

const ADVANCE: &str = "update search_progress set up_to = ?";

const NEXT_SIZES: &str =
    "select octet_length(payload) as size from message where seq > ? order by seq limit ?";

const STALE_SIZES: &str = "select octet_length(m.payload) as size \
     from search_again s cross join message m on m.seq = s.seq order by s.seq limit ?";

/// What `read` reads.
macro_rules! columns {
    () => {
        "m.seq, m.sender, m.recipient, m.topic, m.capability, m.kind, m.priority, m.door, \
         m.accepted_at, m.payload"
    };
}

const NEXT: &str =
    concat!("select ", columns!(), " from message m where m.seq > ? order by m.seq limit ?");

const STALE: &str = concat!(
    "select ",
    columns!(),
    " from search_again s cross join message m on m.seq = s.seq order by s.seq limit ?"
);

const REMOVE_STALE: &str =
    "delete from search where rowid in (select seq from search_again order by seq limit ?)";

const DONE_AGAIN: &str =
    "delete from search_again where seq in (select seq from search_again order by seq limit ?)";

/// How much one step of indexing takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stride {
    messages: u32,
    bytes: u64,
}

impl Stride {
    /// Little enough that a message which comes in meanwhile hardly waits.
    pub(crate) const SHORT: Self = Self { messages: 128, bytes: 512 * 1024 };
    /// Enough that the index is not written many times for what fits in one; for when nothing comes in.
    pub(crate) const LONG: Self = Self { messages: 1024, bytes: 1024 * 1024 };
}

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
pub(crate) fn mark_late(
    pen: &Pen,
    messages: &[NewMessage<'_>],
    up_to: u64,
) -> rusqlite::Result<()> {
    for new in messages.iter().filter(|new| new.message.seq <= up_to) {
        pen.run(MARK_LATE, [int(new.message.seq)])?;
    }
    Ok(())
}

/// Notes which of these settled messages will have to be indexed again. Comes before the settling.
pub(crate) fn mark(pen: &Pen, settles: &[Settle<'_>], up_to: u64) -> rusqlite::Result<()> {
    let gains_a_word = |settle: &&Settle<'_>| settle.to.is_some() && settle.message <= up_to;
    for settle in settles.iter().filter(gains_a_word) {
        pen.run(MARK, [int(settle.message)])?;
    }
    Ok(())
}

/// What the index and the blocks have of a message.
pub(crate) struct Entry {
    pub(crate) seq: u64,
    pub(crate) sender: String,
    pub(crate) recipient: Option<String>,
    pub(crate) topic: String,
    pub(crate) capability: Option<String>,
    pub(crate) kind: String,
    pub(crate) priority: String,
    pub(crate) door: String,
    pub(crate) accepted_at: i64,
    words: String,
}

/// One step of indexing after `up_to`, to be run in a transaction. Returns how far the index now
/// goes and whether there may be more to do.
pub(crate) fn step(pen: &Pen, up_to: u64, stride: Stride) -> rusqlite::Result<(u64, bool)> {
    let most = params![int(up_to), stride.messages];
    let count = within(&mut pen.statement(NEXT_SIZES)?.query(most)?, stride)?;
    let fresh = entries(&mut pen.statement(NEXT)?.query(params![int(up_to), count])?)?;
    add(pen, &fresh)?;
    let now = fresh.last().map_or(up_to, |entry| entry.seq);
    if now > up_to {
        pen.run(ADVANCE, [int(now)])?;
    }

    let count = within(&mut pen.statement(STALE_SIZES)?.query([stride.messages])?, stride)?;
    let stale = entries(&mut pen.statement(STALE)?.query([count])?)?;
    if !stale.is_empty() {
        for statement in [REMOVE_STALE, DONE_AGAIN] {
            pen.run(statement, [count])?;
        }
        add(pen, &stale)?;
    }
    Ok((now, !fresh.is_empty() || !stale.is_empty()))
}

/// How many of these messages fit in one step; at least one, if there is one.
fn within(sizes: &mut Rows<'_>, stride: Stride) -> rusqlite::Result<u32> {
    let mut bytes = 0;
    let mut count = 0;
    while let Some(row) = sizes.next()? {
        bytes += uint(row.get(0)?);
        if count > 0 && bytes > stride.bytes {
            break;
        }
        count += 1;
    }
    Ok(count)
}

fn entries(rows: &mut Rows<'_>) -> rusqlite::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let mut entry = Entry {
            seq: uint(row.get(0)?),
            sender: row.get(1)?,
            recipient: row.get(2)?,
            topic: row.get(3)?,
            capability: row.get(4)?,
            kind: row.get(5)?,
            priority: row.get(6)?,
            door: row.get(7)?,
            accepted_at: row.get(8)?,
            words: String::new(),
        };
        let names = [
            Some(entry.sender.as_str()),
            entry.recipient.as_deref(),
            Some(entry.topic.as_str()),
            entry.capability.as_deref(),
        ];
        entry.words = search_words(names, row.get_ref(9)?.as_str()?);
        entries.push(entry);
    }
    Ok(entries)
}

/// Puts messages into the index, and describes the blocks they are in.
fn add(pen: &Pen, entries: &[Entry]) -> rusqlite::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut insert = pen.statement(INSERT)?;
    for entry in entries {
        insert.execute(params![int(entry.seq), entry.words])?;
    }
    block::note(pen, entries)
}
