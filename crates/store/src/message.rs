//! The table `message`: what was said. `write` is how it gets there.

mod seal;
mod write;

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    Address, AgentId, Context, ConversationId, Dialect, Kind, Message, MessageDetail, MessageId,
    MessageRow, MessageState, Payload, Priority, Timestamp, Topic,
};
use uuid::Uuid;

use crate::Error;
use crate::agent::{agent_id, door, meaningless};
use crate::rows::{int, uint};
pub(crate) use seal::{carried, carried_by, payload, seal};
#[cfg(test)]
pub(crate) use write::SQL as WRITE_SQL;
pub(crate) use write::{insert, settle};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[WAITING, WATCHED, UNANSWERED, BY_ID, WHOLE_BY_ID, PAYLOADS];

/// The seq of the message of an id: the number in the id, if that is the one, or else what the index says.
macro_rules! place {
    ($number:literal, $id:literal) => {
        concat!(
            "(select seq from message where seq = ",
            $number,
            " and id = ",
            $id,
            " union all select seq from message where id = ",
            $id,
            " and by_seq is null limit 1)"
        )
    };
}
pub(crate) use place;

/// The columns of a row, as `row` reads them.
macro_rules! columns {
    () => {
        "m.seq, m.id, m.sender, m.recipient, m.topic, m.capability, m.kind, m.priority, m.door, \
         m.conversation, m.accepted_at, m.state, m.settled_at, m.error, m.replay_of, \
         case m.state when 'waiting' then \
             (select min(due_at) from delivery where message = m.seq) end as retry_at, \
         octet_length(m.payload) as payload_bytes"
    };
}
pub(crate) use columns;

/// The columns of a whole message, as `message` reads them.
macro_rules! whole {
    () => {
        concat!(
            "m.seq, m.id, m.sender, m.topic, m.capability, m.kind, m.priority, m.door, \
             m.correlation, m.conversation, m.accepted_at, m.expires_at, m.replay_of, m.dialect, \
             m.context, m.answer_by, ",
            carried!()
        )
    };
}

/// The same, for queries that are put together.
pub(crate) const WHOLE: &str = whole!();

const WAITING: &str = concat!(
    "select ",
    whole!(),
    " from message m where m.state = 'waiting' and m.seq > ? order by m.seq limit ?"
);

/// Settled, but with somebody who watches and is to be asked again.
const WATCHED: &str = concat!(
    "select ",
    whole!(),
    " from message m where m.state <> 'waiting' and m.seq in \
      (select message from delivery where due_at is not null and observer) order by m.seq"
);

/// Requests that somebody took and nobody answered, though their senders wait for an answer or should
/// have been told that there is none; the newest of them. The plus keeps SQLite from walking through all messages in their
/// order instead of looking up the few that have such a time.
const UNANSWERED: &str = concat!(
    "select ",
    whole!(),
    " from message m where m.answer_by > ? and m.kind = 'request' and m.state = 'processed' \
      and not exists (select 1 from message r where r.conversation = m.conversation \
          and r.seq > m.seq and r.kind = 'response' and r.recipient = m.sender \
          and (m.correlation is null or r.correlation = m.correlation)) \
      order by +m.seq desc limit 10000"
);

const PAYLOADS: &str = concat!(
    "select m.seq, m.id, m.sender, m.topic, ",
    carried!(),
    " from message m where m.seq in (select value from json_each(?))"
);

const BY_ID: &str = concat!(
    "select ",
    columns!(),
    ", ",
    carried!(),
    ", m.correlation, m.expires_at, m.dialect, m.context \
     from message m where m.seq = ",
    place!("?1", "?2")
);

const WHOLE_BY_ID: &str =
    concat!("select ", whole!(), " from message m where m.seq = ", place!("?1", "?2"));

const AGENT_PREFIX: &str = "agent:";

/// What a start asks, however many messages there are.
#[cfg(test)]
pub(crate) const AT_START: &[&str] = &[WAITING, WATCHED, UNANSWERED];

/// Messages that wait, oldest first.
pub(crate) async fn waiting(
    connection: &mut SqliteConnection,
    after_seq: u64,
    limit: u32,
) -> Result<Readable<Vec<Message>>, Error> {
    let query = sqlx::query(WAITING).bind(int(after_seq)).bind(limit);
    Ok(readable(&query.fetch_all(connection).await?))
}

