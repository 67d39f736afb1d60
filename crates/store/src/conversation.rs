//! Conversations read back: messages that belong together, whoever named what holds them together.

use std::collections::HashMap;

use sqlx::Row;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use switchboard_model::{
    AgentId, Context, ConversationId, ConversationMessage, ConversationRow, Kind, MessageId,
    MessageSummary, SessionView, Timestamp,
};

use crate::Error;
use crate::agent::agent_id;
use crate::rows::{int, uint};
use crate::{message, session};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[PAGE, WHO, ABOUT, MESSAGES, COUNT, LAST];

/// By the last message of each.
const PAGE: &str = "select conversation as id, count(*) as messages, min(seq) as first_seq, \
     max(seq) as last_seq from message indexed by message_conversation \
     where conversation is not null group by conversation having max(seq) < ?1 \
     and (?2 is null or instr(lower(conversation), ?2) > 0 \
          or conversation in (select p.conversation from participant p \
                              where instr(lower(p.agent), ?2) > 0) \
          or conversation in (select c.id from conversation c where instr(lower(c.topic), ?2) > 0) \
          or exists (select 1 from message m where m.conversation = message.conversation \
                     and (instr(lower(m.sender), ?2) > 0 \
                          or instr(lower(coalesce(m.recipient, '')), ?2) > 0 \
                          or instr(lower(coalesce(m.capability, '')), ?2) > 0))) \
     and (?4 = 0 or exists (select 1 from message f \
                            where f.conversation = message.conversation \
                            and f.state in ('dead', 'refused', 'expired'))) \
     and (?5 = 0 or conversation in (select c.id from conversation c where c.status = 'active')) \
     order by last_seq desc limit ?3";

const WHO: &str = "select sender, recipient, state from message where conversation = ? \
     order by seq limit 2000";

const ABOUT: &str = "select m.accepted_at as first_at, l.accepted_at as last_at, \
     coalesce(nullif(c.topic, ''), m.capability, m.topic) as title, c.status as status \
     from message m join message l on l.seq = ?2 left join conversation c on c.id = ?3 \
     where m.seq = ?1";

/// Those that name it, and the one whose own id is its name.
const MESSAGES: &str = concat!(
    "select ",
    message::columns!(),
    ", ",
    message::carried!(),
    ", m.correlation, m.context, (select given from (select d.id, coalesce( \
          (select a.payload from attempt a where a.delivery = d.id and a.payload is not null \
           order by a.number desc limit 1), d.answer) as given \
       from asked d where d.message = m.seq and not d.observer) \
      where given is not null order by id desc limit 1) as answer \
      from message m where m.conversation = ?1 or m.seq = ",
    message::place!("?2", "?3"),
    " order by m.seq limit ?4"
);

const COUNT: &str = concat!(
    "select count(*) as messages from message m where m.conversation = ?1 or m.seq = ",
    message::place!("?2", "?3")
);

const LAST: &str = "select m.id, m.kind, m.sender, m.topic, m.recipient, m.capability, \
     m.accepted_at from message m where m.conversation = ? order by m.seq desc limit ?";

/// Which conversations.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConversationFilter<'a> {
    /// Part of an id, of a participant's name or of what it is about.
    pub text: Option<&'a str>,
    /// Only those in which something was refused, died or expired.
    pub failed: bool,
    /// Only those whose session goes on.
    pub active: bool,
}

/// Conversations whose last message came before `before`, newest first.
pub(crate) async fn page(
    pool: &SqlitePool,
    filter: ConversationFilter<'_>,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ConversationRow>, Error> {
    let mut snapshot = pool.begin().await?;
    let text = filter.text.map(str::to_lowercase);
    let query = sqlx::query(PAGE).bind(before.map_or(i64::MAX, int)).bind(text).bind(limit);
    let query = query.bind(filter.failed).bind(filter.active);
    let mut rows = Vec::new();
    for found in query.fetch_all(&mut *snapshot).await? {
        let id: String = found.try_get("id")?;
        let (first, last): (i64, i64) = (found.try_get("first_seq")?, found.try_get("last_seq")?);
        let about =
            sqlx::query(ABOUT).bind(first).bind(last).bind(id.as_str()).fetch_one(&mut *snapshot);
        let about = about.await?;
        let mut participants: Vec<AgentId> = Vec::new();
        let mut failed = 0;
        for row in sqlx::query(WHO).bind(id.as_str()).fetch_all(&mut *snapshot).await? {
            let state: &str = row.try_get("state")?;
            failed += u64::from(matches!(state, "dead" | "refused" | "expired"));
            for column in ["sender", "recipient"] {
                let name: Option<&str> = row.try_get(column)?;
                let Some(agent) = name.map(agent_id).transpose()? else { continue };
                if !participants.contains(&agent) {
                    participants.push(agent);
                }
            }
        }
        rows.push(ConversationRow {
            id: ConversationId(id.into()),
            title: about.try_get("title")?,
            participants,
            messages: uint(found.try_get("messages")?),
            failed,
            started_at: Timestamp(about.try_get("first_at")?),
            last_at: Timestamp(about.try_get("last_at")?),
            last_seq: uint(last),
            status: about.try_get::<Option<&str>, _>("status")?.map(session::status).transpose()?,
        });
    }
    Ok(rows)
}

