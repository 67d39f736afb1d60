//! The table `message`: what was said.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Statement, params};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    Address, AgentId, Context, ConversationId, Dialect, Kind, Message, MessageDetail, MessageId,
    MessageRow, MessageState, Payload, Priority, Timestamp, Topic,
};
use uuid::Uuid;

use crate::Error;
use crate::agent::{agent_id, door, meaningless};
use crate::batch::{NewMessage, Settle};
use crate::pen::Pen;
use crate::record::{AttemptRecord, DeliveryRecord};
use crate::rows::{int, uint};
use crate::total::Delta;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[
    INSERT,
    INSERT_TAKEN,
    INSERT_WHOLE,
    SETTLE,
    WAITING,
    WATCHED,
    UNANSWERED,
    BY_ID,
    WHOLE_BY_ID,
    PAYLOADS,
];

/// Those on every message's way say `or fail`: SQLite then keeps no copy of each page in order to take back
/// one statement alone. Nobody needs that, because whatever fails, the whole transaction is taken back.
///
/// For messages that have nothing in the other columns: each costs, even where it is null.
const INSERT: &str = "insert or fail into message (seq, id, sender, recipient, topic, capability, \
     kind, priority, door, accepted_at, state, settled_at, payload, by_seq) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// For those that somebody has taken already.
const INSERT_TAKEN: &str = "insert or fail into message (seq, id, sender, recipient, topic, \
     capability, kind, priority, door, accepted_at, state, settled_at, payload, by_seq, delivery, \
     taken_door, taken_pattern, taken_started_at, taken_ended_at, taken_words, taken_answer) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
     ?19, ?20, ?21)";

const INSERT_WHOLE: &str = "insert or fail into message (seq, id, sender, recipient, topic, \
     capability, kind, priority, door, accepted_at, state, settled_at, payload, by_seq, delivery, \
     taken_door, taken_pattern, taken_started_at, taken_ended_at, taken_words, taken_answer, \
     correlation, conversation, expires_at, error, replay_of, dialect, context, answer_by) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
     ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29)";

const SETTLE: &str = "update or fail message set state = ?3, settled_at = ?4, \
     recipient = coalesce(recipient, ?5), error = coalesce(?6, error) \
     where seq = ?1 and state = ?2";

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
        "m.seq, m.id, m.sender, m.topic, m.capability, m.kind, m.priority, m.door, m.correlation, \
         m.conversation, m.accepted_at, m.expires_at, m.replay_of, m.payload, m.dialect, \
         m.context, m.answer_by"
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
/// have been told that there is none; the newest of them.
const UNANSWERED: &str = concat!(
    "select ",
    whole!(),
    " from message m where m.answer_by > ? and m.kind = 'request' and m.state = 'processed' \
      and not exists (select 1 from message r where r.conversation = m.conversation \
          and r.seq > m.seq and r.kind = 'response' and r.recipient = m.sender \
          and (m.correlation is null or r.correlation = m.correlation)) \
      order by m.seq desc limit 10000"
);

const PAYLOADS: &str = "select seq, payload from message \
     where seq in (select value from json_each(?))";

const BY_ID: &str = concat!(
    "select ",
    columns!(),
    ", m.payload, m.correlation, m.expires_at, m.dialect, m.context \
     from message m where m.seq = ",
    place!("?1", "?2")
);

const WHOLE_BY_ID: &str =
    concat!("select ", whole!(), " from message m where m.seq = ", place!("?1", "?2"));

const AGENT_PREFIX: &str = "agent:";

