//! How messages get into their table, and change there.

use std::borrow::Cow;

use rusqlite::{Statement, params};
use switchboard_model::{Address, AgentId, Context, Dialect, Message, Payload};

use super::{AGENT_PREFIX, seal};
use crate::batch::{NewMessage, Settle};
use crate::pen::Pen;
use crate::record::{AttemptRecord, DeliveryRecord};
use crate::rows::int;
use crate::total::Delta;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[INSERT, INSERT_TAKEN, INSERT_WHOLE, SETTLE];

/// Those on every message's way say `or fail`: SQLite then keeps no copy of each page in order to take back
/// one statement alone. Nobody needs that, because whatever fails, the whole transaction is taken back.
///
/// For messages that have nothing in the other columns: each costs, even where it is null.
const INSERT: &str = "insert or fail into message (seq, id, sender, recipient, topic, capability, \
     kind, priority, door, accepted_at, state, settled_at, payload, by_seq, seal) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

/// For those that somebody has taken already.
const INSERT_TAKEN: &str = "insert or fail into message (seq, id, sender, recipient, topic, \
     capability, kind, priority, door, accepted_at, state, settled_at, payload, by_seq, seal, \
     delivery, taken_door, taken_pattern, taken_started_at, taken_ended_at, taken_words, \
     taken_answer) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
     ?19, ?20, ?21, ?22)";

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
        let mut insert = pen.statement(match form {
            Form::Usual => INSERT,
            Form::Taken => INSERT_TAKEN,
            Form::Whole => INSERT_WHOLE,
        })?;
        for new in alike {
            bind_usual(&mut insert, new)?;
            if form != Form::Usual {
                bind_taken(&mut insert, new.taken)?;
            }
            if form == Form::Whole {
                bind_others(&mut insert, new)?;
            }
            insert.raw_execute()?;
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

fn bind_usual(statement: &mut Statement<'_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    // Rows of dead letters name replays by their ids alone.
    let by_seq = message.id.number() == message.seq && message.replay_of.is_none();
    let topic = match &message.address {
        Address::Agent(agent) => Cow::Owned([AGENT_PREFIX, agent.as_str()].concat()),
        Address::Topic(topic) => Cow::Borrowed(topic.as_str()),
    };
    let (id, payload) = (&message.id.0.as_bytes()[..], message.payload.as_str());
    let seal = seal(int(message.seq), id, message.from.as_str(), &topic, payload);
    statement.raw_bind_parameter(1, int(message.seq))?;
    statement.raw_bind_parameter(2, id)?;
    statement.raw_bind_parameter(3, message.from.as_str())?;
    statement.raw_bind_parameter(4, new.recipient().map(AgentId::as_str))?;
    statement.raw_bind_parameter(5, &*topic)?;
    statement.raw_bind_parameter(6, message.capability.as_deref())?;
    statement.raw_bind_parameter(7, message.kind.as_str())?;
    statement.raw_bind_parameter(8, message.priority.as_str())?;
    statement.raw_bind_parameter(9, message.door.as_str())?;
    statement.raw_bind_parameter(10, message.accepted_at.0)?;
    statement.raw_bind_parameter(11, new.state.as_str())?;
    statement.raw_bind_parameter(12, new.settled_at.map(|at| at.0))?;
    statement.raw_bind_parameter(13, payload)?;
    statement.raw_bind_parameter(14, by_seq.then_some(1))?;
    statement.raw_bind_parameter(15, seal)
}

/// How the one that took it did so.
fn bind_taken(
    statement: &mut Statement<'_>,
    taken: Option<(&DeliveryRecord, &AttemptRecord)>,
) -> rusqlite::Result<()> {
    let (delivery, attempt) = taken.unzip();
    statement.raw_bind_parameter(16, delivery.map(|delivery| int(delivery.id.0)))?;
    statement.raw_bind_parameter(17, delivery.map(|delivery| delivery.door.as_str()))?;
    let pattern = delivery.and_then(|delivery| delivery.pattern.as_deref());
    statement.raw_bind_parameter(18, pattern)?;
    statement.raw_bind_parameter(19, attempt.map(|attempt| attempt.started_at.0))?;
    statement.raw_bind_parameter(20, attempt.map(|attempt| attempt.ended_at.0))?;
    statement.raw_bind_parameter(21, attempt.and_then(|attempt| attempt.message.as_deref()))?;
    let answer = attempt.and_then(|attempt| attempt.payload.as_ref());
    statement.raw_bind_parameter(22, answer.map(Payload::as_str))
}

fn bind_others(statement: &mut Statement<'_>, new: &NewMessage<'_>) -> rusqlite::Result<()> {
    let message = new.message;
    statement.raw_bind_parameter(23, message.correlation.as_deref())?;
    statement.raw_bind_parameter(24, message.conversation.as_ref().map(|id| &*id.0))?;
    statement.raw_bind_parameter(25, message.expires_at.map(|at| at.0))?;
    statement.raw_bind_parameter(26, new.error)?;
    statement.raw_bind_parameter(27, message.replay_of.as_ref().map(|id| &id.0.as_bytes()[..]))?;
    statement.raw_bind_parameter(28, foreign_dialect(message).map(Dialect::as_str))?;
    statement.raw_bind_parameter(29, message.context.as_deref().map(context_text))?;
    statement.raw_bind_parameter(30, message.answer_by.map(|at| at.0))
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
