//! The tables `announced` and `allow_list`: whom the operator trusts.

use rusqlite::params;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{AllowEntry, Timestamp, Trust};

use crate::Error;
use crate::agent::{agent_id, meaningless};
use crate::pen::Pen;
use crate::record::{AllowChange, AnnouncedRecord, ReplacedDocument, TrustChange};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[
    PUT,
    FORGET,
    FORGET_REPLACED,
    FORGET_OLDEST,
    ALL,
    REPLACED,
    ALL_REPLACED,
    ALLOW,
    DISALLOW,
    ALLOWED,
];

const PUT: &str = "insert or replace into announced (agent, trust, trusted_by, key, retired, \
     key_change, document, digest, signature, version, first_seen, last_seen) \
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const FORGET: &str = "delete from announced where agent = ?";
const FORGET_REPLACED: &str = "delete from replaced_document where agent = ?";
/// Of one agent the last so many are kept, as in memory.
const FORGET_OLDEST: &str = "delete from replaced_document where agent = ? and at < \
     (select at from replaced_document where agent = ? order by at desc limit 1 offset 16384)";
const REPLACED: &str =
    "insert into replaced_document (agent, digest, at) values (?, ?, ?) on conflict do nothing";
const ALL_REPLACED: &str = "select agent, digest, at from replaced_document order by agent, at";
const ALL: &str = "select agent, trust, trusted_by, key, retired, key_change, document, digest, \
     signature, version, first_seen, last_seen from announced order by agent";

const ALLOW: &str = "insert into allow_list (pattern, note, added_at) values (?, ?, ?) \
     on conflict (pattern) do update set note = excluded.note";
const DISALLOW: &str = "delete from allow_list where pattern = ?";
const ALLOWED: &str = "select pattern, note, added_at from allow_list order by pattern";

pub(crate) fn apply(pen: &Pen, changes: &[TrustChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            TrustChange::Announced(one) => put(pen, one)?,
            TrustChange::Replaced(one) => {
                let agent = one.agent.as_str();
                pen.run(FORGET_OLDEST, params![agent, agent])?;
                pen.run(REPLACED, params![agent, one.digest.as_str(), one.at.0])?;
            }
            TrustChange::Forgotten(agent) => {
                pen.run(FORGET_REPLACED, params![agent.as_str()])?;
                pen.run(FORGET, params![agent.as_str()])?;
            }
            TrustChange::AllowList(AllowChange::Added(entry)) => {
                let added_at = entry.added_at.unwrap_or_default();
                let (pattern, note) = (entry.pattern.as_str(), entry.note.as_str());
                pen.run(ALLOW, params![pattern, note, added_at.0])?;
            }
            TrustChange::AllowList(AllowChange::Removed(pattern)) => {
                pen.run(DISALLOW, params![pattern.as_str()])?;
            }
        }
    }
    Ok(())
}

fn put(pen: &Pen, one: &AnnouncedRecord) -> rusqlite::Result<()> {
    pen.statement(PUT)?.execute(params![
        one.agent.as_str(),
        one.trust.as_str(),
        one.trusted_by.map(|by| json(&by)),
        one.key.as_ref().map(json),
        json(&one.retired),
        one.key_change.as_ref().map(json),
        &*one.document,
        one.digest.as_str(),
        one.signature.as_deref(),
        one.version.as_str(),
        one.first_seen.0,
        one.last_seen.0,
    ])?;
    Ok(())
}

/// Every announced agent about which something was decided.
pub(crate) async fn all(connection: &mut SqliteConnection) -> Result<Vec<AnnouncedRecord>, Error> {
    let rows = sqlx::query(ALL).fetch_all(connection).await?;
    rows.iter().map(read).collect()
}

/// Every document that was replaced, oldest first.
pub(crate) async fn replaced(
    connection: &mut SqliteConnection,
) -> Result<Vec<ReplacedDocument>, Error> {
    let rows = sqlx::query(ALL_REPLACED).fetch_all(connection).await?;
    let one = |row: &SqliteRow| {
        Ok(ReplacedDocument {
            agent: agent_id(row.try_get("agent")?)?,
            digest: row.try_get("digest")?,
            at: Timestamp(row.try_get("at")?),
        })
    };
    rows.iter().map(one).collect()
}

/// The entries of the allow-list that the operator made here.
pub(crate) async fn allow_list(
    connection: &mut SqliteConnection,
) -> Result<Vec<AllowEntry>, Error> {
    let rows = sqlx::query(ALLOWED).fetch_all(connection).await?;
    let entry = |row: &SqliteRow| {
        Ok(AllowEntry {
            pattern: row.try_get("pattern")?,
            note: row.try_get("note")?,
            added_at: Some(Timestamp(row.try_get("added_at")?)),
        })
    };
    rows.iter().map(entry).collect()
}

fn read(row: &SqliteRow) -> Result<AnnouncedRecord, Error> {
    let trust: &str = row.try_get("trust")?;
    Ok(AnnouncedRecord {
        agent: agent_id(row.try_get("agent")?)?,
        trust: Trust::parse(trust).ok_or_else(|| meaningless("a trust", trust))?,
        trusted_by: maybe(row.try_get("trusted_by")?)?,
        key: maybe(row.try_get("key")?)?,
        retired: parse(row.try_get("retired")?)?,
        key_change: maybe(row.try_get("key_change")?)?,
        document: row.try_get::<&str, _>("document")?.into(),
        digest: row.try_get("digest")?,
        signature: row.try_get("signature")?,
        version: row.try_get("version")?,
        first_seen: Timestamp(row.try_get("first_seen")?),
        last_seen: Timestamp(row.try_get("last_seen")?),
    })
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|_| meaningless("part of what was announced", text))
}

fn maybe<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, Error> {
    text.map(parse).transpose()
}