pub(crate) fn insert(pen: &Pen, messages: &[NewMessage<'_>]) -> rusqlite::Result<()> {
    let (mut usual, mut taken) = (pen.statement(INSERT)?, pen.statement(INSERT_TAKEN)?);
    for new in messages {
        if !is_usual(new) {
            let mut whole = pen.statement(INSERT_WHOLE)?;
            bind_usual(&mut whole, new)?;
            bind_taken(&mut whole, new.taken)?;
            bind_others(&mut whole, new)?;
            whole.raw_execute()?;
        } else if new.taken.is_some() {
            bind_usual(&mut taken, new)?;
            bind_taken(&mut taken, new.taken)?;
            taken.raw_execute()?;
        } else {
            bind_usual(&mut usual, new)?;
            usual.raw_execute()?;
        }
    }
    Ok(())
}

/// Whether it has nothing in the columns of `bind_others`.
fn is_usual(new: &NewMessage<'_>) -> bool {
    let message = new.message;
    message.correlation.is_none()
        && message.conversation.is_none()
        && message.expires_at.is_none()
        && new.error.is_none()
        && message.replay_of.is_none()
        && foreign_dialect(message).is_none()
        && message.context.is_none()
        && message.answer_by.is_none()
}

fn bind_usual(statement: &mut Statement<'_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    // Rows of dead letters name replays by their ids alone.
    let by_seq = message.id.number() == message.seq && message.replay_of.is_none();
    statement.raw_bind_parameter(1, int(message.seq))?;
    statement.raw_bind_parameter(2, &message.id.0.as_bytes()[..])?;
    statement.raw_bind_parameter(3, message.from.as_str())?;
    statement.raw_bind_parameter(4, new.recipient().map(AgentId::as_str))?;
    match &message.address {
        Address::Agent(agent) => {
            statement.raw_bind_parameter(5, [AGENT_PREFIX, agent.as_str()].concat())?;
        }
        Address::Topic(topic) => statement.raw_bind_parameter(5, topic.as_str())?,
    }
    statement.raw_bind_parameter(6, message.capability.as_deref())?;
    statement.raw_bind_parameter(7, message.kind.as_str())?;
    statement.raw_bind_parameter(8, message.priority.as_str())?;
    statement.raw_bind_parameter(9, message.door.as_str())?;
    statement.raw_bind_parameter(10, message.accepted_at.0)?;
    statement.raw_bind_parameter(11, new.state.as_str())?;
    statement.raw_bind_parameter(12, new.settled_at.map(|at| at.0))?;
    statement.raw_bind_parameter(13, message.payload.as_str())?;
    statement.raw_bind_parameter(14, by_seq.then_some(1))
}

/// How the one that took it did so.
fn bind_taken(
    statement: &mut Statement<'_>,
    taken: Option<(&DeliveryRecord, &AttemptRecord)>,
) -> rusqlite::Result<()> {
    let (delivery, attempt) = taken.unzip();
    statement.raw_bind_parameter(15, delivery.map(|delivery| int(delivery.id.0)))?;
    statement.raw_bind_parameter(16, delivery.map(|delivery| delivery.door.as_str()))?;
    let pattern = delivery.and_then(|delivery| delivery.pattern.as_deref());
    statement.raw_bind_parameter(17, pattern)?;
    statement.raw_bind_parameter(18, attempt.map(|attempt| attempt.started_at.0))?;
    statement.raw_bind_parameter(19, attempt.map(|attempt| attempt.ended_at.0))?;
    statement.raw_bind_parameter(20, attempt.and_then(|attempt| attempt.message.as_deref()))?;
    let answer = attempt.and_then(|attempt| attempt.payload.as_ref());
    statement.raw_bind_parameter(21, answer.map(Payload::as_str))
}

fn bind_others(statement: &mut Statement<'_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    statement.raw_bind_parameter(22, message.correlation.as_deref())?;
    statement.raw_bind_parameter(23, message.conversation.as_ref().map(|id| &*id.0))?;
    statement.raw_bind_parameter(24, message.expires_at.map(|at| at.0))?;
    statement.raw_bind_parameter(25, new.error)?;
    statement.raw_bind_parameter(26, message.replay_of.as_ref().map(|id| &id.0.as_bytes()[..]))?;
    statement.raw_bind_parameter(27, foreign_dialect(message).map(Dialect::as_str))?;
    statement.raw_bind_parameter(28, message.context.as_deref().map(context_text))?;
    statement.raw_bind_parameter(29, message.answer_by.map(|at| at.0))
}

/// The words of the door it came by need not be named.
fn foreign_dialect(message: &Message) -> Option<Dialect> {
    (message.dialect != Dialect::of(message.door)).then_some(message.dialect)
}

fn context_text(context: &Context) -> String {
    serde_json::to_string(context).unwrap_or_else(|_| "{}".to_owned())
}

/// Settles messages in their order, and counts in `delta` those that really moved.
pub(crate) fn settle(pen: &Pen, settles: &[Settle<'_>], delta: &mut Delta) -> rusqlite::Result<()> {
    let mut statement = pen.statement(SETTLE)?;
    for settle in settles {
        let moved = statement.execute(params![
            int(settle.message),
            settle.from.as_str(),
            settle.state.as_str(),
            settle.settled_at.map(|at| at.0),
            settle.to.map(AgentId::as_str),
            settle.error,
        ])?;
        delta.moved(settle.from, settle.state, int(moved as u64));
    }
    Ok(())
}

/// Messages that wait, oldest first.
pub(crate) async fn waiting(
    connection: &mut SqliteConnection,
    after_seq: u64,
    limit: u32,
) -> Result<Vec<Message>, Error> {
    let query = sqlx::query(WAITING).bind(int(after_seq)).bind(limit);
    Ok(readable(&query.fetch_all(connection).await?))
}

/// Messages that are settled, but have somebody who watches and is to be asked again.
pub(crate) async fn watched(connection: &mut SqliteConnection) -> Result<Vec<Message>, Error> {
    Ok(readable(&sqlx::query(WATCHED).fetch_all(connection).await?))
}

/// Requests whose senders were to be answered after `since`, and were not.
pub(crate) async fn unanswered(
    connection: &mut SqliteConnection,
    since: Timestamp,
) -> Result<Vec<Message>, Error> {
    let mut messages =
        readable(&sqlx::query(UNANSWERED).bind(since.0).fetch_all(connection).await?);
    messages.reverse();
    Ok(messages)
}

fn readable(rows: &[SqliteRow]) -> Vec<Message> {
    // One damaged row must not keep all later ones from being delivered.
    let read = |row| match message(row) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::error!(%error, "a message that waits cannot be read, and waits on");
            None
        }
    };
    rows.iter().filter_map(read).collect()
}

/// What these messages carry.
pub(crate) async fn payloads(
    connection: &mut SqliteConnection,
    messages: &[u64],
) -> Result<HashMap<u64, Payload>, Error> {
    let list = serde_json::Value::from(messages).to_string();
    let rows = sqlx::query(PAYLOADS).bind(list).fetch_all(connection).await?;
    let one = |row: &SqliteRow| {
        let payload = Payload::trusted(row.try_get::<&str, _>("payload")?);
        Ok((uint(row.try_get("seq")?), payload))
    };
    rows.iter().map(one).collect()
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
    let payload: String = found.try_get("payload")?;
    let mut row = row(&found)?;
    row.payload = Some(Payload::trusted(payload.as_str()));
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
        payload: Payload::trusted(row.try_get::<&str, _>("payload")?),
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
