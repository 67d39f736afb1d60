//! Dead letters: found by what they are, dealt with once, and whole when they are read back.

use sqlx::{AssertSqlSafe, Row};
use switchboard_model::{
    DeadReason, DeliveryState, JobId, JobKind, JobStatus, JobView, LetterFilter, LetterStatus,
    MessageFilter, MessageId, MessageState, Payload, Timestamp,
};
use uuid::Uuid;

use super::sample::*;
use crate::open as opening;
use crate::{DeliveryRecord, JobRecord, LetterList, LetterRecord, Opened, Record, letters};

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
    let list = opened.store.letters(filter, None, 500, false).await.unwrap();
    let seqs: Vec<u64> = list.rows.iter().map(|row| row.seq).collect();
    let count = opened.store.count_letters(filter).await.unwrap();
    assert_eq!(count, u64::try_from(seqs.len()).unwrap(), "the count is of what is listed");
    assert_eq!((list.matching, list.more), (count, false));
    let (mut whole, mut after, mut more) = (Vec::new(), 0, true);
    while more {
        let page = opened.store.dead_messages(filter, after, u64::MAX, 20, false);
        let letters;
        (letters, more) = page.await.unwrap();
        assert!(letters.len() == 20 || !more, "a page of small letters is full");
        for letter in letters {
            after = letter.message.seq;
            whole.insert(0, after);
        }
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
    let row = opened.store.letters(&closed, None, 1, true).await.unwrap().rows.remove(0);
    assert_eq!(row.letter.replayed_as, Some(new));
    assert_eq!(row.attempts, 2);
    assert_eq!(row.payload.unwrap().as_str(), r#"{"text":"number 77"}"#);
    let causes = opened.store.causes().await.unwrap();
    assert_eq!(causes, [(DeadReason::GaveUp, 74), (DeadReason::TimedOut, 74)]);
    let one = opened.store.dead_messages(&gave_up, 0, 2, 10, true).await.unwrap().0.remove(0);
    assert_eq!((one.message, one.deliveries[0].attempts.len()), (message(2), 2));
    opened.store.close().await;
    assert_eq!(open(dir.path()).await.restored.open_letters.len(), 148);
}

#[tokio::test]
async fn a_word_of_the_error_and_one_of_the_payload_find_a_letter_indexed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let letters = [
        (1, r#""apple""#, r"model \ud overloaded"),
        (2, r#""plum""#, "model overloaded"),
        (3, r#""apple""#, "declined"),
        (4, r#""overloaded apple""#, "declined"),
        (5, r#""apple""#, "ÜBERLOADED, overloaded"),
    ];
    let mut records = Vec::new();
    for (number, payload, error) in letters {
        for seq in [number, number + 10] {
            records.extend(accepted(message_on(seq, "inbound:chat-1", payload)));
            records.extend(died(seq, DeadReason::GaveUp, error));
        }
    }
    parts.queue.try_write(records).unwrap();
    assert!(parts.writer.turn().await);
    for place in ["not indexed", "indexed"] {
        for (text, found) in [
            ("overl", &[15, 14, 12, 11, 5, 4, 2, 1][..]),
            ("appl overl", &[15, 14, 11, 5, 4, 1]),
            ("OVERLOADED plum model", &[12, 2]),
            ("überl apple", &[15, 5]),
            ("apple tg-bridge declined", &[14, 13, 4, 3]),
            ("nowhere apple", &[]),
        ] {
            let filter = with_text(text);
            let list = letters::page(&parts.readers, &filter, None, 50, false).await.unwrap();
            let seqs: Vec<u64> = list.rows.iter().map(|row| row.seq).collect();
            assert_eq!(seqs, found, "{text} is {place}");
            assert_eq!(list.matching, found.len() as u64, "{text} is {place}");
            let ids = Some(vec![message(1).id, message(12).id]);
            let filter = LetterFilter { ids, ..filter };
            let both: Vec<_> = found.iter().rev().filter(|seq| matches!(seq, 1 | 12)).collect();
            let named = letters::dead_messages(&parts.readers, &filter, 0, 99, 9, false).await;
            let named: Vec<u64> = named.unwrap().0.iter().map(|dead| dead.message.seq).collect();
            assert_eq!(named.iter().collect::<Vec<_>>(), both, "{text} is {place}");
        }
        let indexed = if place == "indexed" { 15 } else { 0 };
        assert_eq!(parts.writer.hand().house.looked_at_up_to(), indexed);
        parts.writer.hand().describe(15);
    }
}

#[tokio::test]
async fn a_page_of_large_letters_ends_early_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let large = format!("\"{}\"", "x".repeat(1_500_000));
    for seq in 1..=5 {
        let mut records = accepted(message_on(seq, "inbound:chat-1", &large));
        records.push(delivery(seq, seq));
        let Record::Attempt(mut failed) = attempt(seq, 1, DeliveryState::Failed) else { panic!() };
        failed.payload = Some(Payload::parse(&large).unwrap());
        records.push(Record::Attempt(failed));
        records.extend(died(seq, DeadReason::GaveUp, "no"));
        opened.written(records).await;
    }
    let store = &opened.store;
    let any = LetterFilter::default();
    let list = store.letters(&any, None, 500, true).await.unwrap();
    let seqs = |list: &LetterList| list.rows.iter().map(|row| row.seq).collect::<Vec<_>>();
    assert_eq!((seqs(&list), list.more, list.matching), (vec![5, 4], true, 5));
    let list = store.letters(&any, Some(2), 500, true).await.unwrap();
    assert_eq!((seqs(&list), list.more, list.matching), (vec![1], false, 5));
    let list = store.letters(&any, None, 500, false).await.unwrap();
    assert_eq!((list.rows.len(), list.more), (5, false), "rows alone are small");
    for (attempts, pages) in [(false, vec![2, 2, 1]), (true, vec![1; 5])] {
        for filter in [any.clone(), with_text("inbound")] {
            let (mut seen, mut after, mut more) = (Vec::new(), 0, true);
            while more {
                let letters;
                let page = store.dead_messages(&filter, after, u64::MAX, 64, attempts);
                (letters, more) = page.await.unwrap();
                after = letters.last().unwrap().message.seq;
                seen.push(letters.len());
            }
            assert_eq!(seen, pages, "with what was tried: {attempts}");
        }
    }
}

#[tokio::test]
async fn one_letter_of_many_is_found_without_looking_at_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written(accepted(message(1))).await;
    opened.store.close().await;
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let statement = AssertSqlSafe(format!("explain query plan {}", letters::OF_IDS));
    let plan = sqlx::query(statement).fetch_all(&mut parts.connection).await.unwrap();
    let plan: Vec<String> = plan.iter().map(|row| row.get("detail")).collect();
    assert!(plan.iter().any(|step| step.contains("message_id (id=?)")), "{plan:#?}");
    assert!(!plan.iter().any(|step| step.starts_with("SCAN d")), "{plan:#?}");
    assert!(plan.iter().any(|step| step == "SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"));
}

#[tokio::test]
async fn the_operator_looking_at_much_holds_up_neither_messages_nor_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written(accepted(message(1))).await;
    let mut records = accepted(message(2));
    records.extend(died(2, DeadReason::GaveUp, "no"));
    opened.written(records).await;
    let store = &opened.store;
    let mut held = Vec::new();
    while let Some(reader) = store.readers().try_acquire() {
        held.push(reader);
    }
    while held.len() < store.readers().options().get_max_connections() as usize {
        held.push(store.readers().acquire().await.unwrap());
    }
    assert_eq!(store.waiting(0, 10).await.unwrap().len(), 1);
    assert_eq!(store.payloads(&[1, 2]).await.unwrap().len(), 2);
    assert_eq!(store.tried(&[1], moment(1_000_000)).await.unwrap(), []);
    assert_eq!(store.watched().await.unwrap(), []);
    let any = LetterFilter::default();
    assert_eq!(store.dead_messages(&any, 0, 9, 9, false).await.unwrap().0.len(), 1);
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
        processed: 0,
        died_again: 0,
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
    let Record::Delivery(watching) = delivery(1, 1) else { panic!() };
    first.push(Record::Delivery(DeliveryRecord { observer: true, ..watching }));
    first.push(delivery(2, 1));
    let Record::Attempt(mut again) = attempt(1, 1, DeliveryState::Waiting) else { panic!() };
    again.due_at = Some(due_at);
    again.message = Some("not yet".to_owned());
    first.push(Record::Attempt(again.clone()));
    opened.written(first).await;
    let row = opened.store.messages(&MessageFilter::default(), None, 1, false).await.unwrap();
    assert_eq!(row.rows[0].retry_at, Some(due_at));
    opened.store.close().await;

    let mut opened = open(dir.path()).await;
    assert_eq!(opened.restored.jobs, [later]);
    let tried = opened.store.tried(&[1], moment(1_000_000)).await.unwrap();
    let seen: Vec<_> = tried.iter().map(|(seq, one)| (*seq, one.attempts, one.due_at)).collect();
    assert_eq!(seen, [(1, 1, Some(due_at)), (1, 0, None)]);
    assert_eq!(tried[0].1.last, Some((again.outcome, Some("not yet".to_owned()))));
    // The clock was set back: it waits as long as it was to, and not until the clock is there again.
    let set_back = opened.store.tried(&[1], moment(-1000)).await.unwrap();
    let wait = due_at.micros_since(again.ended_at);
    assert_eq!(set_back[0].1.due_at.map(|at| at.micros_since(moment(-1000))), Some(wait));

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
