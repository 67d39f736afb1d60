//! The tables `search_progress` and `search_again`: how far messages are described by their words and in blocks.
//!
//! That runs behind: the writer does it for whole blocks, when nobody waits for a commit. Readers look at what is not
//! described yet row by row, so a search misses nothing.

use rusqlite::{Row as Found, Rows, params};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::each_search_word;

use crate::Error;
use crate::batch::{NewMessage, Settle};
use crate::block::{self, Block, Entry};
use crate::pen::Pen;
use crate::rows::{int, uint};
use crate::word_list::Gathered;

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[MARK, MARK_LATE, PROGRESS, BEHIND, ADVANCE, NEXT, AGAIN, DONE_AGAIN];

/// Marks a message whose words are about to grow: nobody had it, and now somebody has.
const MARK: &str = "insert or ignore into search_again (seq) \
     select seq from message where seq = ? and recipient is null";

/// Marks a message that came later than others with higher numbers.
const MARK_LATE: &str = "insert or ignore into search_again (seq) values (?)";

const PROGRESS: &str = "select up_to from search_progress";

const BEHIND: &str = "select (select count(*) from message where seq > \
     (select up_to from search_progress)) + (select count(*) from search_again) as behind";

const ADVANCE: &str = "update search_progress set up_to = ?";

/// What `entry` reads.
macro_rules! columns {
    () => {
        "m.seq, m.sender, m.recipient, m.topic, m.capability, m.kind, m.priority, m.door, \
         m.accepted_at, m.payload"
    };
}

const NEXT: &str =
    concat!("select ", columns!(), " from message m where m.seq > ? and m.seq <= ? order by m.seq");

const AGAIN: &str = concat!(
    "select ",
    columns!(),
    " from search_again s cross join message m on m.seq = s.seq where s.seq > ? and s.seq <= ? \
     order by s.seq"
);

const DONE_AGAIN: &str = "delete from search_again where seq <= ?";

/// What was looked at is written down when its messages carry so much, though their block is not full: until then it
/// is kept in memory.
const BYTES: usize = 1 << 20;
/// So many changed messages are described again together.
const AGAIN_AT_ONCE: usize = 2048;

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

/// Messages of one block that were looked at, and what is to be written of them.
#[derive(Default)]
pub(crate) struct Begun {
    described: Described,
    /// All messages up to here were looked at.
    up_to: u64,
    bytes: usize,
}

impl Begun {
    /// All messages up to here were looked at, if any were.
    pub(crate) fn up_to(&self) -> u64 {
        self.up_to
    }

    /// Looks at some more messages of the block that begins after `after` or goes on there, as far as `up_to`. Returns
    /// whether what was looked at is to be written down now.
    pub(crate) fn look(
        &mut self,
        pen: &Pen,
        (after, up_to): (u64, u64),
        most: usize,
    ) -> rusqlite::Result<bool> {
        let from = self.up_to.max(after);
        let end = up_to.min((block::of(from + 1) + 1) * block::SPAN - 1);
        if from >= end {
            return Ok(false);
        }
        let bytes = BYTES.saturating_sub(self.bytes);
        let (bytes, more) = self.described.gather(pen, NEXT, (from, end), (most, bytes))?;
        self.bytes += bytes;
        self.up_to = if more { self.described.last } else { end };
        Ok(self.up_to == end || self.bytes >= BYTES)
    }

    /// Writes down what was looked at, and describes again what has changed since it was described; to be run in a
    /// transaction. Returns how far messages are described now, and whether more have changed.
    pub(crate) fn write(self, pen: &Pen, after: u64) -> rusqlite::Result<(u64, bool)> {
        let now = self.up_to.max(after);
        if now > after {
            pen.run(ADVANCE, [int(now)])?;
        }
        let mut again = Described::default();
        let (_, more) = again.gather(pen, AGAIN, (0, now), (AGAIN_AT_ONCE, BYTES))?;
        if again.last > 0 {
            pen.run(DONE_AGAIN, [int(if more { again.last } else { now })])?;
        }
        self.described.write(pen)?;
        again.write(pen)?;
        Ok((now, more))
    }
}

/// Messages as they are described.
#[derive(Default)]
struct Described {
    blocks: Vec<(u64, Block, Gathered)>,
    /// The last of them; 0 if there are none.
    last: u64,
}

impl Described {
    /// Reads and adds as many as may be, in messages and bytes. Returns the bytes, and whether there are more.
    fn gather(
        &mut self,
        pen: &Pen,
        statement: &'static str,
        (after, up_to): (u64, u64),
        (most, most_bytes): (usize, usize),
    ) -> rusqlite::Result<(usize, bool)> {
        let (mut messages, mut bytes) = (0, 0);
        let mut statement = pen.statement(statement)?;
        let mut rows: Rows<'_> = statement.query(params![int(after), int(up_to)])?;
        while let Some(row) = rows.next()? {
            if messages == most || bytes >= most_bytes {
                return Ok((bytes, true));
            }
            bytes += self.add(row)?;
            messages += 1;
        }
        Ok((bytes, false))
    }

    fn add(&mut self, row: &Found<'_>) -> rusqlite::Result<usize> {
        let (entry, payload) = entry(row)?;
        let number = block::of(entry.seq);
        if self.blocks.last().is_none_or(|(last, ..)| *last != number) {
            self.blocks.push((number, Block::default(), Gathered::default()));
        }
        if let Some((_, block, words)) = self.blocks.last_mut() {
            block.add(&entry);
            let names = [Some(entry.sender), entry.recipient, Some(entry.topic), entry.capability];
            each_search_word(names, payload, |word| words.add(entry.seq, word));
        }
        self.last = entry.seq;
        Ok(payload.len())
    }

    fn write(self, pen: &Pen) -> rusqlite::Result<()> {
        for (number, block, words) in self.blocks {
            block.note(pen, number)?;
            words.write(pen, number)?;
        }
        Ok(())
    }
}

fn entry<'a>(row: &'a Found<'_>) -> rusqlite::Result<(Entry<'a>, &'a str)> {
    let text = |column| -> rusqlite::Result<&'a str> { Ok(row.get_ref(column)?.as_str()?) };
    let if_any = |column| -> rusqlite::Result<Option<&'a str>> {
        Ok(row.get_ref(column)?.as_str_or_null()?)
    };
    let entry = Entry {
        seq: uint(row.get(0)?),
        sender: text(1)?,
        recipient: if_any(2)?,
        topic: text(3)?,
        capability: if_any(4)?,
        kind: text(5)?,
        priority: text(6)?,
        door: text(7)?,
        accepted_at: row.get(8)?,
    };
    Ok((entry, text(9)?))
}
