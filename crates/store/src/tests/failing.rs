use std::sync::Arc;
use std::task::Poll;

use switchboard_model::{DeadReason, DeliveryState, MessageFilter, MessageState};

use super::sample::*;
use crate::open::{self as opening, Parts};
use crate::{Commit, Error, Options, Record, Ticket, history};

async fn all(parts: &Parts) -> Vec<(u64, MessageState)> {
    let filter = MessageFilter::default();
    let rows = history::messages(&parts.readers, &filter, None, 1000, false).await.unwrap();
    rows.rows.iter().map(|row| (row.seq, row.state)).collect()
}

/// Stops the database from growing, as a full disk does.
fn fill_the_disk(parts: &Parts) {
    let _: i64 = parts.writer.hand().pen.value("pragma max_page_count = 1", []).unwrap();
}

fn make_room(parts: &Parts) {
    let _: i64 = parts.writer.hand().pen.value("pragma max_page_count = 1000000", []).unwrap();
}

fn large(seq: u64) -> switchboard_model::Message {
    message_on(seq, "inbound:chat-1", &format!("\"{}\"", "x".repeat(200_000)))
}

#[tokio::test]
async fn on_a_full_disk_senders_are_told_and_bookkeeping_is_written_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    parts.queue.try_write(accepted(message(1))).unwrap();
    parts.writer.turn().await;
    assert!(matches!(parts.commits.recv().await, Some(Commit::Done { up_to: Ticket(1) })));

    fill_the_disk(&parts);
    parts.queue.try_write(accepted(large(2))).unwrap();
    parts.queue.try_write(vec![delivery(1, 1), attempt(1, 1, DeliveryState::Processed)]).unwrap();
    parts.queue.try_write(vec![taken_by(1, "analyzer")]).unwrap();
    let dead = vec![
        settled(2, MessageState::Waiting, MessageState::Dead),
        Record::DeadLetter { message: 2, reason: DeadReason::NobodySubscribed, at: moment(5) },
    ];
    parts.queue.try_write(dead).unwrap();
    parts.writer.turn().await;
    match parts.commits.recv().await.unwrap() {
        Commit::Failed { tickets, error } => {
            assert_eq!(tickets, [Ticket(2)]);
            assert!(error.to_string().contains("full"), "{error}");
        }
        Commit::Done { up_to } => panic!("{up_to:?} cannot be on disk"),
    }
    assert_eq!(all(&parts).await, [(1, MessageState::Waiting)]);
    let troubles = parts.troubles.watch();
    let told = |over: bool| {
        let troubles = troubles.borrow();
        troubles.len() == 1
            && troubles[0].words.contains("cannot be written to")
            && troubles[0].over.is_some() == over
    };
    assert!(told(false), "the operator sees it");

    make_room(&parts);
    parts.queue.try_write(accepted(large(3))).unwrap();
    parts.writer.turn().await;
    assert!(told(true), "and sees that it is over");
    assert!(
        matches!(parts.commits.recv().await, Some(Commit::Done { up_to: Ticket(6) })),
        "what was kept goes with what came later"
    );
    let expected = [(3, MessageState::Waiting), (1, MessageState::Processed)];
    assert_eq!(all(&parts).await, expected);
    let detail = history::message(&parts.readers, message(1).id).await.unwrap().unwrap();
    assert_eq!(detail.deliveries.len(), 1);
    let totals = crate::total::read(&mut parts.connection).await.unwrap().totals;
    assert_eq!((totals.accepted, totals.processed, totals.waiting), (2, 1, 1));
}

