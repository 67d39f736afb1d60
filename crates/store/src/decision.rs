//! The table `decision`: whether each request might be made, and why.

use std::collections::HashMap;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use switchboard_model::{AgentId, DecidedBy, Decision, MessageId, Timestamp};

use crate::Error;
use crate::agent::{agent_id, meaningless};
use crate::batch::NewMessage;
use crate::eights::{Insert, insert};
use crate::message::message_id;
use crate::pen::Pen;
use crate::rows::{int, uint};
use crate::rule::effect;

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[INSERT.one, INSERT.eight, OF_MESSAGE, SINCE, RANGE, GROUPS, NAMED];

const INSERT: Insert = insert!(
    9,
    "insert into decision (message, provider, caller, capability, effect, decided_by, \
     declared, conversation, at) values ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    " on conflict do nothing"
);

/// The one about the agent it was addressed to; those about others who listened come after it.
const OF_MESSAGE: &str = "select effect, decided_by, declared from decision d \
     where message = ?1 order by provider <> coalesce( \
         (select substr(topic, 7) from message where seq = ?1 and topic like 'agent:%'), '') \
     limit 1";

/// Decisions are numbered in the order in which they were made, so the time is looked for by halves.
const SINCE: &str = "select at from decision where message >= ? order by message limit 1";
const RANGE: &str = "select coalesce((select min(message) from decision), 0) as first, \
     coalesce((select max(message) from decision), 0) as last";

const GROUPS: &str = "select caller, provider, capability, effect, decided_by, declared, \
     count(*) as requests, count(distinct conversation) as conversations \
     from decision where message >= ? \
     group by caller, provider, capability, effect, decided_by, declared";

/// What makes a group, in one text: looked up in a list of such texts this is quick, however long the
/// list. No part can have the character between them.
macro_rules! key {
    () => {
        "caller || char(31) || provider || char(31) || capability || char(31) || effect \
         || char(31) || decided_by || char(31) || declared"
    };
}

const NAMED: &str = concat!(
    "select made.key, made.conversation, m.id from (select message, conversation, ",
    key!(),
    " as key from decision where message >= ?1 order by message desc) made \
      cross join message m on m.seq = made.message \
      where made.key in (select value from json_each(?2)) order by made.message desc limit ?3"
);

/// Requests of one caller for one capability that were decided alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestGroup {
    /// Who asked.
    pub caller: AgentId,
    /// Who was asked.
    pub provider: AgentId,
    /// For what.
    pub capability: String,
    /// What was decided, and why.
    pub decision: Decision,
    /// How often.
    pub requests: u64,
    /// In how many conversations.
    pub conversations: u64,
}

impl RequestGroup {
    /// What makes the group, as in `key!`.
    fn key(&self) -> String {
        let Decision { effect, by, declared } = self.decision;
        let parts = [
            self.caller.as_str(),
            self.provider.as_str(),
            &self.capability,
            effect.as_str(),
            &by.to_text(),
            declared.as_str(),
        ];
        parts.join("\u{1f}")
    }
}

/// One of the requests of some groups.
#[derive(Clone, Debug)]
pub struct NamedRequest {
    /// Which of the groups.
    pub group: usize,
    /// The message.
    pub message: MessageId,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
}

/// What was decided about these messages, refused ones among them.
pub(crate) fn insert(pen: &Pen, messages: &[NewMessage<'_>]) -> rusqlite::Result<()> {
    let messages = messages.iter().map(|new| new.message);
    let judged = messages.filter_map(|message| {
        message.judged().map(|(provider, decision)| (message, provider, decision))
    });
    let made: Vec<_> = judged.collect();
    INSERT.rows(pen, &made, |row, (message, provider, decision)| {
        row.bind(1, int(message.seq))?;
        row.bind(2, provider.as_str())?;
        row.bind(3, message.from.as_str())?;
        row.bind(4, message.capability.as_deref().unwrap_or_default())?;
        row.bind(5, decision.effect.as_str())?;
        row.bind(6, &*decision.by.to_text())?;
        row.bind(7, decision.declared.as_str())?;
        row.bind(8, message.conversation.as_ref().map(|id| &*id.0))?;
        row.bind(9, message.accepted_at.0)
    })
}

pub(crate) async fn of_message(
    connection: &mut SqliteConnection,
    seq: u64,
) -> Result<Option<Decision>, Error> {
    let row = sqlx::query(OF_MESSAGE).bind(int(seq)).fetch_optional(connection).await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &sqlx::sqlite::SqliteRow) -> Result<Decision, Error> {
    let by: &str = row.try_get("decided_by")?;
    Ok(Decision {
        effect: effect(row.try_get("effect")?)?,
        by: DecidedBy::parse(by).ok_or_else(|| meaningless("what made a decision", by))?,
        declared: effect(row.try_get("declared")?)?,
    })
}

/// The first decision that was made at this time or later.
async fn first_since(connection: &mut SqliteConnection, at: Timestamp) -> Result<u64, Error> {
    let range = sqlx::query(RANGE).fetch_one(&mut *connection).await?;
    let (mut low, mut high) =
        (uint(range.try_get("first")?), uint(range.try_get("last")?).saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        let row = sqlx::query(SINCE).bind(int(middle)).fetch_optional(&mut *connection).await?;
        let later = match row {
            Some(row) => row.try_get::<i64, _>("at")? >= at.0,
            None => true,
        };
        if later {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// What was asked since then, put together. Returns also the first message that counts.
pub(crate) async fn groups(
    pool: &SqlitePool,
    since: Timestamp,
) -> Result<(u64, Vec<RequestGroup>), Error> {
    let mut snapshot = pool.begin().await?;
    let first = first_since(&mut snapshot, since).await?;
    let rows = sqlx::query(GROUPS).bind(int(first)).fetch_all(&mut *snapshot).await?;
    let mut groups = Vec::with_capacity(rows.len());
    for row in rows {
        groups.push(RequestGroup {
            caller: agent_id(row.try_get("caller")?)?,
            provider: agent_id(row.try_get("provider")?)?,
            capability: row.try_get("capability")?,
            decision: read(&row)?,
            requests: uint(row.try_get("requests")?),
            conversations: uint(row.try_get("conversations")?),
        });
    }
    Ok((first, groups))
}

/// The newest requests of these groups, from message `first` on.
pub(crate) async fn named(
    pool: &SqlitePool,
    first: u64,
    groups: &[RequestGroup],
    limit: u32,
) -> Result<Vec<NamedRequest>, Error> {
    let keys: Vec<String> = groups.iter().map(RequestGroup::key).collect();
    let list = serde_json::Value::from(keys.clone()).to_string();
    let places: HashMap<String, usize> = keys.into_iter().zip(0..).collect();
    let mut reader = pool.acquire().await?;
    let query = sqlx::query(NAMED).bind(int(first)).bind(list).bind(limit);
    let mut named = Vec::new();
    for row in query.fetch_all(&mut *reader).await? {
        let Some(group) = places.get(row.try_get::<&str, _>("key")?) else { continue };
        named.push(NamedRequest {
            group: *group,
            message: message_id(row.try_get("id")?)?,
            conversation: row.try_get("conversation")?,
        });
    }
    Ok(named)
}
