//! Reading back dead letters: pages for the operator, and whole messages for replay and export.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use switchboard_model::{
    DeadMessage, LetterFilter, LetterRow, LetterStatus, MessageFilter, MessageRow, Payload,
};

use crate::Error;
use crate::agent::agent_id;
use crate::history::{Page, filtered};
use crate::rows::{int, uint};
use crate::{dead_letter, delivery, message};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[NEWEST_FIRST, OLDEST_FIRST, COUNT];

/// Which letters, beside what their messages say.
macro_rules! wanted {
    () => {
        concat!(
            "from dead_letter d cross join message m on m.seq = d.message \
             where d.message > ?1 and d.message < ?2",
            filtered!(),
            "and d.status = ?12 and (?13 is null or d.reason = ?13) \
             and (?14 is null or d.job = ?14) \
             and (?15 is null or m.id in (select unhex(value) from json_each(?15))) "
        )
    };
}

/// What is read of each letter.
macro_rules! read {
    () => {
        concat!(
            "select ",
            message::columns!(),
            ", ",
            dead_letter::columns!(),
            ", m.correlation, m.expires_at, m.replay_of, m.payload, \
             (select count(*) from delivery join attempt on attempt.delivery = delivery.id \
              where delivery.message = m.seq) as attempts, \
             (select agent from delivery where message = m.seq and not observer \
              order by id desc limit 1) as asked "
        )
    };
}

const NEWEST_FIRST: &str =
    concat!(read!(), wanted!(), "and ?9 is not null order by d.message desc limit ?8");
const OLDEST_FIRST: &str =
    concat!(read!(), wanted!(), "and ?9 is not null order by d.message limit ?8");
const COUNT: &str =
    concat!("select count(*) as letters ", wanted!(), "and ?8 is not null and ?9 is not null");

/// How many letters are read at a time where words are looked for row by row.
const CHUNK: u32 = 64;

/// Some letters, and from where to where in the order of acceptance they are looked for.
struct Search<'a> {
    letters: &'a LetterFilter,
    messages: MessageFilter,
    ids: Option<String>,
    after: u64,
    before: u64,
}

impl<'a> Search<'a> {
    fn new(letters: &'a LetterFilter, after: u64, before: u64) -> Self {
        let messages = MessageFilter { state: None, ..letters.message.clone().unwrap_or_default() };
        let ids = letters.ids.as_ref().map(|ids| {
            let ids = ids.iter().map(|id| id.0.simple().to_string());
            serde_json::Value::from_iter(ids).to_string()
        });
        Self { letters, messages, ids, after, before }
    }

    async fn fetch(
        &self,
        connection: &mut SqliteConnection,
        statement: &'static str,
        limit: u32,
    ) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let page = Page { filter: &self.messages, before: self.before, limit, payloads: true };
        let query =
            page.bind(sqlx::query(statement).bind(int(self.after)), self.before, limit, true);
        query
            .bind(self.letters.status.unwrap_or(LetterStatus::Open).as_str())
            .bind(self.letters.reason.map(|reason| reason.as_str()))
            .bind(self.letters.closed_by.map(|job| int(job.0)))
            .bind(self.ids.as_deref())
            .fetch_all(connection)
            .await
    }

    /// The words are looked for in what went wrong, too.
    fn accepts(&self, row: &MessageRow, payload: &str) -> bool {
        let error = row.error.as_deref().unwrap_or_default();
        self.messages.words().is_empty()
            || self.messages.accepts(row, &format!("{payload} {error}"))
    }

    /// Calls `take` for each letter, in the statement's order, until it has had `most`.
    async fn each(
        &mut self,
        connection: &mut SqliteConnection,
        statement: &'static str,
        most: u64,
        mut take: impl FnMut(&SqliteRow, MessageRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut taken = 0;
        loop {
            let rows = self.fetch(&mut *connection, statement, CHUNK).await?;
            for found in &rows {
                let row = message::row(found)?;
                if statement == OLDEST_FIRST {
                    self.after = row.seq;
                } else {
                    self.before = row.seq;
                }
                if self.accepts(&row, found.try_get("payload")?) {
                    take(found, row)?;
                    taken += 1;
                    if taken == most {
                        return Ok(());
                    }
                }
            }
            if rows.len() < CHUNK as usize {
                return Ok(());
            }
        }
    }
}

/// A page of letters, newest first, those before `before` if it is given.
pub(crate) async fn page(
    pool: &SqlitePool,
    filter: &LetterFilter,
    before: Option<u64>,
    limit: u32,
    payloads: bool,
) -> Result<Vec<LetterRow>, Error> {
    let mut snapshot = pool.begin().await?;
    let mut search = Search::new(filter, 0, before.unwrap_or(u64::MAX));
    let mut rows = Vec::new();
    let take = |found: &SqliteRow, row| {
        rows.push(letter_row(found, row, payloads)?);
        Ok(())
    };
    search.each(&mut snapshot, NEWEST_FIRST, u64::from(limit), take).await?;
    Ok(rows)
}

/// How many letters pass the filter.
pub(crate) async fn count(pool: &SqlitePool, filter: &LetterFilter) -> Result<u64, Error> {
    let mut snapshot = pool.begin().await?;
    let mut search = Search::new(filter, 0, u64::MAX);
    if search.messages.words().is_empty() {
        let rows = search.fetch(&mut snapshot, COUNT, CHUNK).await?;
        return match rows.first() {
            Some(row) => Ok(uint(row.try_get("letters")?)),
            None => Ok(0),
        };
    }
    let mut count = 0;
    let take = |_: &SqliteRow, _| {
        count += 1;
        Ok(())
    };
    search.each(&mut snapshot, NEWEST_FIRST, u64::MAX, take).await?;
    Ok(count)
}

/// Whole letters, oldest first, those after `after` and up to `up_to`; with their deliveries if
/// `with_attempts`.
pub(crate) async fn dead_messages(
    pool: &SqlitePool,
    filter: &LetterFilter,
    after: u64,
    up_to: u64,
    limit: u32,
    with_attempts: bool,
) -> Result<Vec<DeadMessage>, Error> {
    let mut snapshot = pool.begin().await?;
    let mut search = Search::new(filter, after, up_to.saturating_add(1));
    let mut letters = Vec::new();
    let take = |found: &SqliteRow, row: MessageRow| {
        letters.push(DeadMessage {
            message: message::message(found)?,
            letter: dead_letter::read(found)?,
            error: row.error,
            deliveries: Vec::new(),
        });
        Ok(())
    };
    search.each(&mut snapshot, OLDEST_FIRST, u64::from(limit), take).await?;
    if with_attempts {
        for letter in &mut letters {
            letter.deliveries = delivery::of_message(&mut snapshot, letter.message.seq).await?;
        }
    }
    Ok(letters)
}

fn letter_row(found: &SqliteRow, row: MessageRow, payloads: bool) -> Result<LetterRow, Error> {
    let payload = payloads.then(|| found.try_get::<&str, _>("payload")).transpose()?;
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
        payload: payload.map(Payload::trusted),
    })
}
