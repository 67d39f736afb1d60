//! The table `history_block`: what occurs in which stretch of history.
//!
//! A stretch that cannot have what a filter wants is passed over without reading its messages. What a
//! block says is never too little: names are only ever added.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rusqlite::{Row, params};
use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::MessageFilter;

use crate::pen::Pen;
use crate::rows::{int, uint};
use crate::word_list;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[READ, WRITE, CANDIDATES, IS_EMPTY, FORGET];

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

const IS_EMPTY: &str = "select not exists (select 1 from message where seq between ?1 and ?2)";

const FORGET: &str = "delete from history_block where number = ?";

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

/// Forgets the blocks of these messages, where all their messages are forgotten.
pub(crate) fn forget_empty(pen: &Pen, forgotten: &[u64]) -> rusqlite::Result<()> {
    for seqs in forgotten.chunk_by(|one, next| of(*one) == of(*next)) {
        let Some(number) = seqs.first().map(|seq| of(*seq)) else { continue };
        let first = number * SPAN;
        if pen.value(IS_EMPTY, [int(first), int(first + SPAN - 1)])? {
            pen.run(FORGET, [int(number)])?;
            word_list::forget(pen, number)?;
        }
    }
    Ok(())
}

/// What a block says of a message.
pub(crate) struct Entry<'a> {
    pub(crate) seq: u64,
    pub(crate) sender: &'a str,
    pub(crate) recipient: Option<&'a str>,
    pub(crate) topic: &'a str,
    pub(crate) capability: Option<&'a str>,
    pub(crate) kind: &'a str,
    pub(crate) priority: &'a str,
    pub(crate) door: &'a str,
    pub(crate) accepted_at: i64,
}

/// What occurs in some messages of a block.
#[derive(Default)]
pub(crate) struct Block {
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
    pub(crate) fn add(&mut self, entry: &Entry<'_>) {
        // Most names are there already, and a block has few; what is there need not be made again.
        let note = |names: &mut BTreeSet<String>, name: &str| {
            let name = lower(name);
            if !names.contains(&*name) {
                names.insert(name.into_owned());
            }
        };
        note(&mut self.senders, entry.sender);
        if let Some(recipient) = entry.recipient {
            note(&mut self.recipients, recipient);
        }
        note(&mut self.subjects, entry.topic);
        if let Some(capability) = entry.capability {
            note(&mut self.subjects, capability);
        }
        note(&mut self.kinds, entry.kind);
        note(&mut self.doors, entry.door);
        // Priorities are written in capitals, and looked for so.
        if !self.priorities.contains(entry.priority) {
            self.priorities.insert(entry.priority.to_owned());
        }
        self.times(entry.accepted_at, entry.accepted_at);
    }

    fn times(&mut self, first: i64, last: i64) {
        self.first_at = Some(self.first_at.map_or(first, |known| known.min(first)));
        self.last_at = Some(self.last_at.map_or(last, |known| known.max(last)));
    }

    /// In the order of the columns of `READ`.
    fn add_known(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let all = [
            &mut self.senders,
            &mut self.recipients,
            &mut self.subjects,
            &mut self.kinds,
            &mut self.doors,
            &mut self.priorities,
        ];
        for (column, names) in all.into_iter().enumerate() {
            names.extend(row.get_ref(column)?.as_str()?.lines().map(str::to_owned));
        }
        self.times(row.get("first_at")?, row.get("last_at")?);
        Ok(())
    }

    /// Adds it to what is known of the block.
    pub(crate) fn note(mut self, pen: &Pen, number: u64) -> rusqlite::Result<()> {
        if let Some(row) = pen.statement(READ)?.query([int(number)])?.next()? {
            self.add_known(row)?;
        }
        self.write(number, pen)
    }

    fn write(self, number: u64, pen: &Pen) -> rusqlite::Result<()> {
        let lines = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join("\n");
        let values = params![
            int(number),
            lines(self.senders),
            lines(self.recipients),
            lines(self.subjects),
            lines(self.kinds),
            lines(self.doors),
            lines(self.priorities),
            self.first_at.unwrap_or_default(),
            self.last_at.unwrap_or_default(),
        ];
        pen.run(WRITE, values).map(drop)
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}
