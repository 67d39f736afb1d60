//! The table `decision`: whether each request might be made, and why.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use switchboard_model::{AgentId, DecidedBy, Decision, MessageId, Timestamp};

use crate::Error;
use crate::agent::{agent_id, meaningless};
use crate::message::message_id;
use crate::record::DecisionRecord;
use crate::rows::{Many, int, uint};
use crate::rule::effect;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[OF_MESSAGE, SINCE, RANGE, GROUPS, MESSAGES, CONVERSATIONS];

pub(crate) static INSERT: Many = Many::new(
    "insert into decision (message, provider, caller, capability, effect, decided_by, declared, \
     at) values",
    "(?, ?, ?, ?, ?, ?, ?, ?)",
    "on conflict do nothing",
);

/// The one about the agent it was addressed to; those about others who listened come after it.
const OF_MESSAGE: &str = "select effect, decided_by, declared from decision d \
     where message = ?1 order by provider <> coalesce( \
         (select substr(topic, 7) from message where seq = ?1 and topic like 'agent:%'), '') \
     limit 1";

/// Decisions are numbered in the order in which they were made, so the time is looked for by halves.
const SINCE: &str = "select at from decision where message >= ? order by message limit 1";
const RANGE: &str = "select coalesce(min(message), 0) as first, coalesce(max(message), 0) as last \
     from decision";

const GROUPS: &str = "select caller, provider, capability, effect, decided_by, declared, \
     count(*) as requests from decision where message >= ? \
     group by caller, provider, capability, effect, decided_by, declared";

const MESSAGES: &str = "select m.id, m.conversation from decision d \
     cross join message m on m.seq = d.message \
     where d.message >= ?1 and d.caller = ?2 and d.provider = ?3 and d.capability = ?4 \
     and d.effect = ?5 and d.decided_by = ?6 and d.declared = ?7 \
     order by d.message desc limit ?8";

const CONVERSATIONS: &str = "select count(distinct m.conversation) as conversations \
     from decision d cross join message m on m.seq = d.message \
     where d.message >= ?1 and d.caller = ?2 and d.provider = ?3 and d.capability = ?4 \
     and d.effect = ?5 and d.decided_by = ?6 and d.declared = ?7";

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
}

/// The newest requests of a group.
#[derive(Clone, Debug, Default)]
pub struct GroupMessages {
    /// Newest first.
    pub messages: Vec<MessageId>,
    /// The conversations they belong to, each once.
    pub conversations: Vec<String>,
    /// How many conversations all requests of the group belong to.
    pub conversation_count: u64,
}

pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    decisions: &[DecisionRecord],
) -> Result<(), sqlx::Error> {
    INSERT
        .run(connection, decisions, |query, made| {
            query
                .bind(int(made.message))
                .bind(made.provider.as_str())
                .bind(made.caller.as_str())
                .bind(made.capability.as_str())
                .bind(made.decision.effect.as_str())
                .bind(made.decision.by.to_text())
                .bind(made.decision.declared.as_str())
                .bind(made.at.0)
        })
        .await?;
    Ok(())
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
        });
    }
    Ok((first, groups))
}

/// The newest requests of one group, from message `first` on.
pub(crate) async fn messages(
    pool: &SqlitePool,
    first: u64,
    group: &RequestGroup,
    limit: u32,
) -> Result<GroupMessages, Error> {
    let mut snapshot = pool.begin().await?;
    let by = group.decision.by.to_text();
    let bind = |statement: &'static str| {
        sqlx::query(statement)
            .bind(int(first))
            .bind(group.caller.as_str())
            .bind(group.provider.as_str())
            .bind(group.capability.as_str())
            .bind(group.decision.effect.as_str())
            .bind(by.clone())
            .bind(group.decision.declared.as_str())
    };
    let mut found = GroupMessages::default();
    for row in bind(MESSAGES).bind(limit).fetch_all(&mut *snapshot).await? {
        found.messages.push(message_id(row.try_get("id")?)?);
        let conversation: Option<String> = row.try_get("conversation")?;
        if let Some(id) = conversation.filter(|id| !found.conversations.contains(id)) {
            found.conversations.push(id);
        }
    }
    let counted = bind(CONVERSATIONS).fetch_one(&mut *snapshot).await?;
    found.conversation_count = uint(counted.try_get("conversations")?);
    Ok(found)
}
