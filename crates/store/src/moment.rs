//! How things stood at a moment in the past: who was there, what waited, which rules held.

use std::collections::HashMap;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use switchboard_model::{AgentId, AgentStatus, Rule, Timestamp};

use crate::Error;
use crate::agent::{agent_id, meaningless};
use crate::rows::{int, uint};
use crate::rule;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[PRESENT, ACCEPTED_AFTER, QUEUED, LETTERS, KEPT_SINCE];

const PRESENT: &str = "select a.id, (select p.status from presence p \
         where p.agent = a.id and p.at <= ?1 order by p.at desc limit 1) as status \
     from agent a where a.first_seen <= ?1 order by a.id";

/// Whether the message in the middle was accepted by then.
macro_rules! is_earlier {
    () => {
        "(select m.accepted_at from message m where m.seq >= (low + high) / 2 \
          order by m.seq limit 1) <= ?1"
    };
}

/// The first message that was accepted after this, or where the next one would be. They are numbered in
/// the order in which they were accepted, so it is looked for by halves.
const ACCEPTED_AFTER: &str = concat!(
    "with recursive half (low, high) as ( \
     select coalesce((select min(seq) from message), 0), \
         coalesce((select max(seq) from message), 0) + 1 \
     union all \
     select iif(",
    is_earlier!(),
    ", (low + high) / 2 + 1, low), iif(",
    is_earlier!(),
    ", high, (low + high) / 2) from half where low < high \
     ) select low from half where low >= high"
);

/// Messages that were on their way: those that still are, those that took long and were settled later, and
/// of those that took no longer than a second the ones accepted within the second before. A message for
/// an agent waits for that agent, in whichever way; one on a topic for each recipient that has it.
const QUEUED: &str = "with found as materialized ( \
     select m.seq, m.topic, m.recipient from message m \
         where m.state = 'waiting' and m.accepted_at <= ?1 \
     union all \
     select m.seq, m.topic, m.recipient from message m indexed by message_slow \
         where m.settled_at > m.accepted_at + 1000000 \
         and m.settled_at > ?1 and m.accepted_at <= ?1 \
     union all \
     select m.seq, m.topic, m.recipient from message m \
         where m.seq >= ?2 and m.seq < ?3 and m.accepted_at <= ?1 \
         and m.settled_at > ?1 and m.settled_at <= m.accepted_at + 1000000 \
     ), on_their_way as materialized ( \
     select f.seq, case when f.topic = 'agent:' || f.recipient then f.recipient end as addressee \
         from found f where not exists \
         (select 1 from dead_letter l where l.message = f.seq and l.died_at <= ?1) \
     ) \
     select agent, count(*) as queued from ( \
     select o.addressee as agent from on_their_way o where o.addressee is not null \
     union all \
     select d.agent from on_their_way o cross join delivery d on d.message = o.seq \
         where o.addressee is null and d.created_at <= ?1 \
         and (d.state = 'waiting' or d.ended_at > ?1 \
              or exists (select 1 from attempt a where a.delivery = d.id and a.ended_at > ?1) \
              or (d.ended_at is null \
                  and not exists (select 1 from attempt a where a.delivery = d.id))) \
     union all \
     select m.recipient from on_their_way o cross join message m on m.seq = o.seq \
         where o.addressee is null and m.delivery is not null and m.taken_ended_at > ?1 \
     ) group by agent";

const LETTERS: &str = "select \
     (select count(*) from dead_letter where status = 'open' and died_at <= ?1) + \
     (select count(*) from dead_letter where closed_at > ?1 and died_at <= ?1) as letters";

const KEPT_SINCE: &str = "select kept_since from total";

/// What takes no longer than this is looked for among all messages that were accepted so shortly before.
const QUICK_MICROS: i64 = 1_000_000;

/// How things stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Then {
    /// Everyone who was known, in order of their ids.
    pub agents: Vec<PresentThen>,
    /// The rules that were in force, in order of their numbers.
    pub rules: Vec<Rule>,
    /// Dead letters that nobody had dealt with.
    pub open_letters: u64,
    /// Before this not everything is kept.
    pub kept_since: Timestamp,
}

/// One agent as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct PresentThen {
    /// Which.
    pub agent: AgentId,
    /// Whether it could take messages.
    pub status: AgentStatus,
    /// Deliveries to it that waited or were in its hands.
    pub queued: u64,
}

/// How things stood at this moment.
pub(crate) async fn read(pool: &SqlitePool, at: Timestamp) -> Result<Then, Error> {
    let mut snapshot = pool.begin().await?;
    let mut queued = queued(&mut snapshot, at).await?;
    let mut agents = Vec::new();
    for row in sqlx::query(PRESENT).bind(at.0).fetch_all(&mut *snapshot).await? {
        let agent = agent_id(row.try_get("id")?)?;
        let known = row.try_get::<Option<&str>, _>("status")?.map(status).transpose()?;
        let queued = queued.remove(&agent).unwrap_or(0);
        let status = known.unwrap_or(AgentStatus::Unavailable);
        agents.push(PresentThen { agent, status, queued });
    }
    let rules = rule::at(&mut snapshot, at).await?;
    let letters = sqlx::query(LETTERS).bind(at.0).fetch_one(&mut *snapshot).await?;
    let kept = sqlx::query(KEPT_SINCE).fetch_one(&mut *snapshot).await?;
    Ok(Then {
        agents,
        rules,
        open_letters: uint(letters.try_get("letters")?),
        kept_since: Timestamp(kept.try_get("kept_since")?),
    })
}

async fn queued(
    connection: &mut SqliteConnection,
    at: Timestamp,
) -> Result<HashMap<AgentId, u64>, Error> {
    let before = Timestamp(at.0.saturating_sub(QUICK_MICROS));
    let first = accepted_after(&mut *connection, before).await?;
    let last = accepted_after(&mut *connection, at).await?;
    let query = sqlx::query(QUEUED).bind(at.0).bind(int(first)).bind(int(last));
    let mut queued = HashMap::new();
    for row in query.fetch_all(connection).await? {
        queued.insert(agent_id(row.try_get("agent")?)?, uint(row.try_get("queued")?));
    }
    Ok(queued)
}

async fn accepted_after(connection: &mut SqliteConnection, at: Timestamp) -> Result<u64, Error> {
    let row = sqlx::query(ACCEPTED_AFTER).bind(at.0).fetch_one(connection).await?;
    Ok(uint(row.try_get("low")?))
}

fn status(text: &str) -> Result<AgentStatus, Error> {
    AgentStatus::parse(text).ok_or_else(|| meaningless("the status of an agent", text))
}