/// Messages that are settled, but have somebody who watches and is to be asked again.
pub(crate) async fn watched(
    connection: &mut SqliteConnection,
) -> Result<Readable<Vec<Message>>, Error> {
    Ok(readable(&sqlx::query(WATCHED).fetch_all(connection).await?))
}

/// Requests whose senders were to be answered after `since`, and were not.
pub(crate) async fn unanswered(
    connection: &mut SqliteConnection,
    since: Timestamp,
) -> Result<Readable<Vec<Message>>, Error> {
    let mut messages =
        readable(&sqlx::query(UNANSWERED).bind(since.0).fetch_all(connection).await?);
    messages.rest.reverse();
    Ok(messages)
}

/// One damaged row must not keep all later ones from being delivered.
fn readable(rows: &[SqliteRow]) -> Readable<Vec<Message>> {
    let mut found: Readable<Vec<Message>> = Readable::default();
    for row in rows {
        match message(row) {
            Ok(message) => found.rest.push(message),
            Err(error) => found.damage = Some(error),
        }
    }
    found
}

/// What can be read, and why the rest cannot, if there is one.
#[derive(Default)]
pub(crate) struct Readable<T> {
    pub(crate) rest: T,
    pub(crate) damage: Option<Error>,
}

/// What these messages carry.
pub(crate) async fn payloads(
    connection: &mut SqliteConnection,
    messages: &[u64],
) -> Result<Readable<HashMap<u64, Payload>>, Error> {
    let list = serde_json::Value::from(messages).to_string();
    let rows = sqlx::query(PAYLOADS).bind(list).fetch_all(connection).await?;
    let mut found: Readable<HashMap<u64, Payload>> = Readable::default();
    for row in &rows {
        match payload(row) {
            Ok(text) => {
                found.rest.insert(uint(row.try_get("seq")?), Payload::trusted(text));
            }
            Err(error) => found.damage = Some(error),
        }
    }
    Ok(found)
}

/// One whole message.
pub(crate) async fn whole(
    connection: &mut SqliteConnection,
    id: MessageId,
) -> Result<Option<Message>, Error> {
    let query = sqlx::query(WHOLE_BY_ID).bind(int(id.number())).bind(&id.0.as_bytes()[..]);
    query.fetch_optional(connection).await?.as_ref().map(message).transpose()
}

/// One message with what is in its own row; deliveries and reason are left to fill in.
pub(crate) async fn by_id(
    connection: &mut SqliteConnection,
    id: MessageId,
) -> Result<Option<MessageDetail>, Error> {
    let query = sqlx::query(BY_ID).bind(int(id.number())).bind(&id.0.as_bytes()[..]);
    let Some(found) = query.fetch_optional(connection).await? else {
        return Ok(None);
    };
    let row = with_payload(&found)?;
    let payload = row.payload.as_ref().map_or("null", Payload::as_str).to_owned();
    Ok(Some(MessageDetail {
        row,
        payload_text: payload,
        correlation_id: found.try_get("correlation")?,
        expires_at: found.try_get::<Option<i64>, _>("expires_at")?.map(Timestamp),
        settled_at: found.try_get::<Option<i64>, _>("settled_at")?.map(Timestamp),
        letter: None,
        replay_of: replay_of(&found)?,
        dialect: dialect(&found)?,
        decision: None,
        trace: context(&found)?.and_then(|context| context.trace.clone()),
        deliveries: Vec::new(),
    }))
}

/// One message as a line in a table, with what it carries if that was asked for. Of one that is not as it was written, it
/// says so instead.
pub(crate) fn with_payload(found: &SqliteRow) -> Result<MessageRow, Error> {
    let mut row = row(found)?;
    match carried_by(found) {
        Ok(payload) => row.payload = payload.map(Payload::trusted),
        Err(error @ Error::Altered { .. }) => row.error = Some(error.to_string()),
        Err(error) => return Err(error),
    }
    Ok(row)
}

