//! Where a commit need not wait for the disk, a few records are written by whoever brings them. Here the thread that
//! writes does not run, so what is told was written without it.

use switchboard_model::MessageState;

use super::sample::*;
use crate::open::{self as opening, Parts};
use crate::{Commit, Options, Synchronous, Ticket};

async fn opened(dir: &std::path::Path, synchronous: Synchronous) -> Parts {
    opening::open(dir, &Options { synchronous, ..options() }).await.unwrap()
}

/// The last write of which was told, if there are news.
fn told(parts: &mut Parts) -> Option<u64> {
    match parts.commits.try_recv().ok()? {
        Commit::Done { up_to } => Some(up_to.0),
        Commit::Failed { error, .. } => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_few_records_are_written_by_whoever_brings_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opened(dir.path(), Synchronous::Normal).await;
    let mut others = vec![settled(1, MessageState::Waiting, MessageState::Processed)];
    let tickets = parts.queue.try_write_with(accepted(message(1)), &mut others);
    assert_eq!(tickets, Ok((Ticket(1), Some(Ticket(2)))));
    assert_eq!(told(&mut parts), Some(2), "both are in the database");
    assert!(others.is_empty());
    parts.queue.close();
    parts.writer.run().await;

    let opened = opening::open(dir.path(), &options()).await.unwrap();
    assert_eq!(opened.restored.totals.processed, 1);
}

#[tokio::test]
async fn what_must_survive_the_loss_of_power_is_left_to_the_thread_that_writes() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opened(dir.path(), Synchronous::Full).await;
    parts.queue.try_write(accepted(message(1))).unwrap();
    assert_eq!(told(&mut parts), None);
    parts.writer.turn().await;
    assert_eq!(told(&mut parts), Some(1));
}

#[tokio::test]
async fn nothing_overtakes_what_waits_in_the_queue() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opened(dir.path(), Synchronous::Normal).await;
    let many = (1..=100).flat_map(|seq| accepted(message(seq))).collect();
    parts.queue.try_write(many).unwrap();
    assert_eq!(told(&mut parts), None, "too many to be written in passing");
    parts.queue.try_write(vec![taken_by(50, "analyzer")]).unwrap();
    assert_eq!(told(&mut parts), None, "the message that it is about is not there yet");
    parts.writer.turn().await;
    assert_eq!(told(&mut parts), Some(2));
    parts.queue.try_write(accepted(message(101))).unwrap();
    assert_eq!(told(&mut parts), Some(3), "nothing waits any more");
}

#[tokio::test]
async fn whoever_brings_records_waits_for_nobody_elses_lock() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opened(dir.path(), Synchronous::Normal).await;
    let other = rusqlite::Connection::open(dir.path().join("switchboard.db")).unwrap();
    other.execute_batch("begin immediate").unwrap();
    // The thread that writes would wait for seconds.
    parts.queue.try_write(accepted(message(1))).unwrap();
    assert_eq!(told(&mut parts), None);
    other.execute_batch("rollback").unwrap();
    parts.writer.turn().await;
    assert_eq!(told(&mut parts), Some(1), "it was written once and in its turn");
    parts.queue.try_write(accepted(message(2))).unwrap();
    assert_eq!(told(&mut parts), Some(2));
}

#[tokio::test]
async fn while_somebody_holds_the_hand_the_queue_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opened(dir.path(), Synchronous::Normal).await;
    let hand = parts.writer.hand();
    parts.queue.try_write(accepted(message(1))).unwrap();
    drop(hand);
    assert_eq!(told(&mut parts), None);
    parts.writer.turn().await;
    assert_eq!(told(&mut parts), Some(1));
}
