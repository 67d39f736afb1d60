//! How messages get into their table, and change there.

use std::borrow::Cow;

use rusqlite::{Statement, ToSql, params};
use switchboard_model::{Address, AgentId, Context, Dialect, Message, Payload};

use super::{AGENT_PREFIX, seal};
use crate::batch::{NewMessage, Settle};
use crate::pen::Pen;
use crate::record::{AttemptRecord, DeliveryRecord};
use crate::rows::int;
use crate::total::Delta;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[USUAL, EIGHT_USUAL, TAKEN, EIGHT_TAKEN, INSERT_WHOLE, SETTLE];

/// Many rows of a kind are written eight at a time: the table has seven indexes, and each statement looks at all of them
/// before its first row.
const EIGHT: usize = 8;

/// The same, eight times.
macro_rules! eight {
    ($row:literal) => {
        concat!(
            $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ", $row, ", ",
            $row
        )
    };
}

/// Those on every message's way say `or fail`: SQLite then keeps no copy of each page in order to take back
/// one statement alone. Nobody needs that, because whatever fails, the whole transaction is taken back.
///
/// For messages that have nothing in the other columns: each costs, even where it is null.
macro_rules! insert_usual {
    () => {
        "insert or fail into message (seq, id, sender, recipient, topic, capability, \
         kind, priority, door, accepted_at, state, settled_at, payload, by_seq, seal) values "
    };
}
const USUAL: &str = concat!(insert_usual!(), "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
const EIGHT_USUAL: &str =
    concat!(insert_usual!(), eight!("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));

/// For those that somebody has taken already.
macro_rules! insert_taken {
    () => {
        "insert or fail into message (seq, id, sender, recipient, topic, capability, \
         kind, priority, door, accepted_at, state, settled_at, payload, by_seq, seal, \
         delivery, taken_door, taken_pattern, taken_started_at, taken_ended_at, taken_words, \
         taken_answer) values "
    };
}
const TAKEN: &str =
    concat!(insert_taken!(), "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
const EIGHT_TAKEN: &str = concat!(
    insert_taken!(),
    eight!("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
);

const INSERT_WHOLE: &str = "insert or fail into message (seq, id, sender, recipient, topic, \
     capability, kind, priority, door, accepted_at, state, settled_at, payload, by_seq, seal, \
     delivery, taken_door, taken_pattern, taken_started_at, taken_ended_at, taken_words, \
     taken_answer, correlation, conversation, expires_at, error, replay_of, dialect, context, \
     answer_by) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
     ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)";

const SETTLE: &str = "update or fail message set state = ?3, settled_at = ?4, \
     recipient = coalesce(recipient, ?5), error = coalesce(?6, error) \
     where seq = ?1 and state = ?2";

pub(crate) fn insert(pen: &Pen, messages: &[NewMessage<'_>]) -> rusqlite::Result<()> {
    // To ask for a statement costs, so those of a kind share one; most of a batch are.
    for alike in messages.chunk_by(|one, next| form(one) == form(next)) {
        let Some(form) = alike.first().map(form) else { continue };
        match form {
            Form::Usual => insert_eights(pen, alike, (USUAL, EIGHT_USUAL, 15), bind_usual)?,
            Form::Taken => insert_eights(pen, alike, (TAKEN, EIGHT_TAKEN, 22), |row, new| {
                bind_usual(row, new)?;
                bind_taken(row, new.taken)
            })?,
            Form::Whole => {
                let mut insert = pen.statement(INSERT_WHOLE)?;
                for new in alike {
                    let row = &mut Row { statement: &mut insert, after: 0 };
                    bind_usual(row, new)?;
                    bind_taken(row, new.taken)?;
                    bind_others(row, new)?;
                    insert.raw_execute()?;
                }
            }
        }
    }
    Ok(())
}

/// Inserts eight at a time, and the rest one by one, by statements with so many columns a row.
fn insert_eights(
    pen: &Pen,
    messages: &[NewMessage<'_>],
    (one, eight, columns): (&'static str, &'static str, usize),
    bind: impl Fn(&mut Row<'_, '_>, &NewMessage<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let (eights, rest) = messages.split_at(messages.len() / EIGHT * EIGHT);
    for (sql, size, messages) in [(eight, EIGHT, eights), (one, 1, rest)] {
        if messages.is_empty() {
            continue;
        }
        let mut insert = pen.statement(sql)?;
        for together in messages.chunks_exact(size) {
            for (place, new) in together.iter().enumerate() {
                bind(&mut Row { statement: &mut insert, after: place * columns }, new)?;
            }
            insert.raw_execute()?;
        }
    }
    Ok(())
}

/// One row of a statement for one or for eight.
struct Row<'a, 'pen> {
    statement: &'a mut Statement<'pen>,
    /// How many values come before those of this row.
    after: usize,
}

impl Row<'_, '_> {
    fn bind(&mut self, column: usize, value: impl ToSql) -> rusqlite::Result<()> {
        self.statement.raw_bind_parameter(self.after + column, value)
    }
}

/// Which columns a message has something in.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Usual,
    Taken,
    Whole,
}

fn form(new: &NewMessage<'_>) -> Form {
    match new.taken {
        _ if !is_usual(new) => Form::Whole,
        Some(_) => Form::Taken,
        None => Form::Usual,
    }
}

/// Whether it has nothing in the columns of `bind_others`.
fn is_usual(new: &NewMessage<'_>) -> bool {
    let message = new.message;
    message.correlation.is_none()
        && message.conversation.is_none()
        && message.expires_at.is_none()
        && new.error.is_none()
        && message.replay_of.is_none()
        && foreign_dialect(message).is_none()
        && message.context.is_none()
        && message.answer_by.is_none()
}

fn bind_usual(row: &mut Row<'_, '_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    // Rows of dead letters name replays by their ids alone.
    let by_seq = message.id.number() == message.seq && message.replay_of.is_none();
    let topic = match &message.address {
        Address::Agent(agent) => Cow::Owned([AGENT_PREFIX, agent.as_str()].concat()),
        Address::Topic(topic) => Cow::Borrowed(topic.as_str()),
    };
    let (id, payload) = (&message.id.0.as_bytes()[..], message.payload.as_str());
    let seal = seal(int(message.seq), id, message.from.as_str(), &topic, payload);
    row.bind(1, int(message.seq))?;
    row.bind(2, id)?;
    row.bind(3, message.from.as_str())?;
    row.bind(4, new.recipient().map(AgentId::as_str))?;
    row.bind(5, &*topic)?;
    row.bind(6, message.capability.as_deref())?;
    row.bind(7, message.kind.as_str())?;
    row.bind(8, message.priority.as_str())?;
    row.bind(9, message.door.as_str())?;
    row.bind(10, message.accepted_at.0)?;
    row.bind(11, new.state.as_str())?;
    row.bind(12, new.settled_at.map(|at| at.0))?;
    row.bind(13, payload)?;
    row.bind(14, by_seq.then_some(1))?;
    row.bind(15, seal)
}

/// How the one that took it did so.
fn bind_taken(
    row: &mut Row<'_, '_>,
    taken: Option<(&DeliveryRecord, &AttemptRecord)>,
) -> rusqlite::Result<()> {
    let (delivery, attempt) = taken.unzip();
    row.bind(16, delivery.map(|delivery| int(delivery.id.0)))?;
    row.bind(17, delivery.map(|delivery| delivery.door.as_str()))?;
    let pattern = delivery.and_then(|delivery| delivery.pattern.as_deref());
    row.bind(18, pattern)?;
    row.bind(19, attempt.map(|attempt| attempt.started_at.0))?;
    row.bind(20, attempt.map(|attempt| attempt.ended_at.0))?;
    row.bind(21, attempt.and_then(|attempt| attempt.message.as_deref()))?;
    let answer = attempt.and_then(|attempt| attempt.payload.as_ref());
    row.bind(22, answer.map(Payload::as_str))
}

fn bind_others(row: &mut Row<'_, '_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    row.bind(23, message.correlation.as_deref())?;
    row.bind(24, message.conversation.as_ref().map(|id| &*id.0))?;
    row.bind(25, message.expires_at.map(|at| at.0))?;
    row.bind(26, new.error)?;
    row.bind(27, message.replay_of.as_ref().map(|id| &id.0.as_bytes()[..]))?;
    row.bind(28, foreign_dialect(message).map(Dialect::as_str))?;
    row.bind(29, message.context.as_deref().map(context_text))?;
    row.bind(30, message.answer_by.map(|at| at.0))
}

/// The words of the door it came by need not be named.
fn foreign_dialect(message: &Message) -> Option<Dialect> {
    (message.dialect != Dialect::of(message.door)).then_some(message.dialect)
}

fn context_text(context: &Context) -> String {
    serde_json::to_string(context).unwrap_or_else(|_| "{}".to_owned())
}

/// Settles messages in their order, and counts in `delta` those that really moved.
pub(crate) fn settle(pen: &Pen, settles: &[Settle<'_>], delta: &mut Delta) -> rusqlite::Result<()> {
    let mut statement = pen.statement(SETTLE)?;
    for settle in settles {
        let moved = statement.execute(params![
            int(settle.message),
            settle.from.as_str(),
            settle.state.as_str(),
            settle.settled_at.map(|at| at.0),
            settle.to.map(AgentId::as_str),
            settle.error,
        ])?;
        delta.moved(settle.from, settle.state, int(moved as u64));
    }
    Ok(())
}
