//! The tables `conversation`, `participant` and `session_change`: sessions that agents opened.

use std::collections::HashMap;

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    AgentId, ConversationId, Object, Session, SessionChange, SessionStatus, SessionView, Timestamp,
};

use crate::Error;
use crate::agent::{agent_id, meaningless};
use crate::pen::Pen;
use crate::record::SessionRecord;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[PUT, JOIN, REMEMBER, LATEST, PARTICIPANTS, PARTICIPANTS_OF, BY_ID, CHANGES];

const PUT: &str = "insert into conversation (id, status, shared_state, started_at, updated_at, \
     closed_at, topic, version) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
     on conflict (id) do update set status = ?2, shared_state = ?3, updated_at = ?5, \
     closed_at = ?6, topic = ?7, version = ?8";

const JOIN: &str = "insert into participant (conversation, agent, joined_at) values (?, ?, ?) \
     on conflict do nothing";

const REMEMBER: &str = "insert into session_change (conversation, version, at, actor, written, \
     status) values (?, ?, ?, ?, ?, ?) on conflict do nothing";

/// All of them: a completed one can still be read.
const LATEST: &str = "select id, status, shared_state, started_at, updated_at, closed_at, topic, \
     version from conversation order by updated_at desc limit ?";

const PARTICIPANTS: &str = "select conversation, agent from participant order by joined_at, agent";

const PARTICIPANTS_OF: &str =
    "select agent from participant where conversation = ? order by joined_at, agent";

const BY_ID: &str = "select id, status, shared_state, started_at, updated_at, closed_at, topic, \
     version from conversation where id = ?";

const CHANGES: &str = "select version, at, actor, written, status from session_change \
     where conversation = ? order by version desc limit 500";

/// Sessions that are kept in memory from before, the last that changed.
const RESTORED: u32 = 10_000;

pub(crate) fn apply(pen: &Pen, records: &[SessionRecord]) -> rusqlite::Result<()> {
    let mut put = pen.statement(PUT)?;
    let mut join = pen.statement(JOIN)?;
    let mut remember = pen.statement(REMEMBER)?;
    for SessionRecord { session, change } in records {
        put.execute(params![
            &*session.id.0,
            session.status.as_str(),
            session.shared_state.to_payload().as_str(),
            session.started_at.0,
            session.updated_at.0,
            session.closed_at.map(|at| at.0),
            session.topic.as_str(),
            int(session.version),
        ])?;
        for participant in &session.participants {
            join.execute(params![&*session.id.0, participant.as_str(), session.updated_at.0])?;
        }
        remember.execute(params![
            &*session.id.0,
            int(change.version),
            change.at.0,
            change.by.as_str(),
            change.written.to_payload().as_str(),
            change.status.map(SessionStatus::as_str),
        ])?;
    }
    Ok(())
}

/// The sessions that changed last, without their messages.
pub(crate) async fn restore(connection: &mut SqliteConnection) -> Result<Vec<Session>, Error> {
    let mut participants: HashMap<String, Vec<AgentId>> = HashMap::new();
    for row in sqlx::query(PARTICIPANTS).fetch_all(&mut *connection).await? {
        let agent = agent_id(row.try_get("agent")?)?;
        participants.entry(row.try_get("conversation")?).or_default().push(agent);
    }
    let rows = sqlx::query(LATEST).bind(RESTORED).fetch_all(connection).await?;
    let one = |row: &SqliteRow| {
        let mut session = read(row)?;
        session.participants = participants.remove(&*session.id.0).unwrap_or_default();
        Ok(session)
    };
    rows.iter().map(one).collect()
}

fn read(row: &SqliteRow) -> Result<Session, Error> {
    let id: &str = row.try_get("id")?;
    Ok(Session {
        id: ConversationId(id.into()),
        participants: Vec::new(),
        topic: row.try_get("topic")?,
        shared_state: object(row.try_get("shared_state")?)?,
        version: uint(row.try_get("version")?),
        status: status(row.try_get("status")?)?,
        started_at: Timestamp(row.try_get("started_at")?),
        updated_at: Timestamp(row.try_get("updated_at")?),
        closed_at: row.try_get::<Option<i64>, _>("closed_at")?.map(Timestamp),
        history: Vec::new(),
    })
}

/// One session with its changes, as the operator sees it.
pub(crate) async fn view(
    connection: &mut SqliteConnection,
    id: &ConversationId,
) -> Result<Option<SessionView>, Error> {
    let row = sqlx::query(BY_ID).bind(&*id.0).fetch_optional(&mut *connection).await?;
    let Some(session) = row.as_ref().map(read).transpose()? else { return Ok(None) };
    let mut participants = Vec::new();
    for row in sqlx::query(PARTICIPANTS_OF).bind(&*id.0).fetch_all(&mut *connection).await? {
        participants.push(agent_id(row.try_get("agent")?)?);
    }
    let mut changes = Vec::new();
    for row in sqlx::query(CHANGES).bind(&*id.0).fetch_all(connection).await? {
        changes.push(SessionChange {
            version: uint(row.try_get("version")?),
            at: Timestamp(row.try_get("at")?),
            by: agent_id(row.try_get("actor")?)?,
            written: object(row.try_get("written")?)?,
            status: row.try_get::<Option<&str>, _>("status")?.map(status).transpose()?,
        });
    }
    changes.reverse();
    Ok(Some(SessionView {
        topic: session.topic,
        participants,
        status: session.status,
        version: session.version,
        shared_state_text: session.shared_state.to_payload().as_str().to_owned(),
        started_at: session.started_at,
        updated_at: session.updated_at,
        closed_at: session.closed_at,
        changes,
    }))
}

pub(crate) fn status(text: &str) -> Result<SessionStatus, Error> {
    SessionStatus::parse(text).ok_or_else(|| meaningless("the status of a session", text))
}

fn object(text: &str) -> Result<Object, Error> {
    Object::parse(text).map_err(|_| meaningless("the state of a session", text))
}