/// One message as a line in a table, without its payload.
pub(crate) fn row(row: &SqliteRow) -> Result<MessageRow, Error> {
    let created_at = Timestamp(row.try_get("accepted_at")?);
    let settled_at: Option<i64> = row.try_get("settled_at")?;
    let state: &str = row.try_get("state")?;
    Ok(MessageRow {
        seq: uint(row.try_get("seq")?),
        id: message_id(row.try_get("id")?)?,
        from: agent_id(row.try_get("sender")?)?,
        to: row.try_get::<Option<&str>, _>("recipient")?.map(agent_id).transpose()?,
        topic: Some(row.try_get("topic")?),
        capability: row.try_get("capability")?,
        kind: kind(row.try_get("kind")?)?,
        priority: priority(row.try_get("priority")?)?,
        state: MessageState::parse(state).ok_or_else(|| meaningless("a message's state", state))?,
        door: door(row.try_get("door")?)?,
        conversation_id: conversation(row)?,
        created_at,
        took_micros: settled_at.map(|at| Timestamp(at).micros_since(created_at)),
        error: row.try_get("error")?,
        retry_at: row.try_get::<Option<i64>, _>("retry_at")?.map(Timestamp),
        replay_of: replay_of(row)?,
        payload_bytes: uint(row.try_get("payload_bytes")?),
        payload: None,
    })
}

pub(crate) fn message(row: &SqliteRow) -> Result<Message, Error> {
    Ok(Message {
        seq: uint(row.try_get("seq")?),
        id: message_id(row.try_get("id")?)?,
        from: agent_id(row.try_get("sender")?)?,
        address: address(row.try_get("topic")?)?,
        kind: kind(row.try_get("kind")?)?,
        capability: row.try_get("capability")?,
        priority: priority(row.try_get("priority")?)?,
        door: door(row.try_get("door")?)?,
        correlation: row.try_get("correlation")?,
        conversation: conversation(row)?,
        payload: Payload::trusted(payload(row)?),
        dialect: dialect(row)?,
        context: context(row)?,
        // What was decided is in a table of its own, and of no use for a delivery.
        decision: None,
        answer_by: row.try_get::<Option<i64>, _>("answer_by")?.map(Timestamp),
        accepted_at: Timestamp(row.try_get("accepted_at")?),
        expires_at: row.try_get::<Option<i64>, _>("expires_at")?.map(Timestamp),
        replay_of: replay_of(row)?,
    })
}

fn dialect(row: &SqliteRow) -> Result<Dialect, Error> {
    match row.try_get::<Option<&str>, _>("dialect")? {
        Some(text) => Dialect::parse(text).ok_or_else(|| meaningless("a dialect", text)),
        None => Ok(Dialect::of(door(row.try_get("door")?)?)),
    }
}

fn context(row: &SqliteRow) -> Result<Option<Arc<Context>>, Error> {
    let Some(text) = row.try_get::<Option<&str>, _>("context")? else { return Ok(None) };
    let context = serde_json::from_str(text);
    context.map(Some).map_err(|_| meaningless("a message's context", text))
}

/// The dead letter in whose place a message was sent.
pub(crate) fn replay_of(row: &SqliteRow) -> Result<Option<MessageId>, Error> {
    row.try_get::<Option<&[u8]>, _>("replay_of")?.map(message_id).transpose()
}

/// An agent's own topic may be longer than a topic may be, so it is read first.
fn address(topic: &str) -> Result<Address, Error> {
    let agent = topic.strip_prefix(AGENT_PREFIX).map(AgentId::parse);
    if let Some(Ok(agent)) = agent {
        return Ok(Address::Agent(agent));
    }
    let topic = Topic::parse(topic).map_err(|_| meaningless("a topic", topic))?;
    Ok(Address::Topic(topic))
}

pub(crate) fn message_id(bytes: &[u8]) -> Result<MessageId, Error> {
    let id = Uuid::from_slice(bytes).map(MessageId);
    id.map_err(|_| meaningless("a message's id", &format!("{bytes:x?}")))
}

pub(crate) fn kind(text: &str) -> Result<Kind, Error> {
    Kind::parse(text).ok_or_else(|| meaningless("a message's kind", text))
}

pub(crate) fn priority(text: &str) -> Result<Priority, Error> {
    Priority::parse(text).ok_or_else(|| meaningless("a priority", text))
}

fn conversation(row: &SqliteRow) -> Result<Option<ConversationId>, Error> {
    let id: Option<&str> = row.try_get("conversation")?;
    Ok(id.map(|id| ConversationId(id.into())))
}
