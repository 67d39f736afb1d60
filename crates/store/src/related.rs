//! The messages that have to do with one: its question or answer, what it was sent in the place of,
//! its trace and its conversation.

use std::collections::BTreeMap;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use switchboard_model::{Kind, Message, MessageId, MessageRow};
use uuid::Uuid;

use crate::message::{self, columns, place};
use crate::rows::{Query, int};
use crate::{Error, dead_letter};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[BEFORE, AFTER, TRACE, BY_ID];

macro_rules! read {
    () => {
        concat!("select ", columns!(), ", m.correlation from message m ")
    };
}

const BEFORE: &str =
    concat!(read!(), "where m.conversation = ?1 and m.seq < ?2 order by m.seq desc limit ?3");

const AFTER: &str =
    concat!(read!(), "where m.conversation = ?1 and m.seq > ?2 order by m.seq limit ?3");

/// Only what came shortly before and after is looked at: nothing finds a trace by its name.
const TRACE: &str = concat!(
    read!(),
    "where m.seq > ?1 - 5000 and m.seq < ?1 + 5000 and m.seq <> ?1 \
     and m.context is not null and instr(m.context, ?2) > 0 order by m.seq limit ?3"
);

const BY_ID: &str = concat!(read!(), "where m.seq = ", place!("?1", "?2"));

/// At most so many of each kind.
const MOST: u32 = 50;

/// What a message is to another, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// The request that the other answers.
    Question,
    /// An answer to the other.
    Answer,
    /// The dead letter in whose place the other was sent.
    Original,
    /// Sent in the place of the other.
    Replay,
    /// In the same trace.
    Trace,
    /// In the same conversation.
    Conversation,
}

/// The messages that have to do with this one, oldest first, each by its nearest relation; none if
/// there is no such message.
pub(crate) async fn of(
    pool: &SqlitePool,
    id: MessageId,
) -> Result<Option<Vec<(Relation, MessageRow)>>, Error> {
    let mut snapshot = pool.begin().await?;
    let Some(message) = message::whole(&mut snapshot, id).await? else { return Ok(None) };
    let mut found = Found { message: &message, rows: BTreeMap::new() };
    let letter = dead_letter::of_message(&mut snapshot, message.seq).await?;
    for (relation, id) in [
        (Relation::Original, message.replay_of),
        (Relation::Replay, letter.and_then(|letter| letter.replayed_as)),
    ] {
        if let Some(id) = id {
            let query = by_id(id);
            found.add(relation, &query.fetch_all(&mut *snapshot).await?)?;
        }
    }
    found.by_conversation(&mut snapshot).await?;
    found.by_trace(&mut snapshot).await?;
    Ok(Some(found.rows.into_values().collect()))
}

fn by_id(id: MessageId) -> Query<'static> {
    sqlx::query(BY_ID).bind(int(id.number())).bind(id.0.as_bytes().to_vec())
}

struct Found<'a> {
    message: &'a Message,
    rows: BTreeMap<u64, (Relation, MessageRow)>,
}

impl Found<'_> {
    async fn by_conversation(&mut self, connection: &mut SqliteConnection) -> Result<(), Error> {
        // An exchange without a name has that of its first message.
        let name = match &self.message.conversation {
            Some(conversation) => conversation.0.to_string(),
            None => self.message.correlation_or_id(),
        };
        for statement in [BEFORE, AFTER] {
            let query =
                sqlx::query(statement).bind(name.as_str()).bind(int(self.message.seq)).bind(MOST);
            self.add(Relation::Conversation, &query.fetch_all(&mut *connection).await?)?;
        }
        // That first message itself need not name what is named after it.
        match Uuid::parse_str(&name) {
            Ok(first) if first != self.message.id.0 => {
                let found = by_id(MessageId(first)).fetch_all(connection).await?;
                self.add(Relation::Conversation, &found)
            }
            _ => Ok(()),
        }
    }

    async fn by_trace(&mut self, connection: &mut SqliteConnection) -> Result<(), Error> {
        let context = self.message.context.as_ref();
        let Some(trace) = context.and_then(|context| context.trace.as_ref()) else {
            return Ok(());
        };
        let quoted = format!("\"{}\"", trace.trace_id);
        let query = sqlx::query(TRACE).bind(int(self.message.seq)).bind(quoted).bind(MOST);
        self.add(Relation::Trace, &query.fetch_all(connection).await?)
    }

    fn add(&mut self, relation: Relation, rows: &[SqliteRow]) -> Result<(), Error> {
        for found in rows {
            let row = message::row(found)?;
            let correlation: Option<String> = found.try_get("correlation")?;
            let nearest =
                self.exchange(&row, correlation).map_or(relation, |near| near.min(relation));
            let known = self.rows.entry(row.seq).or_insert((nearest, row));
            known.0 = known.0.min(nearest);
        }
        Ok(())
    }

    /// Whether one of the two is the answer to the other.
    fn exchange(&self, row: &MessageRow, correlation: Option<String>) -> Option<Relation> {
        let own = self.message;
        let from_each_other =
            row.to.as_ref() == Some(&own.from) || own.address.agent() == Some(&row.from);
        if !from_each_other {
            return None;
        }
        match (own.kind, row.kind) {
            (Kind::Request, Kind::Response) => {
                (correlation? == own.correlation_or_id()).then_some(Relation::Answer)
            }
            (Kind::Response, Kind::Request) => {
                let asked = correlation.unwrap_or_else(|| row.id.to_string());
                (own.correlation.as_ref() == Some(&asked)).then_some(Relation::Question)
            }
            _ => None,
        }
    }
}
