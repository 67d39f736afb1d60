//! A dead letter's life, told to a person.

use serde::Deserialize;
use switchboard_model::{AttemptOutcome, DeadReason, LetterStatus, Timestamp};

use crate::commands::dead_letters::words;
use crate::output::{clock_time, date_time, duration, visible};

/// A message with everything that happened to it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Life {
    pub(super) row: Row,
    pub(super) letter: Option<Letter>,
    payload_text: String,
    correlation_id: Option<String>,
    expires_at: Option<Timestamp>,
    replay_of: Option<String>,
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) state: String,
    id: String,
    from: String,
    to: Option<String>,
    topic: Option<String>,
    capability: Option<String>,
    kind: String,
    priority: String,
    door: String,
    created_at: Timestamp,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Letter {
    reason: DeadReason,
    died_at: Timestamp,
    status: LetterStatus,
    replayed_as: Option<String>,
    closed_at: Option<Timestamp>,
    note: Option<String>,
}

#[derive(Deserialize)]
struct Delivery {
    agent: String,
    door: String,
    pattern: Option<String>,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    number: u32,
    started_at: Timestamp,
    ended_at: Timestamp,
    outcome: AttemptOutcome,
    message: Option<String>,
}

impl Life {
    /// How often somebody was asked.
    pub(super) fn attempts(&self) -> usize {
        self.deliveries.iter().map(|delivery| delivery.attempts.len()).sum()
    }

    /// The whole of it, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = self.head();
        lines.push(String::new());
        lines.extend(self.tries());
        lines.push(String::new());
        lines.extend(self.payload());
        lines
    }

    fn head(&self) -> Vec<String> {
        let Self { row, letter, .. } = self;
        let fact = |name: &str, value: Option<String>| {
            let value = value?;
            Some(format!("  {name:<12} {}", visible(&value)))
        };
        let died = letter.as_ref().map(|letter| {
            format!("{} UTC, {}", date_time(letter.died_at), words::explained(letter.reason))
        });
        let facts = [
            fact("died", died),
            fact("error", row.error.clone()),
            fact("status", letter.as_ref().map(became)),
            fact("in place of", self.replay_of.clone()),
            fact("from", Some(format!("{} by the {} door", row.from, row.door))),
            fact("to", row.to.clone()),
            fact("topic", row.topic.clone()),
            fact("capability", row.capability.clone()),
            fact("kind", Some(format!("{}, {} priority", row.kind, row.priority.to_lowercase()))),
            fact("correlation", self.correlation_id.clone()),
            fact("sent", Some(date_time(row.created_at))),
            fact("worth until", self.expires_at.map(date_time)),
        ];
        let title = format!("dead letter {}", visible(&row.id));
        [title].into_iter().chain(facts.into_iter().flatten()).collect()
    }

    fn tries(&self) -> Vec<String> {
        if self.attempts() == 0 {
            return vec!["nobody was asked".into()];
        }
        let mut lines = vec!["who was asked".to_owned()];
        for delivery in &self.deliveries {
            let by = delivery.pattern.as_ref().map(|pattern| format!(", subscribed to {pattern}"));
            let who = format!("{} ({}{})", delivery.agent, delivery.door, by.unwrap_or_default());
            lines.push(format!("  {}", visible(&who)));
            lines.extend(delivery.attempts.iter().map(Attempt::line));
        }
        lines
    }

    fn payload(&self) -> Vec<String> {
        // A line each, so that the line breaks of a payload are kept and nothing else of it acts.
        let text = self.payload_text.lines().map(|line| format!("  {}", visible(line)));
        ["payload".to_owned()].into_iter().chain(text).collect()
    }
}

fn became(letter: &Letter) -> String {
    let at = letter.closed_at.map(|at| format!(" {}", date_time(at))).unwrap_or_default();
    let note = letter.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    match letter.status {
        LetterStatus::Open => "open".into(),
        LetterStatus::Discarded => format!("discarded{at}{note}"),
        LetterStatus::Replayed => {
            let by = letter.replayed_as.as_ref().map(|id| format!(" as {id}")).unwrap_or_default();
            format!("replayed{at}{by}{note}")
        }
    }
}

impl Attempt {
    fn line(&self) -> String {
        let words = self.message.as_ref().map(|words| format!(": {}", visible(words)));
        format!(
            "    {}. {}  {} after {}{}",
            self.number,
            clock_time(self.started_at),
            words::outcome(self.outcome),
            duration(self.ended_at.micros_since(self.started_at)),
            words.unwrap_or_default()
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const DETAIL: &str = r#"{
        "row": {"seq": 7, "id": "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f", "from": "alice", "to": null,
            "topic": "inbound:1", "capability": null, "kind": "event", "priority": "HIGH",
            "state": "dead", "door": "bus", "conversationId": null,
            "createdAt": "2026-11-16T10:30:00.000000Z", "tookMicros": 31000000,
            "error": "bob: busy", "retryAt": null, "payloadBytes": 29,
            "payload": {"n":12345678901234567890123}},
        "payloadText": "{\"n\":\n12345678901234567890123}", "correlationId": null,
        "expiresAt": null, "settledAt": "2026-11-16T10:30:31.000000Z",
        "letter": {"reason": "gaveUp", "diedAt": "2026-11-16T10:30:31.000000Z",
            "status": "replayed", "replayedAs": "0192f0c1-8f5e-7cc3-98c4-dc0c0c073990",
            "closedAt": "2026-11-16T11:00:00.000000Z", "note": null},
        "replayOf": "0192f0c1-8f5e-7cc3-98c4-dc0c0c073911",
        "deliveries": [{"id": 1, "agent": "bob", "door": "bus", "pattern": "inbound:*",
            "state": "failed", "retryAt": null, "attempts": [
            {"number": 1, "startedAt": "2026-11-16T10:30:00.000000Z",
             "endedAt": "2026-11-16T10:30:00.012000Z", "outcome": "declined",
             "message": "busy\u001b[2J", "payloadText": null},
            {"number": 2, "startedAt": "2026-11-16T10:30:01.000000Z",
             "endedAt": "2026-11-16T10:30:01.000500Z", "outcome": "declined", "message": null,
             "payloadText": null},
            {"number": 3, "startedAt": "2026-11-16T10:30:03.000000Z",
             "endedAt": "2026-11-16T10:30:31.000000Z", "outcome": "timedOut", "message": null,
             "payloadText": null}]}]}"#;

    #[test]
    fn a_life_is_told_with_cause_lineage_every_attempt_and_the_payload_as_it_was_written() {
        let life: Life = serde_json::from_str(DETAIL).unwrap();
        assert_eq!(life.attempts(), 3);
        let told = life.lines().join("\n");
        for part in [
            "2026-11-16 10:30:31 UTC, every allowed attempt failed",
            "in place of  0192f0c1-8f5e-7cc3-98c4-dc0c0c073911",
            "replayed 2026-11-16 11:00:00 as 0192f0c1-8f5e-7cc3-98c4-dc0c0c073990",
            "bob (bus, subscribed to inbound:*)",
            "1. 10:30:00.000  declined after 12.0 ms: busy\\u{1b}[2J",
            "3. 10:30:03.000  timed out after 28.00 s",
            "  {\"n\":\n  12345678901234567890123}",
        ] {
            assert!(told.contains(part), "{part:?} is missing in\n{told}");
        }
    }

    #[test]
    fn a_letter_for_which_there_was_nobody_says_so() {
        let mut life: Life = serde_json::from_str(DETAIL).unwrap();
        life.deliveries.clear();
        assert!(life.lines().contains(&"nobody was asked".to_owned()));
    }
}
