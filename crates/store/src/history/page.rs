//! The ways to a page of history. What no block describes yet is looked at itself, newest first; below
//! that an index leads there, or blocks tell what to pass over.

use sqlx::sqlite::SqliteConnection;
use sqlx::{Row, Sqlite, Transaction};
use switchboard_model::{MessageRow, MessageState, Payload};

use super::{
    COUNT_SLOW, FAILED, FOUND, FOUND_AGAIN, MessageList, OF_CONVERSATION, PAGE, Page, SLOW, WAITING,
};
use crate::message::with_payload;
use crate::rows::int;
use crate::{Error, block, search, word_list};

/// How many messages are read at a time where words are looked for row by row; few, because each may
/// carry a large payload.
const CHUNK: u32 = 64;
/// The most that are looked at row by row for one page.
const MOST: usize = 16_384;
/// In how many blocks words are looked for first, and how many times more whenever that was not enough: words that
/// many messages have are found soon, and so are those that few have.
const FIRST_BLOCKS: usize = 8;
const WIDER: usize = 4;
/// How many messages that have the words are read at a time.
const AT_ONCE: usize = 256;
/// What took longer than this has an index.
const SLOW_MICROS: u64 = 1_000_000;
/// So many that took long are not few.
const MANY_SLOW: u32 = 16_384;

