//! The tables `delivery` and `attempt`: to whom a message went, and how it went.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    AgentId, AttemptOutcome, AttemptView, DeliveryId, DeliveryState, DeliveryView, Payload,
    Timestamp,
};

use crate::Error;
use crate::agent::{agent_id, door, meaningless};
use crate::batch::{NewDelivery, Standing};
use crate::record::AttemptRecord;
use crate::rows::{Many, int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[OF_MESSAGE, TRIED];

/// Not for a message that the disk did not take: nobody would ever look for it.
pub(crate) static INSERT: Many = Many::new(
    "insert into delivery (id, message, agent, door, pattern, state, created_at, due_at, \
     observer) \
     select new.column1, new.column2, new.column3, new.column4, new.column5, new.column6, \
     new.column7, new.column8, new.column9 from (values",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ") as new join message on message.seq = new.column2",
);

pub(crate) static MOVE: Many = Many::new(
    "update delivery set state = change.column2, due_at = change.column3 from (values",
    "(?, ?, ?)",
    ") as change where delivery.id = change.column1",
);

/// Only of deliveries that are there, for the same reason.
pub(crate) static INSERT_ATTEMPT: Many = Many::new(
    "insert into attempt (delivery, number, started_at, ended_at, outcome, message, payload) \
     select new.column1, new.column2, new.column3, new.column4, new.column5, new.column6, \
     new.column7 from (values",
    "(?, ?, ?, ?, ?, ?, ?)",
    ") as new join delivery on delivery.id = new.column1 where true on conflict do nothing",
);

const OF_MESSAGE: &str = "select d.id, d.agent, d.door, d.pattern, d.state, d.due_at, d.observer, \
     a.number, a.started_at, a.ended_at, a.outcome, a.message, a.payload \
     from delivery d left join attempt a on a.delivery = d.id \
     where d.message = ? order by d.id, a.number";

const TRIED: &str = "select d.id, d.message, d.agent, d.pattern, d.state, d.due_at, d.observer, \
     a.number, a.outcome, a.message as words from delivery d \
     left join attempt a on a.delivery = d.id \
     and a.number = (select max(number) from attempt where delivery = d.id) \
     where d.message in (select value from json_each(?)) order by d.id";

/// A delivery of a message that was on its way when the broker ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The recipient.
    pub agent: AgentId,
    /// The subscription's pattern that brought it here.
    pub pattern: Option<String>,
    /// Whether the recipient only watches.
    pub observer: bool,
    /// Where it was.
    pub state: DeliveryState,
    /// When the recipient was to be asked again, if it was.
    pub due_at: Option<Timestamp>,
    /// How often the recipient was asked.
    pub attempts: u32,
    /// How the last time ended, and the words about it.
    pub last: Option<(AttemptOutcome, Option<String>)>,
}

pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    deliveries: &[NewDelivery],
) -> Result<(), sqlx::Error> {
    INSERT
        .run(connection, deliveries, |query, delivery| {
            let record = &delivery.record;
            query
                .bind(int(record.id.0))
                .bind(int(record.message))
                .bind(record.agent.as_str())
                .bind(record.door.as_str())
                .bind(record.pattern.as_deref())
                .bind(delivery.standing.state.as_str())
                .bind(record.at.0)
                .bind(delivery.standing.due_at.map(|at| at.0))
                .bind(record.observer)
        })
        .await?;
    Ok(())
}

pub(crate) async fn change_states(
    connection: &mut SqliteConnection,
    states: &[(DeliveryId, Standing)],
) -> Result<(), sqlx::Error> {
    MOVE.run(connection, states, |query, (id, standing)| {
        let due_at = standing.due_at.map(|at| at.0);
        query.bind(int(id.0)).bind(standing.state.as_str()).bind(due_at)
    })
    .await?;
    Ok(())
}

