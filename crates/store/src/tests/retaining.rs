use sqlx::Row;
use switchboard_model::{
    DeadReason, DeliveryState, Message, MessageFilter, MessageState, Timestamp,
};

use super::sample::*;
use crate::open::{self as opening, Parts};
use crate::retention::{Limits, Walk, pages_read};
use crate::{Record, history};

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

async fn with_messages(dir: &std::path::Path, count: u64, payload: &str) -> Parts {
    let mut parts = opening::open(dir, &options()).await.unwrap();
    for seq in 1..=count {
        let mut records = accepted(message_on(seq, "inbound:chat-1", payload));
        records.push(delivery(seq, seq));
        records.push(attempt(seq, 1, DeliveryState::Waiting));
        records.push(attempt(seq, 2, DeliveryState::Processed));
        match seq % 10 {
            // Seven waits, eight lies dead, nine was dead and was thrown away.
            7 => {}
            8 | 9 => {
                records.push(settled(seq, MessageState::Waiting, MessageState::Dead));
                records.push(Record::DeadLetter {
                    message: seq,
                    reason: DeadReason::GaveUp,
                    at: moment(1),
                });
                if seq % 10 == 9 {
                    records.push(settled(seq, MessageState::Dead, MessageState::Discarded));
                    records.push(discarded(seq));
                }
            }
            _ => records.push(taken_by(seq, "analyzer")),
        }
        parts.queue.try_write(records).unwrap();
    }
    while crate::total::read(&mut parts.connection).await.unwrap().totals.accepted < count {
        parts.writer.turn().await;
    }
    parts.writer.hand().describe(count);
    parts
}

async fn seqs(parts: &Parts, text: Option<&str>) -> Vec<u64> {
    let filter = MessageFilter { text: text.map(str::to_owned), ..MessageFilter::default() };
    let rows = history::messages(&parts.readers, &filter, None, 10_000, false).await.unwrap();
    rows.rows.iter().map(|row| row.seq).rev().collect()
}

async fn count(parts: &mut Parts, statement: &'static str) -> i64 {
    let query = sqlx::query(statement).fetch_one(&mut parts.connection);
    query.await.unwrap().get(0)
}

fn walk(parts: &Parts, limits: Limits, now: Timestamp) {
    let mut walk = Walk::default();
    while walk.step(&parts.writer.hand().pen, limits, now).unwrap() {}
}

#[tokio::test]
async fn old_messages_go_with_all_their_traces_but_never_waiting_ones_or_open_dead_letters() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = with_messages(dir.path(), 300, r#""findme""#).await;
    let totals = crate::total::read(&mut parts.connection).await.unwrap().totals;
    // A delivery of a message that the disk did not take leaves no trace, but its number is used up.
    parts
        .queue
        .try_write(vec![delivery(9000, 0), attempt(9000, 1, DeliveryState::Failed)])
        .unwrap();
    assert!(parts.writer.turn().await);
    assert_eq!(count(&mut parts, "select count(*) from delivery").await, 300);
    assert_eq!(count(&mut parts, "select count(*) from attempt where delivery = 9000").await, 0);
    assert_eq!(count(&mut parts, "select last_delivery from total").await, 9000);
    let limits = Limits { days: 7, max_mb: 1000 };
    walk(&parts, limits, Timestamp(moment(0).0 + 6 * DAY));
    assert_eq!(seqs(&parts, None).await.len(), 300, "six days are not seven");

    walk(&parts, limits, Timestamp(moment(0).0 + 8 * DAY));
    let kept: Vec<u64> = (1..=300).filter(|seq| matches!(seq % 10, 7 | 8)).collect();
    assert_eq!(seqs(&parts, None).await, kept);
    assert_eq!(seqs(&parts, Some("findme")).await, kept);
    for statement in ["select count(*) from delivery", "select count(*) from attempt"] {
        assert_eq!(count(&mut parts, statement).await, 60, "{statement}");
    }
    assert_eq!(count(&mut parts, "select count(*) from dead_letter").await, 30);
    let after = crate::total::read(&mut parts.connection).await.unwrap();
    assert_eq!(after.totals, totals, "the totals are for ever");
    assert_eq!(after.last_seq, 300);
}

