//! How messages get into their table, and change there.

use rusqlite::params;
use switchboard_model::{AgentId, Context, Dialect, Message, Payload};

use super::seal;
use crate::batch::{NewMessage, Settle};
use crate::eights::{Insert, Values, insert};
use crate::pen::Pen;
use crate::record::{AttemptRecord, DeliveryRecord};
use crate::rows::int;
use crate::total::Delta;

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[USUAL.one, USUAL.eight, TAKEN.one, TAKEN.eight, WHOLE.one, WHOLE.eight, SETTLE];

/// For messages that have nothing in the other columns: each costs, even where it is null.
///
/// Statements on every message's way say `or fail`: SQLite then keeps no copy of each page in order to take back
/// one statement alone. Nobody needs that, because whatever fails, the whole transaction is taken back.
const USUAL: Insert = insert!(
    15,
    "insert or fail into message (seq, id, sender, recipient, topic, capability, kind, priority, \
     door, accepted_at, state, settled_at, payload, by_seq, seal) values ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// For those that somebody has taken already.
const TAKEN: Insert = insert!(
    22,
    "insert or fail into message (seq, id, sender, recipient, topic, capability, kind, priority, \
     door, accepted_at, state, settled_at, payload, by_seq, seal, delivery, taken_door, \
     taken_pattern, taken_started_at, taken_ended_at, taken_words, taken_answer) values ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

const WHOLE: Insert = insert!(
    30,
    "insert or fail into message (seq, id, sender, recipient, topic, capability, kind, priority, \
     door, accepted_at, state, settled_at, payload, by_seq, seal, delivery, taken_door, \
     taken_pattern, taken_started_at, taken_ended_at, taken_words, taken_answer, correlation, \
     conversation, expires_at, error, replay_of, dialect, context, answer_by) values ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

const SETTLE: &str = "update or fail message set state = ?3, settled_at = ?4, \
     recipient = coalesce(recipient, ?5), error = coalesce(?6, error) \
     where seq = ?1 and state = ?2";

pub(crate) fn insert(pen: &Pen, messages: &[NewMessage<'_>]) -> rusqlite::Result<()> {
    // To ask for a statement costs, so those of a kind share one; most of a batch are.
    for alike in messages.chunk_by(|one, next| form(one) == form(next)) {
        match alike.first().map(form) {
            Some(Form::Usual) => USUAL.rows(pen, alike, bind_usual)?,
            Some(Form::Taken) => TAKEN.rows(pen, alike, |row, new| {
                bind_usual(row, new)?;
                bind_taken(row, new.taken)
            })?,
            Some(Form::Whole) => WHOLE.rows(pen, alike, |row, new| {
                bind_usual(row, new)?;
                bind_taken(row, new.taken)?;
                bind_others(row, new)
            })?,
            None => {}
        }
    }
    Ok(())
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

fn bind_usual(row: &mut Values<'_, '_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    // Rows of dead letters name replays by their ids alone.
    let by_seq = message.id.number() == message.seq && message.replay_of.is_none();
    let topic = message.address.topic_text();
    let (id, payload) = (&message.id.0.as_bytes()[..], message.payload.as_str());
    let seal = seal(int(message.seq), id, message.from.as_str(), topic, payload);
    row.bind(1, int(message.seq))?;
    row.bind(2, id)?;
    row.bind(3, message.from.as_str())?;
    row.bind(4, new.recipient().map(AgentId::as_str))?;
    row.bind(5, topic)?;
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
    row: &mut Values<'_, '_>,
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

fn bind_others(row: &mut Values<'_, '_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
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
