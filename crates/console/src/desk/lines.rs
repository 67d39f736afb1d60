//! A dead letter as one line of JSON, by which it can be carried to another Switchboard.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_model::{
    Address, AgentId, AttemptOutcome, AttemptView, ConversationId, DeadMessage, DeadReason,
    DeliveryId, DeliveryState, DeliveryView, Dialect, Door, Kind, Letter, LetterStatus, Message,
    MessageId, Payload, Priority, Timestamp, Topic, in_short,
};

use super::too_large;

/// The longest line that is taken in.
const MAX_LINE: usize = 16 << 20;
/// The most deliveries of a letter, and attempts of a delivery.
const MAX_TRIED: usize = 1000;

/// On what terms lines are taken in.
pub(super) struct Terms {
    /// Nothing has happened later than this: what says so comes from a clock that is wrong.
    pub(super) now: Timestamp,
    /// The longest message.
    pub(super) message_bytes: usize,
}

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
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<Dialect>,
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
        dialect: (message.dialect != Dialect::of(message.door)).then_some(message.dialect),
        reason: dead.letter.reason,
        died_at: dead.letter.died_at,
        error: dead.error.clone(),
        deliveries: dead.deliveries.iter().cloned().map(Delivery::from).collect(),
        payload: serde_json::from_str(message.payload.as_str())?,
    })
}

/// A line as a letter, or what is wrong with it.
pub(super) fn read(text: &str, terms: &Terms) -> Result<DeadMessage, String> {
    if text.len() > MAX_LINE {
        return Err(format!("a line of {} bytes is longer than {MAX_LINE}", text.len()));
    }
    let line: Line<'_> = serde_json::from_str(text)
        .map_err(|error| in_short(format!("not a dead letter: {error}")))?;
    line.check(terms)?;
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
        dialect: line.dialect.unwrap_or_else(|| Dialect::of(line.door)),
        context: None,
        decision: None,
        answer_by: None,
        accepted_at: line.created_at.min(terms.now),
        expires_at: line.expires_at,
        replay_of: line.replay_of,
    };
    let letter = Letter {
        reason: line.reason,
        died_at: line.died_at.min(terms.now),
        status: LetterStatus::Open,
        replayed_as: None,
        closed_at: None,
        note: None,
    };
    let mut deliveries: Vec<_> = line.deliveries.into_iter().map(DeliveryView::from).collect();
    for attempt in deliveries.iter_mut().flat_map(|delivery| &mut delivery.attempts) {
        attempt.started_at = attempt.started_at.min(terms.now);
        attempt.ended_at = attempt.ended_at.min(terms.now);
    }
    Ok(DeadMessage { message, letter, error: line.error, deliveries })
}

impl Line<'_> {
    fn check(&self, terms: &Terms) -> Result<(), String> {
        // What the broker says itself dies quietly, so that nothing may come in its name.
        if self.from.is_reserved() && self.from != AgentId::operator() {
            return Err(format!(
                "{} is a name of the broker itself and sends no letters",
                self.from
            ));
        }
        let bytes = self.payload.get().len();
        if bytes > terms.message_bytes {
            return Err(too_large(bytes, terms.message_bytes));
        }
        let most = self.deliveries.iter().map(|delivery| delivery.attempts.len()).max();
        for (count, of_what) in
            [(self.deliveries.len(), "deliveries"), (most.unwrap_or(0), "attempts of one delivery")]
        {
            if count > MAX_TRIED {
                return Err(format!("{count} {of_what} are more than the {MAX_TRIED} allowed"));
            }
        }
        Ok(())
    }
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

    const TERMS: Terms =
        Terms { now: Timestamp(1_794_825_060_000_000 + 365 * 86_400_000_000), message_bytes: 100 };

    fn refusal(text: &str) -> String {
        read(text, &TERMS).unwrap_err()
    }

    #[test]
    fn a_letter_reads_what_it_writes_to_the_letter() {
        let letter = read(LINE, &TERMS).unwrap();
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
            (&LINE.replace("big", &"x".repeat(100)), "100 that message_bytes allows"),
        ] {
            let error = refusal(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn nothing_comes_in_the_name_of_the_broker() {
        let from = |name: &str| LINE.replace(r#""from":"tg""#, &format!(r#""from":"{name}""#));
        for name in ["switchboard", "router", "lobby", "global_lobby", "connected"] {
            let error = refusal(&from(name));
            assert!(error.contains(name) && error.contains("sends no letters"), "{error}");
        }
        assert_eq!(read(&from("operator"), &TERMS).unwrap().message.from, AgentId::operator());
    }

    #[test]
    fn a_time_that_is_still_to_come_becomes_now() {
        let terms = Terms { now: Timestamp(1_000_000), ..TERMS };
        let letter = read(LINE, &terms).unwrap();
        let attempt = &letter.deliveries[0].attempts[0];
        assert_eq!(
            [
                letter.message.accepted_at,
                letter.letter.died_at,
                attempt.started_at,
                attempt.ended_at
            ],
            [terms.now; 4]
        );
    }

    #[test]
    fn more_was_tried_than_ever_is_is_refused() {
        let mut line: serde_json::Value = serde_json::from_str(LINE).unwrap();
        let attempt = line["deliveries"][0]["attempts"][0].clone();
        line["deliveries"][0]["attempts"] = vec![attempt; 1001].into();
        assert!(refusal(&line.to_string()).contains("1001 attempts"));
        let mut line: serde_json::Value = serde_json::from_str(LINE).unwrap();
        let delivery = line["deliveries"][0].clone();
        line["deliveries"] = vec![delivery.clone(); 1001].into();
        assert!(refusal(&line.to_string()).contains("1001 deliveries"));
        line["deliveries"] = vec![delivery; 1000].into();
        assert_eq!(read(&line.to_string(), &TERMS).unwrap().deliveries.len(), 1000);
    }
}