/// A conversation's messages, oldest first, how many there are in all, and its session.
pub(crate) async fn read(
    pool: &SqlitePool,
    id: &ConversationId,
    limit: u32,
) -> Result<(Vec<ConversationMessage>, u64, Option<SessionView>), Error> {
    let mut snapshot = pool.begin().await?;
    let own = uuid::Uuid::parse_str(&id.0).ok().map(MessageId);
    let of = |statement| {
        let (number, bytes) = (own.map(|own| int(own.number())), own.map(|own| own.0.into_bytes()));
        sqlx::query(statement).bind(&*id.0).bind(number).bind(bytes.map(|bytes| bytes.to_vec()))
    };
    let query = of(MESSAGES).bind(limit);
    let rows = query.fetch_all(&mut *snapshot).await?;
    let mut messages = rows.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    link_answers(&mut messages);
    let counted = of(COUNT).fetch_one(&mut *snapshot).await?;
    let all = uint(counted.try_get("messages")?);
    let session = session::view(&mut snapshot, id).await?;
    Ok((messages, all, session))
}

fn one(found: &SqliteRow) -> Result<ConversationMessage, Error> {
    let row = message::with_payload(found)?;
    let context: Option<&str> = found.try_get("context")?;
    let context: Context =
        context.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    Ok(ConversationMessage {
        row,
        correlation_id: found.try_get("correlation")?,
        answers: None,
        answer_text: found.try_get("answer")?,
        depth: context.depth,
        trace: context.trace,
    })
}

/// A response answers the last request before it that went the other way and had the same correlation,
/// or whose id it is.
fn link_answers(messages: &mut [ConversationMessage]) {
    let mut asked: HashMap<(AgentId, Option<AgentId>, String), MessageId> = HashMap::new();
    for message in messages {
        let row = &message.row;
        match row.kind {
            Kind::Request => {
                let keys = [Some(row.id.to_string()), message.correlation_id.clone()];
                for key in keys.into_iter().flatten() {
                    asked.insert((row.from.clone(), row.to.clone(), key), row.id);
                }
            }
            Kind::Response => {
                let (Some(asker), Some(key)) = (row.to.clone(), message.correlation_id.clone())
                else {
                    continue;
                };
                // The broker answers in the place of whoever was asked.
                message.answers = match row.from.is_switchboard() {
                    false => asked.get(&(asker, Some(row.from.clone()), key)).copied(),
                    true => asked
                        .iter()
                        .filter(|((from, _, one), _)| *from == asker && *one == key)
                        .map(|(_, id)| *id)
                        .max(),
                };
            }
            Kind::Event | Kind::Broadcast => {}
        }
    }
}

/// The last messages of a conversation in short, oldest first.
pub(crate) async fn last_messages(
    pool: &SqlitePool,
    id: &ConversationId,
    limit: u32,
) -> Result<Vec<MessageSummary>, Error> {
    let mut reader = pool.acquire().await?;
    let rows = sqlx::query(LAST).bind(&*id.0).bind(limit).fetch_all(&mut *reader).await?;
    let mut list = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        let (topic, capability): (String, Option<String>) =
            (row.try_get("topic")?, row.try_get("capability")?);
        let recipient: Option<String> = row.try_get("recipient")?;
        list.push(MessageSummary {
            id: message::message_id(row.try_get("id")?)?,
            kind: message::kind(row.try_get("kind")?)?,
            from: agent_id(row.try_get("sender")?)?,
            to: recipient.unwrap_or_else(|| topic.clone()),
            summary: capability.unwrap_or(topic),
            timestamp: Timestamp(row.try_get("accepted_at")?),
        });
    }
    Ok(list)
}
