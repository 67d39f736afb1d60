//! The table `mail`: what came for agents that fetch their messages, and what they said of it.

use rusqlite::params;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};
use switchboard_model::{AgentId, Mail, MailPage, MailStatus, MessageId, Timestamp};

use crate::Error;
use crate::agent::meaningless;
use crate::message;
use crate::pen::Pen;
use crate::record::MailChange;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[ARRIVED, READ, SAID, REMOVED, UNREAD, COUNT];

const ARRIVED: &str = "insert into mail (agent, message) values (?, ?) on conflict do nothing";
const READ: &str = "update mail set read_at = coalesce(read_at, ?) where agent = ? and message = ?";
/// What was said first counts.
const SAID: &str = "update mail set said = ?, said_at = ? \
     where agent = ? and message = ? and said is null";
const REMOVED: &str = "delete from mail where agent = ? and message = ?";

/// What an agent has not read and still waits, newest first.
const UNREAD: &str = "select mail.message as seq from mail join message m on m.seq = mail.message \
     where mail.agent = ? and mail.read_at is null and mail.said is null and m.state = 'waiting' \
     order by mail.message desc limit ?";

const COUNT: &str = "select count(*) from mail where agent = ?";

/// How the owner of a mailbox sees a message. What it said itself counts; a request is processed when it
/// has been answered, anything else when another door took it.
const STATUS: &str = "case \
     when mail.said is not null then mail.said \
     when m.state in ('dead', 'discarded', 'expired') then 'failed' \
     when m.state = 'processed' and (m.kind = 'request' or mail.read_at is null) then 'processed' \
     when m.state = 'processed' or mail.read_at is not null then 'delivered' \
     else 'pending' end";

/// What the messages of one page may carry.
const PAGE_BYTES: i64 = 8 << 20;

pub(crate) fn apply(pen: &Pen, changes: &[MailChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            MailChange::Arrived { agent, message } => {
                pen.run(ARRIVED, params![agent.as_str(), int(*message)])?;
            }
            MailChange::Read { agent, message, at } => {
                pen.run(READ, params![at.0, agent.as_str(), int(*message)])?;
            }
            MailChange::Said { agent, message, failed, at } => {
                let said = if *failed { "failed" } else { "processed" };
                pen.run(SAID, params![said, at.0, agent.as_str(), int(*message)])?;
            }
            MailChange::Removed { agent, message } => {
                pen.run(REMOVED, params![agent.as_str(), int(*message)])?;
            }
        }
    }
    Ok(())
}

/// What an agent has not read, newest first.
pub(crate) async fn unread(
    pool: &SqlitePool,
    agent: &AgentId,
    limit: u32,
) -> Result<Vec<u64>, Error> {
    let query = sqlx::query(UNREAD).bind(agent.as_str()).bind(limit);
    let rows = query.fetch_all(pool).await?;
    rows.iter().map(|row| Ok(uint(row.try_get("seq")?))).collect()
}

/// A page of a mailbox, newest first, and how much there is in all.
pub(crate) async fn page(
    pool: &SqlitePool,
    agent: &AgentId,
    status: Option<MailStatus>,
    limit: u32,
    offset: u32,
) -> Result<MailPage, Error> {
    let mut connection = pool.acquire().await?;
    let seqs = places(&mut connection, agent, status, limit, offset).await?;
    let mut query = selecting(agent);
    query.push(" and mail.message in (select value from json_each(");
    query.push_bind(serde_json::Value::from(seqs).to_string());
    query.push(")) order by mail.message desc");
    let rows = query.build().fetch_all(&mut *connection).await?;
    let mail = rows.iter().map(read).collect::<Result<_, _>>()?;
    let total: i64 = match status {
        None => {
            let count = sqlx::query(COUNT).bind(agent.as_str());
            count.fetch_one(&mut *connection).await?.try_get(0)?
        }
        status @ Some(_) => {
            let mut count = QueryBuilder::<Sqlite>::new(
                "select count(*) from mail join message m on m.seq = mail.message where mail.agent = ",
            );
            count.push_bind(agent.as_str().to_owned());
            only(&mut count, status);
            count.build().fetch_one(&mut *connection).await?.try_get(0)?
        }
    };
    Ok(MailPage { mail, total: uint(total) })
}

/// Adds which status is wanted. What has not been fetched has an index of its own.
fn only(query: &mut QueryBuilder<Sqlite>, status: Option<MailStatus>) {
    match status {
        None => {}
        Some(MailStatus::Pending) => {
            query.push(" and mail.read_at is null and mail.said is null and m.state = 'waiting'");
        }
        Some(status) => {
            query.push(" and ").push(STATUS).push(" = ").push_bind(status.as_str());
        }
    }
}

/// Which messages are on a page. It ends early where more would be too much for one answer.
async fn places(
    connection: &mut SqliteConnection,
    agent: &AgentId,
    status: Option<MailStatus>,
    limit: u32,
    offset: u32,
) -> Result<Vec<u64>, Error> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "select m.seq, octet_length(m.payload) as bytes \
         from mail join message m on m.seq = mail.message where mail.agent = ",
    );
    query.push_bind(agent.as_str().to_owned());
    only(&mut query, status);
    query.push(" order by mail.message desc limit ").push_bind(limit);
    query.push(" offset ").push_bind(offset);
    let mut bytes = 0;
    let mut seqs = Vec::new();
    for row in query.build().fetch_all(connection).await? {
        bytes += row.try_get::<i64, _>("bytes")?;
        if bytes > PAGE_BYTES && !seqs.is_empty() {
            break;
        }
        seqs.push(uint(row.try_get("seq")?));
    }
    Ok(seqs)
}

/// One message of a mailbox.
pub(crate) async fn one(
    pool: &SqlitePool,
    agent: &AgentId,
    id: MessageId,
) -> Result<Option<Mail>, Error> {
    let mut query = selecting(agent);
    // As in `message::place`.
    let bytes = id.0.as_bytes().to_vec();
    query.push(" and m.seq = (select seq from message where seq = ").push_bind(int(id.number()));
    query.push(" and id = ").push_bind(bytes.clone());
    query.push(" union all select seq from message where id = ").push_bind(bytes);
    query.push(" and by_seq is null limit 1)");
    query.build().fetch_optional(pool).await?.as_ref().map(read).transpose()
}

fn selecting(agent: &AgentId) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("select ");
    query
        .push(message::WHOLE)
        .push(", m.settled_at, mail.said_at, mail.read_at is not null or mail.said is not null as was_read, ")
        .push(STATUS);
    query.push(" as status from mail join message m on m.seq = mail.message where mail.agent = ");
    query.push_bind(agent.as_str().to_owned());
    query
}

fn read(row: &SqliteRow) -> Result<Mail, Error> {
    let text: &str = row.try_get("status")?;
    let status = MailStatus::parse(text).ok_or_else(|| meaningless("a status of mail", text))?;
    let at = |column| Ok::<_, Error>(row.try_get::<Option<i64>, _>(column)?.map(Timestamp));
    let (said_at, settled_at) = (at("said_at")?, at("settled_at")?);
    let is_over = matches!(status, MailStatus::Processed | MailStatus::Failed);
    let processed_at = said_at.or(settled_at).filter(|_| is_over);
    let (message, was_read) = (message::message(row)?, row.try_get("was_read")?);
    Ok(Mail { message, status, processed_at, was_read })
}