impl Page<'_> {
    /// One snapshot for all places where a match may be, so that none is missed or doubled.
    pub(super) async fn read(
        &self,
        snapshot: &mut Transaction<'_, Sqlite>,
    ) -> Result<MessageList, Error> {
        let up_to = search::progress(&mut *snapshot).await?;
        if self.filter.words().is_empty() {
            let rows = self.without_words(&mut *snapshot, up_to).await?;
            return Ok(self.list(rows));
        }
        self.by_words(&mut *snapshot, up_to).await
    }

    async fn without_words(
        &self,
        connection: &mut SqliteConnection,
        up_to: u64,
    ) -> Result<Vec<MessageRow>, Error> {
        if let Some(statement) = self.by_an_index() {
            return self.rows(connection, statement, 0, self.before, self.limit).await;
        }
        if self.few_are_slow(&mut *connection).await? {
            return self.rows(connection, SLOW, 0, self.before, self.limit).await;
        }
        if !block::helps(self.filter) {
            return self.rows(connection, PAGE, 0, self.before, self.limit).await;
        }
        let mut found = self.rows(&mut *connection, PAGE, up_to, self.before, self.limit).await?;
        let before = self.before.min(up_to.saturating_add(1));
        found.extend(self.in_blocks(&mut *connection, before, self.missing(&found)).await?);
        // Blocks may not know yet who took these.
        let again = self.rows(connection, FOUND_AGAIN, 0, before, self.limit).await?;
        found.extend(again);
        Ok(self.in_order(found))
    }

    fn by_an_index(&self) -> Option<&'static str> {
        match self.filter.state {
            Some(MessageState::Waiting) => return Some(WAITING),
            Some(
                MessageState::Dead
                | MessageState::Discarded
                | MessageState::Expired
                | MessageState::Refused,
            ) => return Some(FAILED),
            Some(MessageState::Processed) | None => {}
        }
        self.filter.conversation.is_some().then_some(OF_CONVERSATION)
    }

    /// Whether those that took as long as is asked for are in the index of slow ones, and are few. Where
    /// they are many, they are soon found among all.
    async fn few_are_slow(&self, connection: &mut SqliteConnection) -> Result<bool, Error> {
        let Some(least) = self.filter.slower_micros.filter(|micros| *micros > SLOW_MICROS) else {
            return Ok(false);
        };
        let query = sqlx::query(COUNT_SLOW).bind(int(least)).bind(int(self.before));
        let counted = query.bind(MANY_SLOW).fetch_one(connection).await?;
        Ok(counted.try_get::<u32, _>("slow")? < MANY_SLOW)
    }

    async fn in_blocks(
        &self,
        connection: &mut SqliteConnection,
        before: u64,
        limit: u32,
    ) -> Result<Vec<MessageRow>, Error> {
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        for number in block::candidates(&mut *connection, self.filter, before).await? {
            let (after, end) = bounds(number, before);
            let left = limit - u32::try_from(found.len()).unwrap_or(limit);
            found.extend(self.rows(&mut *connection, PAGE, after, end, left).await?);
            if found.len() >= limit as usize {
                break;
            }
        }
        Ok(found)
    }

    async fn by_words(
        &self,
        snapshot: &mut SqliteConnection,
        up_to: u64,
    ) -> Result<MessageList, Error> {
        let (mut found, stopped) =
            self.one_by_one(&mut *snapshot, PAGE, up_to, self.before).await?;
        if found.len() >= self.limit as usize || stopped.is_some() {
            return Ok(MessageList { next: stopped, ..self.list(found) }.or_full(self.limit));
        }
        let before = self.before.min(up_to.saturating_add(1));
        found.extend(self.having_words(&mut *snapshot, before, self.missing(&found)).await?);
        found.extend(self.one_by_one(&mut *snapshot, FOUND_AGAIN, 0, before).await?.0);
        Ok(self.list(self.in_order(found)))
    }

    /// Those in blocks that have all the words, newest first.
    async fn having_words(
        &self,
        connection: &mut SqliteConnection,
        before: u64,
        limit: u32,
    ) -> Result<Vec<MessageRow>, Error> {
        let words = self.filter.words();
        let blocks = block::candidates(&mut *connection, self.filter, before).await?;
        let mut found = Vec::new();
        let (mut left, mut width) = (&blocks[..], FIRST_BLOCKS);
        while !left.is_empty() {
            let (now, later) = left.split_at(width.min(left.len()));
            let having = word_list::having(&mut *connection, &words, now).await?;
            let newest_first = having.iter().rev();
            let seqs: Vec<u64> = newest_first
                .flat_map(|(block, marked)| marked.seqs(*block))
                .filter(|seq| *seq < before)
                .collect();
            for some in seqs.chunks(AT_ONCE) {
                let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
                if left == 0 {
                    return Ok(found);
                }
                let some = serde_json::Value::from(some).to_string();
                let query = sqlx::query(FOUND).bind(some);
                let query = self.bind(query, before, left, self.payloads);
                for row in query.fetch_all(&mut *connection).await? {
                    found.push(with_payload(&row)?);
                }
            }
            (left, width) = (later, width * WIDER);
        }
        Ok(found)
    }

    async fn rows(
        &self,
        connection: &mut SqliteConnection,
        statement: &'static str,
        after: u64,
        before: u64,
        limit: u32,
    ) -> Result<Vec<MessageRow>, Error> {
        let query =
            self.bind(sqlx::query(statement).bind(int(after)), before, limit, self.payloads);
        query.fetch_all(connection).await?.iter().map(with_payload).collect()
    }

    /// Looks at each message after `after` and before `before` itself, newest first, until the page is
    /// full; tells where it stopped, if it looked at as many as it may.
    async fn one_by_one(
        &self,
        connection: &mut SqliteConnection,
        statement: &'static str,
        after: u64,
        mut before: u64,
    ) -> Result<(Vec<MessageRow>, Option<u64>), Error> {
        let mut found = Vec::new();
        let mut looked_at = 0;
        loop {
            let query = self.bind(sqlx::query(statement).bind(int(after)), before, CHUNK, true);
            let rows = query.fetch_all(&mut *connection).await?;
            for row in &rows {
                let mut row = with_payload(row)?;
                before = row.seq;
                let payload = row.payload.take();
                let text = payload.as_ref().map_or("", Payload::as_str);
                if self.filter.accepts(&row, text) {
                    row.payload = payload.filter(|_| self.payloads);
                    found.push(row);
                }
                if found.len() >= self.limit as usize {
                    return Ok((found, None));
                }
            }
            looked_at += rows.len();
            if rows.len() < CHUNK as usize {
                return Ok((found, None));
            }
            if looked_at >= MOST {
                return Ok((found, Some(before)));
            }
        }
    }

    fn missing(&self, found: &[MessageRow]) -> u32 {
        self.limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX))
    }

    fn in_order(&self, mut found: Vec<MessageRow>) -> Vec<MessageRow> {
        found.sort_by_key(|row| std::cmp::Reverse(row.seq));
        found.dedup_by_key(|row| row.seq);
        found.truncate(self.limit as usize);
        found
    }

    fn list(&self, rows: Vec<MessageRow>) -> MessageList {
        MessageList { rows, next: None }.or_full(self.limit)
    }
}

impl MessageList {
    /// After a full page there may be more.
    fn or_full(mut self, limit: u32) -> Self {
        if self.rows.len() >= limit as usize {
            self.next = self.rows.last().map(|row| row.seq);
        }
        self
    }
}

/// The seqs of a block, as far as they come before `before`: after the first of these, and before the
/// second.
fn bounds(number: u64, before: u64) -> (u64, u64) {
    let first = number * block::SPAN;
    (first.saturating_sub(1), before.min(first + block::SPAN))
}