#[tokio::test]
async fn what_was_kept_is_tried_again_even_if_nothing_else_comes() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    parts.queue.try_write(accepted(message(1))).unwrap();
    parts.writer.turn().await;
    fill_the_disk(&parts);
    let many = (1..=2000).map(|id| delivery(id, 1)).collect();
    parts.queue.try_write(many).unwrap();
    parts.writer.turn().await;
    assert_eq!(parts.writer.hand().kept.len(), 1, "the disk did not take it");

    make_room(&parts);
    while !parts.writer.hand().kept.is_empty() {
        parts.writer.turn().await;
    }
    assert!(matches!(parts.commits.recv().await, Some(Commit::Done { up_to: Ticket(1) })));
    assert!(matches!(parts.commits.recv().await, Some(Commit::Done { up_to: Ticket(2) })));
    let detail = history::message(&parts.readers, message(1).id).await.unwrap().unwrap();
    assert_eq!(detail.deliveries.len(), 2000);
}

#[tokio::test]
async fn one_write_that_cannot_be_written_takes_no_other_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let mut twin = message(2);
    twin.seq = 1;
    for write in [accepted(message(1)), accepted(twin), accepted(message(3))] {
        parts.queue.try_write(write).unwrap();
    }
    parts.writer.turn().await;
    let mut news = Vec::new();
    while let Ok(commit) = parts.commits.try_recv() {
        news.push(commit);
    }
    let failed: Vec<Ticket> = news
        .iter()
        .flat_map(|commit| match commit {
            Commit::Failed { tickets, .. } => tickets.clone(),
            Commit::Done { .. } => Vec::new(),
        })
        .collect();
    assert_eq!(failed, [Ticket(2)], "{news:?}");
    assert!(matches!(news.last(), Some(Commit::Done { up_to: Ticket(3) })), "{news:?}");
    assert_eq!(all(&parts).await, [(3, MessageState::Waiting), (1, MessageState::Waiting)]);
}

#[tokio::test]
async fn below_the_disk_guard_messages_are_refused_and_bookkeeping_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written(accepted(message(1))).await;
    opened.store.close().await;

    let greedy = Options { disk_free_mb: u64::MAX, ..options() };
    let mut parts = opening::open(dir.path(), &greedy).await.unwrap();
    parts.queue.try_write(accepted(message(2))).unwrap();
    parts.queue.try_write(vec![taken_by(1, "analyzer")]).unwrap();
    parts.writer.turn().await;
    match parts.commits.recv().await.unwrap() {
        Commit::Failed { tickets, error } => {
            assert_eq!(tickets, [Ticket(1)]);
            let error: Arc<Error> = error;
            assert!(matches!(*error, Error::DiskNearlyFull { .. }), "{error}");
            assert!(error.to_string().contains("nearly full"), "{error}");
        }
        Commit::Done { up_to } => panic!("{up_to:?} was not refused"),
    }
    assert!(matches!(parts.commits.recv().await, Some(Commit::Done { up_to: Ticket(2) })));
    assert_eq!(all(&parts).await, [(1, MessageState::Processed)]);
}

#[tokio::test]
async fn a_full_queue_says_so_and_counts_bytes_too() {
    let (queue, mut receiver) = crate::queue::Queue::new();
    for seq in 1.. {
        if queue.try_write(accepted(message(seq))).is_err() {
            assert_eq!(seq, u64::try_from(crate::queue::WRITES).unwrap() + 1);
            break;
        }
    }
    while receiver.try_recv().is_ok() {}
    let heavy = Arc::new(message_on(1, "t", &format!("\"{}\"", "x".repeat(1 << 20))));
    let heavy = || vec![Record::Message(Arc::clone(&heavy))];
    let taken = (1..1000).take_while(|_| queue.try_write(heavy()).is_ok()).count();
    assert!((60..=64).contains(&taken), "{taken} megabytes were taken");
    let mut waiting = Box::pin(queue.write(heavy()));
    let full = std::future::poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context)));
    assert!(full.await.is_pending(), "a write that must not be lost waits");
    drop(waiting);
    while receiver.try_recv().is_ok() {}
    let ticket = queue.write(heavy()).await.unwrap();
    let before = u64::try_from(crate::queue::WRITES + taken).unwrap();
    assert_eq!(ticket, Ticket(before + 1), "refused writes use up no tickets");
}
