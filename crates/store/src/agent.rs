//! The tables `agent` and `capability`: everyone ever heard of.

use std::collections::HashMap;

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{AgentId, Capability, Door, Label, Timestamp};

use crate::Error;
use crate::batch::AgentChange;
use crate::pen::Pen;
use crate::record::AgentRecord;

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[UPSERT, SEEN, FORGET_CAPABILITIES, ADD_CAPABILITY, ALL, ALL_CAPABILITIES];

const UPSERT: &str = "insert into agent (id, name, version, door, first_seen, last_seen, \
     declared_by, mailbox, label, blocked) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
     on conflict (id) do update set name = excluded.name, version = excluded.version, \
     door = excluded.door, last_seen = max(last_seen, excluded.last_seen), \
     declared_by = excluded.declared_by, mailbox = excluded.mailbox, \
     label = excluded.label, blocked = excluded.blocked";

const SEEN: &str = "update agent set last_seen = max(last_seen, ?) where id = ?";

const FORGET_CAPABILITIES: &str = "delete from capability where agent = ?";

const ADD_CAPABILITY: &str = "insert into capability (agent, position, name, description, \
     input_schema, output_schema, keywords, authorized_requester_ids, version) \
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)";

const ALL: &str = "select id, name, version, door, first_seen, last_seen, declared_by, mailbox, \
     label, blocked from agent order by id";

const ALL_CAPABILITIES: &str = "select agent, name, description, input_schema, output_schema, \
     keywords, authorized_requester_ids, version from capability order by agent, position";

pub(crate) fn apply(pen: &Pen, changes: &[AgentChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            AgentChange::Known(agent) => upsert(pen, agent)?,
            AgentChange::Seen { id, at } => {
                pen.run(SEEN, params![at.0, id.as_str()])?;
            }
        }
    }
    Ok(())
}

fn upsert(pen: &Pen, agent: &AgentRecord) -> rusqlite::Result<()> {
    pen.statement(UPSERT)?.execute(params![
        agent.id.as_str(),
        agent.name.as_str(),
        agent.version.as_str(),
        agent.door.as_str(),
        agent.first_seen.0,
        agent.last_seen.0,
        agent.declared_by.map(Door::as_str),
        agent.mailbox,
        agent.label.as_ref().map(Label::as_str),
        agent.blocked,
    ])?;
    let Some(capabilities) = &agent.capabilities else {
        return Ok(());
    };
    pen.run(FORGET_CAPABILITIES, params![agent.id.as_str()])?;
    let mut add = pen.statement(ADD_CAPABILITY)?;
    for (position, capability) in (0_i64..).zip(capabilities) {
        let requesters = capability.authorized_requester_ids.as_ref();
        add.execute(params![
            agent.id.as_str(),
            position,
            capability.name.as_str(),
            capability.description.as_str(),
            capability.input_schema.to_string(),
            capability.output_schema.to_string(),
            serde_json::Value::from(capability.keywords.clone()).to_string(),
            requesters.map(|ids| serde_json::Value::from(ids.clone()).to_string()),
            capability.version.as_str(),
        ])?;
    }
    Ok(())
}

/// Everyone, with what they can do.
pub(crate) async fn all(connection: &mut SqliteConnection) -> Result<Vec<AgentRecord>, Error> {
    let mut capabilities: HashMap<String, Vec<Capability>> = HashMap::new();
    for row in sqlx::query(ALL_CAPABILITIES).fetch_all(&mut *connection).await? {
        let agent = row.try_get("agent")?;
        capabilities.entry(agent).or_default().push(capability(&row)?);
    }
    let rows = sqlx::query(ALL).fetch_all(connection).await?;
    let mut agents = Vec::with_capacity(rows.len());
    for row in rows {
        let id: &str = row.try_get("id")?;
        agents.push(AgentRecord {
            id: agent_id(id)?,
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            door: door(row.try_get("door")?)?,
            declared_by: row.try_get::<Option<&str>, _>("declared_by")?.map(door).transpose()?,
            mailbox: row.try_get("mailbox")?,
            label: row.try_get::<Option<&str>, _>("label")?.map(label).transpose()?,
            blocked: row.try_get("blocked")?,
            capabilities: Some(capabilities.remove(id).unwrap_or_default()),
            first_seen: Timestamp(row.try_get("first_seen")?),
            last_seen: Timestamp(row.try_get("last_seen")?),
        });
    }
    Ok(agents)
}

fn capability(row: &SqliteRow) -> Result<Capability, Error> {
    let requesters: Option<&str> = row.try_get("authorized_requester_ids")?;
    Ok(Capability {
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        input_schema: json(row.try_get("input_schema")?)?,
        output_schema: json(row.try_get("output_schema")?)?,
        keywords: json(row.try_get("keywords")?)?,
        version: row.try_get("version")?,
        authorized_requester_ids: requesters.map(json).transpose()?,
    })
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|_| meaningless("part of a capability", text))
}

fn label(text: &str) -> Result<Label, Error> {
    Label::parse(text).map_err(|_| meaningless("the name of an agent", text))
}

pub(crate) fn agent_id(text: &str) -> Result<AgentId, Error> {
    AgentId::parse(text).map_err(|_| meaningless("the id of an agent", text))
}

pub(crate) fn door(text: &str) -> Result<Door, Error> {
    Door::parse(text).ok_or_else(|| meaningless("a door", text))
}

pub(crate) fn meaningless(what: &'static str, value: &str) -> Error {
    Error::Meaningless { what, value: value.to_owned() }
}
