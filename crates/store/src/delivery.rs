//! The tables `delivery` and `attempt`: to whom a message went, and how it went.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    AttemptOutcome, AttemptView, DeliveryId, DeliveryState, DeliveryView, Payload, Timestamp,
};

use crate::Error;
use crate::agent::{agent_id, door, meaningless};
use crate::batch::NewDelivery;
use crate::record::AttemptRecord;
use crate::rows::{Many, int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[OF_MESSAGE];

/// Not for a message that the disk did not take: nobody would ever look for it.
pub(crate) static INSERT: Many = Many::new(
    "insert into delivery (id, message, agent, door, pattern, state, created_at) \
     select new.column1, new.column2, new.column3, new.column4, new.column5, new.column6, \
     new.column7 from (values",
    "(?, ?, ?, ?, ?, ?, ?)",
    ") as new join message on message.seq = new.column2",
);

pub(crate) static MOVE: Many = Many::new(
    "update delivery set state = change.column2 from (values",
    "(?, ?)",
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

const OF_MESSAGE: &str = "select d.id, d.agent, d.door, d.pattern, d.state, \
     a.number, a.started_at, a.ended_at, a.outcome, a.message, a.payload \
     from delivery d left join attempt a on a.delivery = d.id \
     where d.message = ? order by d.id, a.number";

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
                .bind(delivery.state.as_str())
                .bind(record.at.0)
        })
        .await?;
    Ok(())
}

pub(crate) async fn change_states(
    connection: &mut SqliteConnection,
    states: &[(DeliveryId, DeliveryState)],
) -> Result<(), sqlx::Error> {
    MOVE.run(connection, states, |query, (id, state)| query.bind(int(id.0)).bind(state.as_str()))
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

fn view(id: DeliveryId, row: &SqliteRow) -> Result<DeliveryView, Error> {
    let state: &str = row.try_get("state")?;
    Ok(DeliveryView {
        id,
        agent: agent_id(row.try_get("agent")?)?,
        door: door(row.try_get("door")?)?,
        pattern: row.try_get("pattern")?,
        state: DeliveryState::parse(state)
            .ok_or_else(|| meaningless("a delivery's state", state))?,
        attempts: Vec::new(),
    })
}

fn attempt(row: &SqliteRow) -> Result<Option<AttemptView>, Error> {
    let Some(number) = row.try_get::<Option<u32>, _>("number")? else {
        return Ok(None);
    };
    let outcome: &str = row.try_get("outcome")?;
    Ok(Some(AttemptView {
        number,
        started_at: Timestamp(row.try_get("started_at")?),
        ended_at: Timestamp(row.try_get("ended_at")?),
        outcome: AttemptOutcome::parse(outcome)
            .ok_or_else(|| meaningless("the end of an attempt", outcome))?,
        message: row.try_get("message")?,
        payload_text: row.try_get("payload")?,
    }))
}