#[tokio::test]
async fn what_was_settled_lately_is_kept_however_old_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = with_messages(dir.path(), 20, "1").await;
    let limits = Limits { days: 7, max_mb: 1000 };
    let now = Timestamp(moment(0).0 + 30 * DAY);
    for (seq, days_ago) in [(8, 6), (18, 8)] {
        let discarded_at = Timestamp(now.0 - days_ago * DAY);
        let gone = Record::Settled {
            message: seq,
            from: MessageState::Dead,
            state: MessageState::Discarded,
            at: discarded_at,
            to: None,
            error: None,
        };
        parts.queue.try_write(vec![gone, discarded(seq)]).unwrap();
        assert!(parts.writer.turn().await);
    }
    walk(&parts, limits, now);
    assert_eq!(seqs(&parts, None).await, [7, 8, 17], "the undo of six days ago is still possible");
    walk(&parts, limits, Timestamp(now.0 + 2 * DAY));
    assert_eq!(seqs(&parts, None).await, [7, 17]);
}

#[tokio::test]
async fn a_time_that_is_still_to_come_keeps_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let now = Timestamp(moment(0).0 + 8 * DAY);
    for (seq, accepted_at) in [(1, Timestamp(now.0 + 365 * DAY)), (2, moment(2)), (3, now)] {
        let records = accepted(Message { accepted_at, ..message(seq) });
        parts.queue.try_write(records).unwrap();
        parts.queue.try_write(vec![taken_by(seq, "analyzer")]).unwrap();
    }
    while crate::total::read(&mut parts.connection).await.unwrap().totals.processed < 3 {
        parts.writer.turn().await;
    }
    walk(&parts, Limits { days: 7, max_mb: 1000 }, now);
    assert_eq!(seqs(&parts, None).await, [1, 3]);
}

#[tokio::test]
async fn the_oldest_go_while_there_is_too_much() {
    let dir = tempfile::tempdir().unwrap();
    let payload = format!("\"{}\"", "x".repeat(20_000));
    let mut parts = with_messages(dir.path(), 800, &payload).await;
    let limits = Limits { days: 7, max_mb: 5 };
    assert!(pages_read(&mut parts.connection).await.unwrap().used_bytes() > 16_000_000);
    let pages = "select page_count from pragma_page_count";
    let before = count(&mut parts, pages).await;
    walk(&parts, limits, moment(0));
    assert!(pages_read(&mut parts.connection).await.unwrap().used_bytes() <= 5 * 1024 * 1024);
    assert!(count(&mut parts, pages).await < before, "room is given back to the system");
    let left = seqs(&parts, None).await;
    assert!(left.contains(&800), "the newest stays");
    assert!(left.contains(&7) && left.contains(&8), "what waits or lies dead stays");
    assert!(!left.contains(&1), "the oldest went");
    let oldest_settled = left.iter().find(|seq| !matches!(*seq % 10, 7 | 8)).unwrap();
    let all_after = (*oldest_settled..=800).collect::<Vec<_>>();
    assert!(left.ends_with(&all_after), "nothing newer went before something older");
}

#[tokio::test]
async fn numbers_are_not_given_again_when_everything_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let mut old = message(41);
    old.accepted_at = Timestamp(0);
    opened.written(accepted(old)).await;
    let Record::Settled { message, from, state, to, error, .. } = taken_by(41, "analyzer") else {
        panic!()
    };
    let long_ago = Record::Settled { message, from, state, at: Timestamp(1), to, error };
    opened.written(vec![delivery(9, 41), long_ago]).await;
    opened.store.close().await;
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    while count(&mut parts, "select count(*) from message").await > 0 {
        assert!(parts.writer.turn().await, "the writer keeps house by itself");
    }
    drop(parts);
    let opened = open(dir.path()).await;
    assert_eq!((opened.restored.next_seq, opened.restored.next_delivery), (42, 10));
    assert_eq!(opened.restored.totals.accepted, 1);
    opened.store.close().await;
}
