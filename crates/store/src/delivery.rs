//! The tables `delivery` and `attempt`: to whom a message went, and how it went. The first attempt is
//! part of the delivery's row; the table `attempt` has the later ones, and all that older versions wrote.

use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    AgentId, AttemptOutcome, AttemptView, DeliveryId, DeliveryState, DeliveryView, Timestamp,
};

use crate::Error;
use crate::agent::{agent_id, door, meaningless};
use crate::batch::{DeliveryChange, FIRST, NewDelivery, Standing};
use crate::record::AttemptRecord;
use crate::rows::{Many, Values, int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[OF_MESSAGE, TRIED];

/// The columns of a new delivery, with its first attempt if there was one.
macro_rules! columns {
    () => {
        "insert or fail into delivery (id, message, agent, door, pattern, state, created_at, due_at, \
         observer, started_at, ended_at, outcome, words, answer) "
    };
}

/// For a message that is inserted in the same transaction.
pub(crate) static INSERT: Many =
    Many::new(concat!(columns!(), "select * from"), 14, "where column1 is not null");

/// Not for a message that the disk did not take: nobody would ever look for it.
pub(crate) static INSERT_IF_KNOWN: Many = Many::new(
    concat!(columns!(), "select new.* from"),
    14,
    "join message on message.seq = new.column2",
);

pub(crate) static MOVE: Many = Many::new(
    "update or fail delivery set state = new.column2, due_at = new.column3 from",
    3,
    "where delivery.id = new.column1",
);

/// Moves a delivery after its first attempt. What was said of that before stays.
pub(crate) static MOVE_FIRST: Many = Many::new(
    "update or fail delivery set state = new.column2, due_at = new.column3, \
     started_at = iif(outcome is null, new.column4, started_at), \
     ended_at = iif(outcome is null, new.column5, ended_at), \
     outcome = coalesce(outcome, new.column6), \
     words = iif(outcome is null, new.column7, words), \
     answer = iif(outcome is null, new.column8, answer) from",
    8,
    "where delivery.id = new.column1",
);

/// Only of deliveries that are there, for the same reason.
pub(crate) static INSERT_ATTEMPT: Many = Many::new(
    "insert into attempt (delivery, number, started_at, ended_at, outcome, message, payload) \
     select new.* from",
    7,
    "join delivery on delivery.id = new.column1 where true on conflict do nothing",
);

/// The first attempt is in the delivery's own row, or else with the others.
const OF_MESSAGE: &str = "select d.id, d.agent, d.door, d.pattern, d.state, d.due_at, d.observer, \
     d.started_at as first_started_at, d.ended_at as first_ended_at, d.outcome as first_outcome, \
     d.words as first_words, d.answer as first_answer, \
     a.number, a.started_at, a.ended_at, a.outcome, a.message as words, a.payload as answer \
     from delivery d left join attempt a on a.delivery = d.id \
     and (a.number > 1 or d.outcome is null) \
     where d.message = ? order by d.id, a.number";

const TRIED: &str = "select d.id, d.message, d.agent, d.pattern, d.state, d.due_at, d.observer, \
     coalesce(a.number, d.outcome is not null) as attempts, \
     iif(a.number is null, d.outcome, a.outcome) as outcome, \
     iif(a.number is null, d.words, a.message) as words from delivery d \
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
    deliveries: &[NewDelivery<'_>],
) -> Result<(), sqlx::Error> {
    let (sure, unsure): (Vec<_>, Vec<_>) =
        deliveries.iter().partition(|delivery| delivery.of_new_message);
    for (statement, deliveries) in [(&INSERT, sure), (&INSERT_IF_KNOWN, unsure)] {
        statement.run(&mut *connection, &deliveries, bind_new).await?;
    }
    Ok(())
}

fn bind_new(values: &mut Values, delivery: &&NewDelivery<'_>) {
    let record = delivery.record;
    values
        .bind(int(record.id.0))
        .bind(int(record.message))
        .word(record.agent.as_str())
        .word(record.door.as_str())
        .maybe(record.pattern.as_deref())
        .word(delivery.standing.state.as_str())
        .bind(record.at.0)
        .bind(delivery.standing.due_at.map(|at| at.0))
        .bind(record.observer);
    bind_attempt(values, delivery.first);
}

/// How an attempt went.
fn bind_attempt(values: &mut Values, attempt: Option<&AttemptRecord>) {
    let answer = attempt.and_then(|attempt| attempt.payload.as_ref());
    values
        .bind(attempt.map(|attempt| attempt.started_at.0))
        .bind(attempt.map(|attempt| attempt.ended_at.0))
        .maybe(attempt.map(|attempt| attempt.outcome.as_str()))
        .maybe(attempt.and_then(|attempt| attempt.message.as_deref()))
        .bind(answer.map(|answer| Arc::<str>::from(answer.as_str())));
}

pub(crate) async fn change(
    connection: &mut SqliteConnection,
    changes: &[DeliveryChange<'_>],
) -> Result<(), sqlx::Error> {
    let (first, later): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| change.first.is_some());
    let bind_move = |values: &mut Values, change: &&DeliveryChange<'_>| {
        let Standing { state, due_at } = change.standing;
        values.bind(int(change.id.0)).word(state.as_str()).bind(due_at.map(|at| at.0));
    };
    MOVE.run(&mut *connection, &later, bind_move).await?;
    MOVE_FIRST
        .run(connection, &first, |values, change| {
            bind_move(values, change);
            bind_attempt(values, change.first);
        })
        .await?;
    Ok(())
}

/// Attempts after the first.
pub(crate) async fn insert_attempts(
    connection: &mut SqliteConnection,
    attempts: &[&AttemptRecord],
) -> Result<(), sqlx::Error> {
    INSERT_ATTEMPT
        .run(connection, attempts, |values, attempt| {
            values.bind(int(attempt.delivery.0)).bind(attempt.number);
            bind_attempt(values, Some(attempt));
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
        if let Some(delivery) = deliveries.last_mut() {
            delivery.attempts.extend(attempt(&row)?);
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
        attempts: row.try_get("attempts")?,
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
        attempts: first_attempt(row)?.into_iter().collect(),
    })
}

fn first_attempt(row: &SqliteRow) -> Result<Option<AttemptView>, Error> {
    let Some(text) = row.try_get("first_outcome")? else { return Ok(None) };
    Ok(Some(AttemptView {
        number: FIRST,
        started_at: Timestamp(row.try_get("first_started_at")?),
        ended_at: Timestamp(row.try_get("first_ended_at")?),
        outcome: outcome(text)?,
        message: row.try_get("first_words")?,
        payload_text: row.try_get("first_answer")?,
    }))
}

fn attempt(row: &SqliteRow) -> Result<Option<AttemptView>, Error> {
    let Some(number) = row.try_get("number")? else { return Ok(None) };
    Ok(Some(AttemptView {
        number,
        started_at: Timestamp(row.try_get("started_at")?),
        ended_at: Timestamp(row.try_get("ended_at")?),
        outcome: outcome(row.try_get("outcome")?)?,
        message: row.try_get("words")?,
        payload_text: row.try_get("answer")?,
    }))
}
