//! Where attempts are kept: the first in its delivery's row, the others beside it, and all of them beside
//! it where an older version wrote them.

use sqlx::Row;
use switchboard_model::{
    ConversationId, DeadReason, DeliveryState, LetterFilter, MessageState, Payload, Timestamp,
};

use super::sample::*;
use crate::open::{self as opening, Parts};
use crate::{
    AttemptRecord, Record, conversation, delivery as table, history, letters, moment as then,
};

const TALK: &str = "talk-1";

/// As a version before the eighth migration would have left it.
const AS_BEFORE: [&str; 2] = [
    "insert into attempt (delivery, number, started_at, ended_at, outcome, message, payload) \
     select id, 1, started_at, ended_at, outcome, words, answer from delivery \
     where outcome is not null",
    "update delivery set started_at = null, ended_at = null, outcome = null, words = null, \
     answer = null",
];

fn tried(delivery: u64, number: u32, state: DeliveryState) -> Record {
    let Record::Attempt(attempt) = attempt(delivery, number, state) else { panic!() };
    Record::Attempt(AttemptRecord {
        started_at: moment(i64::from(number) * 1000),
        ended_at: moment(i64::from(number) * 1000 + 500),
        message: Some(format!("words of {number}")),
        payload: Some(Payload::trusted(format!(r#""answer {number}""#))),
        due_at: (state == DeliveryState::Waiting).then(|| moment(9_000)),
        ..attempt
    })
}

fn in_talk(seq: u64) -> Vec<Record> {
    let mut message = message(seq);
    message.conversation = Some(ConversationId(TALK.into()));
    accepted(message)
}

async fn written(parts: &mut Parts, records: Vec<Record>) {
    parts.queue.try_write(records).unwrap();
    assert!(parts.writer.turn().await);
    parts.commits.recv().await.unwrap();
}

async fn later_attempts(parts: &mut Parts) -> i64 {
    let count = sqlx::query("select count(*) from attempt");
    count.fetch_one(&mut parts.connection).await.unwrap().get(0)
}

async fn attempts(parts: &Parts, seq: u64) -> Vec<(u32, Option<String>, Option<String>)> {
    let detail = history::message(&parts.readers, message(seq).id).await.unwrap().unwrap();
    let attempts = detail.deliveries.into_iter().flat_map(|delivery| delivery.attempts);
    attempts.map(|attempt| (attempt.number, attempt.message, attempt.payload_text)).collect()
}

fn said(number: u32) -> (u32, Option<String>, Option<String>) {
    (number, Some(format!("words of {number}")), Some(format!(r#""answer {number}""#)))
}

/// Everything that tells of attempts, as its readers have it.
async fn told(parts: &mut Parts) -> Vec<String> {
    let mut lines = Vec::new();
    for seq in 1..=5 {
        let detail = history::message(&parts.readers, message(seq).id).await.unwrap();
        lines.push(format!("{:?}", detail.unwrap().deliveries));
    }
    let tried =
        table::tried(&mut parts.connection, &[1, 2, 3, 4, 5], moment(1_000_000)).await.unwrap();
    lines.push(format!("{tried:?}"));
    let talk = ConversationId(TALK.into());
    let (messages, ..) = conversation::read(&parts.readers, &talk, 10).await.unwrap();
    lines.extend(messages.into_iter().map(|message| format!("{:?}", message.answer_text)));
    let (filter, all) = (LetterFilter::default(), u64::MAX);
    let page = letters::page(&parts.readers, &filter, None, 10, true).await.unwrap();
    lines.push(format!("{:?}", page.rows.iter().map(|row| row.attempts).collect::<Vec<_>>()));
    let dead = letters::dead_messages(&parts.readers, &filter, 0, all, 10, true).await.unwrap();
    lines.push(format!("{dead:?}"));
    for micros in (0..4_000).step_by(250) {
        let at: Timestamp = moment(micros);
        lines.push(format!("{:?}", then::read(&parts.readers, at).await.unwrap()));
    }
    lines
}

#[tokio::test]
async fn what_an_older_version_wrote_reads_like_what_is_written_now() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let known = crate::AgentRecord {
        mailbox: false,
        label: None,
        blocked: false,
        declared_by: None,
        id: agent("analyzer"),
        name: String::new(),
        version: String::new(),
        door: switchboard_model::Door::Bus,
        capabilities: None,
        first_seen: moment(0),
        last_seen: moment(0),
    };
    written(&mut parts, vec![Record::Agent(known)]).await;
    for seq in 1..=5 {
        written(&mut parts, in_talk(seq)).await;
        if seq < 5 {
            written(&mut parts, vec![delivery(seq, seq), delivery(seq + 10, seq)]).await;
        }
    }
    let (waiting, failed) = (DeliveryState::Waiting, DeliveryState::Failed);
    // One was answered at once, one at the third time, one never; one was not even asked.
    written(&mut parts, vec![tried(1, 1, DeliveryState::Processed), taken_by(1, "analyzer")]).await;
    written(&mut parts, vec![tried(2, 1, waiting), tried(2, 2, waiting)]).await;
    written(&mut parts, vec![tried(2, 3, DeliveryState::Processed), taken_by(2, "x")]).await;
    written(&mut parts, vec![tried(3, 1, waiting), tried(3, 2, failed)]).await;
    let died = Record::DeadLetter { message: 3, reason: DeadReason::GaveUp, at: moment(2_600) };
    let dead = settled(3, MessageState::Waiting, MessageState::Dead);
    written(&mut parts, vec![dead, died, tried(13, 1, failed)]).await;

    let now = told(&mut parts).await;
    assert_eq!(later_attempts(&mut parts).await, 3);
    for statement in AS_BEFORE {
        sqlx::query(statement).execute(&mut parts.connection).await.unwrap();
    }
    assert_eq!(later_attempts(&mut parts).await, 7);
    assert_eq!(told(&mut parts).await, now);
    written(&mut parts, vec![tried(4, 1, waiting), tried(1, 2, failed)]).await;
    assert_eq!(attempts(&parts, 1).await, [said(1), said(2)], "old and new beside each other");
    assert_eq!(attempts(&parts, 4).await, [said(1)]);
}

#[tokio::test]
async fn an_attempt_is_the_same_whether_it_comes_with_its_delivery_or_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let ends = |seq| [tried(seq, 1, DeliveryState::Waiting), tried(seq, 2, DeliveryState::Failed)];
    written(&mut parts, [in_talk(1), vec![delivery(1, 1)], ends(1).to_vec()].concat()).await;
    written(&mut parts, in_talk(2)).await;
    written(&mut parts, [vec![delivery(2, 2)], ends(2).to_vec()].concat()).await;
    written(&mut parts, [in_talk(3), vec![delivery(3, 3)]].concat()).await;
    for end in ends(3) {
        written(&mut parts, vec![end]).await;
    }
    for seq in 1..=3 {
        assert_eq!(attempts(&parts, seq).await, [said(1), said(2)], "message {seq}");
    }
    assert_eq!(later_attempts(&mut parts).await, 3);
    let tried = table::tried(&mut parts.connection, &[1, 2, 3], moment(1_000_000)).await.unwrap();
    let [first, others @ ..] = &tried[..] else { panic!() };
    for (_, other) in others {
        let same = crate::Tried { delivery: first.1.delivery, ..other.clone() };
        assert_eq!(same, first.1);
    }
}

#[tokio::test]
async fn what_is_said_of_an_attempt_once_stays_and_of_unknown_deliveries_nothing_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let Record::Attempt(silent) = attempt(1, 1, DeliveryState::Waiting) else { panic!() };
    let silent = || Record::Attempt(AttemptRecord { message: None, ..silent.clone() });
    written(&mut parts, [in_talk(1), vec![delivery(1, 1)]].concat()).await;
    written(&mut parts, vec![silent(), tried(1, 1, DeliveryState::Failed)]).await;
    written(&mut parts, vec![tried(1, 1, DeliveryState::Failed)]).await;
    assert_eq!(attempts(&parts, 1).await, [(1, None, None)]);
    let last =
        table::tried(&mut parts.connection, &[1], moment(1_000_000)).await.unwrap().remove(0).1;
    assert_eq!(last.state, DeliveryState::Failed, "but where the delivery is moves on");

    written(&mut parts, vec![tried(9, 1, DeliveryState::Failed), delivery(8, 99)]).await;
    written(&mut parts, vec![tried(8, 2, DeliveryState::Failed)]).await;
    let count = sqlx::query("select (select count(*) from delivery), last_delivery from total");
    let row = count.fetch_one(&mut parts.connection).await.unwrap();
    assert_eq!((row.get::<i64, _>(0), row.get::<i64, _>(1)), (1, 9));
    assert_eq!(later_attempts(&mut parts).await, 0);
}
