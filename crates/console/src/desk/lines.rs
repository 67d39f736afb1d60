//! A dead letter as one line of JSON, by which it can be carried to another Switchboard.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_model::{
    Address, AgentId, AttemptOutcome, AttemptView, ConversationId, DeadMessage, DeadReason,
    DeliveryId, DeliveryState, DeliveryView, Door, Kind, Letter, LetterStatus, Message, MessageId,
    Payload, Priority, Timestamp, Topic,
};

/// The longest line that is taken in.
const MAX_LINE: usize = 16 << 20;

/// Everything there is to know of a dead letter.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    id: MessageId,
    from: AgentId,
    topic: String,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    capability: Option<String>,
    priority: Priority,
    door: Door,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<ConversationId>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay_of: Option<MessageId>,
    reason: DeadReason,
    died_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default)]
    deliveries: Vec<Delivery>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    agent: AgentId,
    door: Door,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(default)]
    observer: bool,
    state: DeliveryState,
    #[serde(default)]
    attempts: Vec<Attempt>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    number: u32,
    started_at: Timestamp,
    ended_at: Timestamp,
    outcome: AttemptOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_text: Option<String>,
}

/// A letter as a line.
pub(super) fn write(dead: &DeadMessage) -> Result<String, serde_json::Error> {
    let message = &dead.message;
    serde_json::to_string(&Line {
        id: message.id,
        from: message.from.clone(),
        topic: message.address.topic().as_str().to_owned(),
        kind: message.kind,
        capability: message.capability.clone(),
        priority: message.priority,
        door: message.door,
        correlation_id: message.correlation.clone(),
        conversation_id: message.conversation.clone(),
        created_at: message.accepted_at,
        expires_at: message.expires_at,
        replay_of: message.replay_of,
        reason: dead.letter.reason,
        died_at: dead.letter.died_at,
        error: dead.error.clone(),
        deliveries: dead.deliveries.iter().cloned().map(Delivery::from).collect(),
        payload: serde_json::from_str(message.payload.as_str())?,
    })
}

/// A line as a letter, in words that say what is wrong with it.
pub(super) fn read(text: &str) -> Result<DeadMessage, String> {
    if text.len() > MAX_LINE {
        return Err(format!("a line of {} bytes is longer than {MAX_LINE}", text.len()));
    }
    let line: Line<'_> =
        serde_json::from_str(text).map_err(|error| format!("not a dead letter: {error}"))?;
    let topic = Topic::parse(&line.topic).map_err(|error| error.to_string())?;
    let message = Message {
        seq: 0,
        id: line.id,
        from: line.from,
        address: Address::from(topic),
        kind: line.kind,
        capability: line.capability,
        priority: line.priority,
        door: line.door,
        correlation: line.correlation_id,
        conversation: line.conversation_id,
        payload: Payload::from_raw(line.payload),
        accepted_at: line.created_at,
        expires_at: line.expires_at,
        replay_of: line.replay_of,
    };
    let letter = Letter {
        reason: line.reason,
        died_at: line.died_at,
        status: LetterStatus::Open,
        replayed_as: None,
        closed_at: None,
        note: None,
    };
    let deliveries = line.deliveries.into_iter().map(DeliveryView::from).collect();
    Ok(DeadMessage { message, letter, error: line.error, deliveries })
}

impl From<DeliveryView> for Delivery {
    fn from(view: DeliveryView) -> Self {
        Self {
            agent: view.agent,
            door: view.door,
            pattern: view.pattern,
            observer: view.observer,
            state: view.state,
            attempts: view.attempts.into_iter().map(Attempt::from).collect(),
        }
    }
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: DeliveryId(0),
            agent: delivery.agent,
            door: delivery.door,
            pattern: delivery.pattern,
            observer: delivery.observer,
            state: delivery.state,
            retry_at: None,
            attempts: delivery.attempts.into_iter().map(AttemptView::from).collect(),
        }
    }
}

impl From<AttemptView> for Attempt {
    fn from(view: AttemptView) -> Self {
        let AttemptView { number, started_at, ended_at, outcome, message, payload_text } = view;
        Self { number, started_at, ended_at, outcome, message, payload_text }
    }
}

impl From<Attempt> for AttemptView {
    fn from(attempt: Attempt) -> Self {
        let Attempt { number, started_at, ended_at, outcome, message, payload_text } = attempt;
        Self { number, started_at, ended_at, outcome, message, payload_text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"id":"0199a1b2-0000-7000-8000-000000000001","from":"tg","topic":"agent:x","kind":"request","capability":"sum","priority":"HIGH","door":"bus","createdAt":"2026-11-16T10:30:00.000000Z","reason":"gaveUp","diedAt":"2026-11-16T10:31:00.000000Z","error":"no","deliveries":[{"agent":"x","door":"bus","pattern":"agent:x","observer":false,"state":"failed","attempts":[{"number":1,"startedAt":"2026-11-16T10:30:00.000000Z","endedAt":"2026-11-16T10:30:01.000000Z","outcome":"declined","message":"no"}]}],"payload":{ "big":123456789012345678901234567890}}"#;

    #[test]
    fn a_letter_reads_what_it_writes_to_the_letter() {
        let letter = read(LINE).unwrap();
        assert_eq!(letter.message.payload.as_str(), "{ \"big\":123456789012345678901234567890}");
        assert_eq!(letter.deliveries[0].attempts.len(), 1);
        assert_eq!(write(&letter).unwrap(), LINE);
    }

    #[test]
    fn a_line_that_is_no_letter_says_why() {
        for (text, why) in [
            ("nonsense", "expected"),
            ("{}", "id"),
            (&LINE.replace("gaveUp", "tired"), "tired"),
            (&LINE.replace("agent:x\",\"kind", "\",\"kind"), "topic"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
