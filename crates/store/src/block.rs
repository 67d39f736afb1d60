//! The table `history_block`: what occurs in which stretch of history.
//!
//! A stretch that cannot have what a filter wants is passed over without reading its messages. What a
//! block says is never too little: names are only ever added.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{MessageFilter, MessageRow};

use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[READ, WRITE, CANDIDATES, FORGET];

/// Messages in one block.
pub(crate) const SPAN: u64 = 1024;

const READ: &str = "select senders, recipients, subjects, kinds, doors, priorities, first_at, \
     last_at from history_block where number = ?";

const WRITE: &str = "insert or replace into history_block (number, senders, recipients, subjects, \
     kinds, doors, priorities, first_at, last_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?)";

const CANDIDATES: &str = "select number from history_block where number <= ?1 \
     and (?2 is null or instr(senders, ?2) > 0) \
     and (?3 is null or instr(recipients, ?3) > 0) \
     and (?4 is null or instr(senders, ?4) > 0 or instr(recipients, ?4) > 0) \
     and (?5 is null or instr(subjects, ?5) > 0) \
     and (?6 is null or instr(kinds, ?6) > 0) \
     and (?7 is null or instr(doors, ?7) > 0) \
     and (?8 is null or instr(priorities, ?8) > 0) \
     and (?9 is null or last_at >= ?9) \
     and (?10 is null or first_at < ?10) \
     order by number desc";

/// Blocks whose messages are all forgotten.
const FORGET: &str =
    "delete from history_block where number < (select min(seq) from message) / 1024";

/// The block that a message is in.
pub(crate) fn of(seq: u64) -> u64 {
    seq / SPAN
}

/// Whether a block can tell that it has nothing for this filter.
pub(crate) fn helps(filter: &MessageFilter) -> bool {
    filter.from_part().is_some()
        || filter.to_part().is_some()
        || filter.agent_part().is_some()
        || filter.topic_part().is_some()
        || filter.kind.is_some()
        || filter.door.is_some()
        || filter.priority.is_some()
        || filter.since.is_some()
        || filter.until.is_some()
}

/// The blocks that may have something for this filter before `before`, newest first.
pub(crate) async fn candidates(
    connection: &mut SqliteConnection,
    filter: &MessageFilter,
    before: u64,
) -> Result<Vec<u64>, sqlx::Error> {
    let query = sqlx::query(CANDIDATES)
        .bind(int(of(before.saturating_sub(1))))
        .bind(filter.from_part())
        .bind(filter.to_part())
        .bind(filter.agent_part())
        .bind(filter.topic_part())
        .bind(filter.kind.map(|kind| kind.as_str()))
        .bind(filter.door.map(|door| door.as_str()))
        .bind(filter.priority.map(|priority| priority.as_str()))
        .bind(filter.since.map(|since| since.0))
        .bind(filter.until.map(|until| until.0));
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get("number").map(uint)).collect()
}

/// Adds what occurs in these messages to their blocks.
pub(crate) async fn note(
    connection: &mut SqliteConnection,
    messages: &[&MessageRow],
) -> Result<(), sqlx::Error> {
    let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
    for message in messages {
        blocks.entry(of(message.seq)).or_default().add(message);
    }
    for (number, mut block) in blocks {
        let read = sqlx::query(READ).bind(int(number));
        if let Some(row) = read.fetch_optional(&mut *connection).await? {
            block.add_known(&row)?;
        }
        block.write(number, &mut *connection).await?;
    }
    sqlx::query(FORGET).execute(connection).await?;
    Ok(())
}

#[derive(Default)]
struct Block {
    senders: BTreeSet<String>,
    recipients: BTreeSet<String>,
    subjects: BTreeSet<String>,
    kinds: BTreeSet<String>,
    doors: BTreeSet<String>,
    priorities: BTreeSet<String>,
    first_at: Option<i64>,
    last_at: Option<i64>,
}

impl Block {
    fn add(&mut self, message: &MessageRow) {
        let at = message.created_at.0;
        self.senders.insert(message.from.as_str().to_ascii_lowercase());
        self.recipients.extend(message.to.as_ref().map(|to| to.as_str().to_ascii_lowercase()));
        let subjects = [&message.topic, &message.capability].into_iter().flatten();
        self.subjects.extend(subjects.map(|subject| subject.to_ascii_lowercase()));
        self.kinds.insert(message.kind.as_str().to_owned());
        self.doors.insert(message.door.as_str().to_owned());
        self.priorities.insert(message.priority.as_str().to_owned());
        self.times(at, at);
    }

    fn times(&mut self, first: i64, last: i64) {
        self.first_at = Some(self.first_at.map_or(first, |known| known.min(first)));
        self.last_at = Some(self.last_at.map_or(last, |known| known.max(last)));
    }

    fn add_known(&mut self, row: &SqliteRow) -> Result<(), sqlx::Error> {
        for (column, names) in [
            ("senders", &mut self.senders),
            ("recipients", &mut self.recipients),
            ("subjects", &mut self.subjects),
            ("kinds", &mut self.kinds),
            ("doors", &mut self.doors),
            ("priorities", &mut self.priorities),
        ] {
            names.extend(row.try_get::<&str, _>(column)?.lines().map(str::to_owned));
        }
        self.times(row.try_get("first_at")?, row.try_get("last_at")?);
        Ok(())
    }

    async fn write(
        self,
        number: u64,
        connection: &mut SqliteConnection,
    ) -> Result<(), sqlx::Error> {
        let lines = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join("\n");
        let query = sqlx::query(WRITE)
            .bind(int(number))
            .bind(lines(self.senders))
            .bind(lines(self.recipients))
            .bind(lines(self.subjects))
            .bind(lines(self.kinds))
            .bind(lines(self.doors))
            .bind(lines(self.priorities))
            .bind(self.first_at.unwrap_or_default())
            .bind(self.last_at.unwrap_or_default());
        query.execute(connection).await?;
        Ok(())
    }
}
