//! The tables `delivery` and `attempt`: to whom a message went, and how it went. The first attempt is
//! part of the delivery's row; the table `attempt` has the later ones, and all that older versions wrote.
//! What is known of most messages' only delivery is in `message`; the view `asked` has all of them.

use std::time::Duration;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use switchboard_model::{
    AgentId, AttemptOutcome, AttemptView, DeliveryId, DeliveryState, DeliveryView, Payload,
    Timestamp,
};

use crate::Error;
use crate::agent::{agent_id, door, meaningless};
use crate::batch::{DeliveryChange, FIRST, NewDelivery, Standing};
use crate::eights::{Insert, Values, insert};
use crate::pen::Pen;
use crate::record::AttemptRecord;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[
    INSERT.one,
    INSERT.eight,
    INSERT_IF_KNOWN,
    MOVE,
    MOVE_FIRST,
    INSERT_ATTEMPT,
    OF_MESSAGE,
    TRIED,
];

/// With its first attempt, if there was one. For a message that is inserted in the same transaction.
const INSERT: Insert = insert!(
    14,
    "insert or fail into delivery (id, message, agent, door, pattern, state, created_at, due_at, \
     observer, started_at, ended_at, outcome, words, answer) values ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// Not for a message that the disk did not take: nobody would ever look for it.
const INSERT_IF_KNOWN: &str = "insert or fail into delivery (id, message, agent, door, pattern, state, \
     created_at, due_at, observer, started_at, ended_at, outcome, words, answer) \
     select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 \
     where exists (select 1 from message where seq = ?2)";

const MOVE: &str = "update or fail delivery set state = ?2, due_at = ?3 where id = ?1";

/// Moves a delivery after its first attempt. What was said of that before stays.
const MOVE_FIRST: &str = "update or fail delivery set state = ?2, due_at = ?3, \
     started_at = iif(outcome is null, ?4, started_at), \
     ended_at = iif(outcome is null, ?5, ended_at), outcome = coalesce(outcome, ?6), \
     words = iif(outcome is null, ?7, words), answer = iif(outcome is null, ?8, answer) \
     where id = ?1";

/// Only of deliveries that are there, for the same reason.
const INSERT_ATTEMPT: &str = "insert into attempt (delivery, number, started_at, ended_at, \
     outcome, message, payload) select ?1, ?2, ?3, ?4, ?5, ?6, ?7 \
     where exists (select 1 from delivery where id = ?1) on conflict do nothing";

/// The first attempt is in the delivery's own row, or else with the others.
const OF_MESSAGE: &str = "select d.id, d.agent, d.door, d.pattern, d.state, d.due_at, d.observer, \
     d.started_at as first_started_at, d.ended_at as first_ended_at, d.outcome as first_outcome, \
     d.words as first_words, d.answer as first_answer, \
     a.number, a.started_at, a.ended_at, a.outcome, a.message as words, a.payload as answer \
     from asked d left join attempt a on a.delivery = d.id \
     and (a.number > 1 or d.outcome is null) \
     where d.message = ? order by d.id, a.number";

const TRIED: &str = "select d.id, d.message, d.agent, d.pattern, d.state, d.due_at, d.observer, \
     coalesce(a.number, d.outcome is not null) as attempts, \
     iif(a.number is null, d.ended_at, a.ended_at) as ended_at, \
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

pub(crate) fn insert(pen: &Pen, deliveries: &[NewDelivery<'_>]) -> rusqlite::Result<()> {
    let of_their_own = deliveries.iter().filter(|delivery| !delivery.in_message);
    let (sure, unsure): (Vec<_>, Vec<_>) = of_their_own.partition(|one| one.of_new_message);
    INSERT.rows(pen, &sure, |row, delivery| bind(row, delivery))?;
    if unsure.is_empty() {
        return Ok(());
    }
    let mut insert = pen.statement(INSERT_IF_KNOWN)?;
    for delivery in unsure {
        bind(&mut Values::of(&mut insert), delivery)?;
        insert.raw_execute()?;
    }
    Ok(())
}

fn bind(row: &mut Values<'_, '_>, delivery: &NewDelivery<'_>) -> rusqlite::Result<()> {
    let (record, Standing { state, due_at }) = (delivery.record, delivery.standing);
    row.bind(1, int(record.id.0))?;
    row.bind(2, int(record.message))?;
    row.bind(3, record.agent.as_str())?;
    row.bind(4, record.door.as_str())?;
    row.bind(5, record.pattern.as_deref())?;
    row.bind(6, state.as_str())?;
    row.bind(7, record.at.0)?;
    row.bind(8, due_at.map(|at| at.0))?;
    row.bind(9, record.observer)?;
    bind_attempt(row, 10, delivery.first)
}

/// How an attempt went, from this column on.
fn bind_attempt(
    row: &mut Values<'_, '_>,
    column: usize,
    attempt: Option<&AttemptRecord>,
) -> rusqlite::Result<()> {
    let words = attempt.and_then(|attempt| attempt.message.as_deref());
    let answer = attempt.and_then(|attempt| attempt.payload.as_ref());
    row.bind(column, attempt.map(|attempt| attempt.started_at.0))?;
    row.bind(column + 1, attempt.map(|attempt| attempt.ended_at.0))?;
    row.bind(column + 2, attempt.map(|attempt| attempt.outcome.as_str()))?;
    row.bind(column + 3, words)?;
    row.bind(column + 4, answer.map(Payload::as_str))
}

pub(crate) fn change(pen: &Pen, changes: &[DeliveryChange<'_>]) -> rusqlite::Result<()> {
    let (mut first, mut later) = (pen.statement(MOVE_FIRST)?, pen.statement(MOVE)?);
    for change in changes {
        let statement = if change.first.is_some() { &mut first } else { &mut later };
        let Standing { state, due_at } = change.standing;
        statement.raw_bind_parameter(1, int(change.id.0))?;
        statement.raw_bind_parameter(2, state.as_str())?;
        statement.raw_bind_parameter(3, due_at.map(|at| at.0))?;
        if change.first.is_some() {
            bind_attempt(&mut Values::of(statement), 4, change.first)?;
        }
        statement.raw_execute()?;
    }
    Ok(())
}

/// Attempts after the first.
pub(crate) fn insert_attempts(pen: &Pen, attempts: &[&AttemptRecord]) -> rusqlite::Result<()> {
    let mut insert = pen.statement(INSERT_ATTEMPT)?;
    for attempt in attempts {
        insert.raw_bind_parameter(1, int(attempt.delivery.0))?;
        insert.raw_bind_parameter(2, attempt.number)?;
        bind_attempt(&mut Values::of(&mut insert), 3, Some(attempt))?;
        insert.raw_execute()?;
    }
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
    now: Timestamp,
) -> Result<Vec<(u64, Tried)>, Error> {
    let list = serde_json::Value::from(messages).to_string();
    let rows = sqlx::query(TRIED).bind(list).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((uint(row.try_get("message")?), one_tried(row, now)?))).collect()
}

fn one_tried(row: &SqliteRow, now: Timestamp) -> Result<Tried, Error> {
    let due_at = row.try_get::<Option<i64>, _>("due_at")?.map(Timestamp);
    let ended_at = row.try_get::<Option<i64>, _>("ended_at")?.map(Timestamp);
    let longest = |due: Timestamp| {
        let wait = ended_at.map_or(0, |ended| due.micros_since(ended));
        now.plus(Duration::from_micros(wait))
    };
    let last = row.try_get::<Option<&str>, _>("outcome")?.map(outcome).transpose()?;
    Ok(Tried {
        delivery: DeliveryId(uint(row.try_get("id")?)),
        agent: agent_id(row.try_get("agent")?)?,
        pattern: row.try_get("pattern")?,
        observer: row.try_get("observer")?,
        state: delivery_state(row.try_get("state")?)?,
        due_at: due_at.map(|due| due.min(longest(due))),
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