pub(crate) async fn insert_attempts(
    connection: &mut SqliteConnection,
    attempts: &[AttemptRecord],
) -> Result<(), sqlx::Error> {
    INSERT_ATTEMPT
        .run(connection, attempts, |query, attempt| {
            query
                .bind(int(attempt.delivery.0))
                .bind(attempt.number)
                .bind(attempt.started_at.0)
                .bind(attempt.ended_at.0)
                .bind(attempt.outcome.as_str())
                .bind(attempt.message.as_deref())
                .bind(attempt.payload.as_ref().map(Payload::as_str))
        })
        .await?;
    Ok(())
}

/// Everyone a message went to, in the order in which they were asked.
pub(crate) async fn of_message(
    connection: &mut SqliteConnection,
    message: u64,
) -> Result<Vec<DeliveryView>, Error> {
    let query = sqlx::query(OF_MESSAGE).bind(int(message));
    let mut deliveries: Vec<DeliveryView> = Vec::new();
    for row in query.fetch_all(connection).await? {
        let id = DeliveryId(uint(row.try_get("id")?));
        if deliveries.last().is_none_or(|last| last.id != id) {
            deliveries.push(view(id, &row)?);
        }
        let attempt = attempt(&row)?;
        if let (Some(delivery), Some(attempt)) = (deliveries.last_mut(), attempt) {
            delivery.attempts.push(attempt);
        }
    }
    Ok(deliveries)
}

/// What has been tried for these messages, in the order in which it was begun.
pub(crate) async fn tried(
    connection: &mut SqliteConnection,
    messages: &[u64],
) -> Result<Vec<(u64, Tried)>, Error> {
    let list = serde_json::Value::from(messages).to_string();
    let rows = sqlx::query(TRIED).bind(list).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((uint(row.try_get("message")?), one_tried(row)?))).collect()
}

fn one_tried(row: &SqliteRow) -> Result<Tried, Error> {
    let last = row.try_get::<Option<&str>, _>("outcome")?.map(outcome).transpose()?;
    Ok(Tried {
        delivery: DeliveryId(uint(row.try_get("id")?)),
        agent: agent_id(row.try_get("agent")?)?,
        pattern: row.try_get("pattern")?,
        observer: row.try_get("observer")?,
        state: delivery_state(row.try_get("state")?)?,
        due_at: row.try_get::<Option<i64>, _>("due_at")?.map(Timestamp),
        attempts: row.try_get::<Option<u32>, _>("number")?.unwrap_or(0),
        last: last
            .map(|outcome| Ok::<_, sqlx::Error>((outcome, row.try_get("words")?)))
            .transpose()?,
    })
}

fn outcome(text: &str) -> Result<AttemptOutcome, Error> {
    AttemptOutcome::parse(text).ok_or_else(|| meaningless("the end of an attempt", text))
}

fn delivery_state(text: &str) -> Result<DeliveryState, Error> {
    DeliveryState::parse(text).ok_or_else(|| meaningless("a delivery's state", text))
}

fn view(id: DeliveryId, row: &SqliteRow) -> Result<DeliveryView, Error> {
    Ok(DeliveryView {
        id,
        agent: agent_id(row.try_get("agent")?)?,
        door: door(row.try_get("door")?)?,
        pattern: row.try_get("pattern")?,
        observer: row.try_get("observer")?,
        state: delivery_state(row.try_get("state")?)?,
        retry_at: row.try_get::<Option<i64>, _>("due_at")?.map(Timestamp),
        attempts: Vec::new(),
    })
}

fn attempt(row: &SqliteRow) -> Result<Option<AttemptView>, Error> {
    let Some(number) = row.try_get::<Option<u32>, _>("number")? else {
        return Ok(None);
    };
    Ok(Some(AttemptView {
        number,
        started_at: Timestamp(row.try_get("started_at")?),
        ended_at: Timestamp(row.try_get("ended_at")?),
        outcome: outcome(row.try_get("outcome")?)?,
        message: row.try_get("message")?,
        payload_text: row.try_get("payload")?,
    }))
}
