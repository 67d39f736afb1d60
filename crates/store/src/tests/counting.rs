//! What is counted with a commit, and what later.

use sqlx::Row;

use super::sample::*;
use crate::open::Parts;
use crate::record::Record;
use crate::{open as opening, total};

/// A message that its recipient processes at once.
fn taken(seq: u64) -> Vec<Record> {
    let tried = attempt(seq, 1, switchboard_model::DeliveryState::Processed);
    [accepted(message(seq)), vec![delivery(seq, seq), tried, taken_by(seq, "analyzer")]].concat()
}

async fn write(parts: &mut Parts, records: Vec<Record>) {
    parts.queue.try_write(records).unwrap();
    assert!(parts.writer.turn().await);
}

/// The number of the last message that `total` knows of.
async fn counted_up_to(parts: &mut Parts) -> i64 {
    let query = sqlx::query("select last_seq from total").fetch_one(&mut parts.connection);
    query.await.unwrap().get(0)
}

#[tokio::test]
async fn messages_that_nobody_had_counted_before_a_sudden_end_are_counted_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    for seq in [1, 2, 4, 3] {
        write(&mut parts, taken(seq)).await;
    }
    write(&mut parts, accepted(message(5))).await;
    assert_eq!(counted_up_to(&mut parts).await, 0, "they tell it themselves");
    let stored = total::read(&mut parts.connection).await.unwrap();
    let sum = (stored.totals.accepted, stored.totals.processed, stored.totals.waiting);
    assert_eq!((sum, stored.last_seq, stored.last_delivery), ((5, 4, 1), 5, 4));
    // Without a last word of the writer's.
    drop(parts);

    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    assert_eq!(parts.restored.totals, stored.totals);
    assert_eq!((parts.restored.next_seq, parts.restored.next_delivery), (6, 5));
    assert_eq!(counted_up_to(&mut parts).await, 5);
}

#[tokio::test]
async fn a_message_whose_state_is_damaged_before_it_was_counted_stops_no_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    for seq in 1..=3 {
        write(&mut parts, taken(seq)).await;
    }
    for statement in [
        "pragma ignore_check_constraints = on",
        "update message set state = 'procesSed' where seq = 2",
    ] {
        sqlx::query(statement).execute(&mut parts.connection).await.unwrap();
    }
    drop(parts);
    let parts = opening::open(dir.path(), &options()).await.unwrap();
    let totals = parts.restored.totals;
    assert_eq!((totals.accepted, totals.processed, totals.difference()), (2, 2, 0));
    assert_eq!(parts.restored.next_seq, 4);
}

#[tokio::test]
async fn what_changes_an_older_message_is_counted_at_once_and_with_it_all_that_was_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    write(&mut parts, accepted(message(1))).await;
    write(&mut parts, taken(2)).await;
    write(&mut parts, vec![taken_by(1, "analyzer")]).await;
    assert_eq!(counted_up_to(&mut parts).await, 2);
    write(&mut parts, taken(4)).await;
    assert_eq!(counted_up_to(&mut parts).await, 2);
    write(&mut parts, vec![taken_by(3, "nobody")]).await;
    assert_eq!(counted_up_to(&mut parts).await, 4);
    write(&mut parts, taken(3)).await;
    let totals = total::read(&mut parts.connection).await.unwrap().totals;
    assert_eq!((totals.accepted, totals.processed), (4, 4), "one that comes late, too");
}

#[tokio::test]
async fn there_are_never_many_to_be_counted_later_and_none_when_messages_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    write(&mut parts, (1..=1024).flat_map(taken).collect()).await;
    assert_eq!(counted_up_to(&mut parts).await, 0);
    write(&mut parts, taken(1025)).await;
    assert_eq!(counted_up_to(&mut parts).await, 1025);

    write(&mut parts, taken(1026)).await;
    parts.writer.hand().count_and_keep_house();
    assert_eq!(counted_up_to(&mut parts).await, 1026);
}
