//! Dead letters: found by what they are, dealt with once, and whole when they are read back.

use switchboard_model::{
    DeadReason, DeliveryState, JobId, JobKind, JobStatus, JobView, LetterFilter, LetterStatus,
    MessageFilter, MessageId, MessageState, Timestamp,
};
use uuid::Uuid;

use super::sample::*;
use crate::{JobRecord, LetterRecord, Opened, Record};

fn died(seq: u64, reason: DeadReason, error: &str) -> Vec<Record> {
    let settled = Record::Settled {
        message: seq,
        from: MessageState::Waiting,
        state: MessageState::Dead,
        at: moment(9),
        to: None,
        error: Some(error.to_owned()),
    };
    vec![settled, Record::DeadLetter { message: seq, reason, at: moment(9) }]
}

fn with_text(text: &str) -> LetterFilter {
    let message = MessageFilter { text: Some(text.to_owned()), ..MessageFilter::default() };
    LetterFilter { message: Some(message), ..LetterFilter::default() }
}

async fn seqs(opened: &Opened, filter: &LetterFilter) -> Vec<u64> {
    let rows = opened.store.letters(filter, None, 500, false).await.unwrap();
    let seqs: Vec<u64> = rows.iter().map(|row| row.seq).collect();
    let count = opened.store.count_letters(filter).await.unwrap();
    assert_eq!(count, u64::try_from(seqs.len()).unwrap(), "the count is of what is listed");
    let mut whole = Vec::new();
    for letter in opened.store.dead_messages(filter, 0, u64::MAX, 500, false).await.unwrap() {
        whole.insert(0, letter.message.seq);
    }
    assert_eq!(whole, seqs, "the same letters, in the other order");
    seqs
}

#[tokio::test]
async fn letters_are_found_by_cause_words_ids_and_what_became_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    for seq in 1..=150 {
        let mut records = accepted(message(seq));
        records.push(delivery(seq, seq));
        records.push(attempt(seq, 1, DeliveryState::Waiting));
        records.push(attempt(seq, 2, DeliveryState::Failed));
        let reason = if seq % 2 == 0 { DeadReason::GaveUp } else { DeadReason::TimedOut };
        records.extend(died(seq, reason, if seq == 77 { "model overloaded" } else { "no" }));
        opened.written(records).await;
    }
    assert_eq!(seqs(&opened, &LetterFilter::default()).await.len(), 150);
    let gave_up = LetterFilter { reason: Some(DeadReason::GaveUp), ..LetterFilter::default() };
    assert_eq!(seqs(&opened, &gave_up).await.len(), 75);
    assert_eq!(seqs(&opened, &with_text("overload")).await, [77], "words of what went wrong");
    assert_eq!(seqs(&opened, &with_text("number 42")).await, [42], "words of the payload");
    let ids = Some(vec![message(3).id, message(9).id, MessageId(Uuid::from_u128(9999))]);
    assert_eq!(seqs(&opened, &LetterFilter { ids, ..LetterFilter::default() }).await, [9, 3]);

    let new = MessageId(Uuid::from_u128(1000));
    let replayed = LetterRecord {
        message: 77,
        status: LetterStatus::Replayed,
        at: moment(20),
        replayed_as: Some(new),
        note: None,
        job: Some(JobId(4)),
    };
    opened.written(vec![Record::Letter(replayed), discarded(78)]).await;
    assert_eq!(seqs(&opened, &LetterFilter::default()).await.len(), 148);
    let closed = LetterFilter {
        status: Some(LetterStatus::Replayed),
        closed_by: Some(JobId(4)),
        ..LetterFilter::default()
    };
    assert_eq!(seqs(&opened, &closed).await, [77]);
    let row = opened.store.letters(&closed, None, 1, true).await.unwrap().remove(0);
    assert_eq!(row.letter.replayed_as, Some(new));
    assert_eq!(row.attempts, 2);
    assert_eq!(row.payload.unwrap().as_str(), r#"{"text":"number 77"}"#);
    let causes = opened.store.causes().await.unwrap();
    assert_eq!(causes, [(DeadReason::GaveUp, 74), (DeadReason::TimedOut, 74)]);
    let one = opened.store.dead_messages(&gave_up, 0, 2, 10, true).await.unwrap().remove(0);
    assert_eq!((one.message, one.deliveries[0].attempts.len()), (message(2), 2));
    opened.store.close().await;
    assert_eq!(open(dir.path()).await.restored.open_letters.len(), 148);
}

#[tokio::test]
async fn a_job_and_what_is_to_be_tried_again_are_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let view = JobView {
        id: JobId(1),
        kind: JobKind::Replay,
        status: JobStatus::Running,
        filter: with_text("a \"b\""),
        topic: Some("agent:other".to_owned()),
        per_second: Some(5),
        note: None,
        total: 10,
        done: 0,
        failed: 0,
        last_error: None,
        started_at: moment(1),
        ended_at: None,
    };
    let mut later = JobRecord { view, up_to: 7 };
    opened.written(vec![Record::Job(Box::new(later.clone()))]).await;
    later.view.done = 3;
    later.view.status = JobStatus::Stopped;
    opened.written(vec![Record::Job(Box::new(later.clone()))]).await;

    let due_at = moment(99);
    let mut first = accepted(message(1));
    first.push(delivery(1, 1));
    first.push(delivery(2, 1));
    let Record::Attempt(mut again) = attempt(1, 1, DeliveryState::Waiting) else { panic!() };
    again.due_at = Some(due_at);
    again.message = Some("not yet".to_owned());
    first.push(Record::Attempt(again.clone()));
    opened.written(first).await;
    let row = opened.store.messages(&MessageFilter::default(), None, 1, false).await.unwrap();
    assert_eq!(row[0].retry_at, Some(due_at));
    opened.store.close().await;

    let mut opened = open(dir.path()).await;
    assert_eq!(opened.restored.jobs, [later]);
    let tried = opened.store.tried(&[1]).await.unwrap();
    let seen: Vec<_> = tried.iter().map(|(seq, one)| (*seq, one.attempts, one.due_at)).collect();
    assert_eq!(seen, [(1, 1, Some(due_at)), (1, 0, None)]);
    assert_eq!(tried[0].1.last, Some((again.outcome, Some("not yet".to_owned()))));

    // Settled by somebody else; the one who watches is still to be asked.
    opened.written(vec![taken_by(1, "someone")]).await;
    assert_eq!(opened.store.watched().await.unwrap(), [message(1)]);
    opened.written(vec![Record::DeliveryEnded(tried[0].1.delivery)]).await;
    assert_eq!(opened.store.watched().await.unwrap(), []);
    assert_eq!(
        opened.store.message(message(1).id).await.unwrap().unwrap().deliveries[0].retry_at,
        None::<Timestamp>
    );
    opened.store.close().await;
}
