use std::time::Instant;

use super::sample::*;
use crate::Commit;

/// Prints how many messages a second reach the disk, each with its settling in a write of its own.
#[tokio::test(flavor = "multi_thread")]
async fn many_messages_share_few_commits() {
    const MESSAGES: u64 = 20_000;
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let store = opened.store.clone();
    let began = Instant::now();
    let writing = tokio::spawn(async move {
        for seq in 1..=MESSAGES {
            store.write(accepted(message(seq))).await.unwrap();
            store.write(vec![taken_by(seq, "analyzer")]).await.unwrap();
        }
    });
    let mut commits = 0_u64;
    loop {
        commits += 1;
        match opened.commits.recv().await.unwrap() {
            Commit::Done { up_to } if up_to.0 == MESSAGES * 2 => break,
            Commit::Done { .. } => {}
            Commit::Failed { error, .. } => panic!("{error}"),
        }
    }
    let took = began.elapsed();
    let rate = f64::from(u32::try_from(MESSAGES).unwrap()) / took.as_secs_f64();
    println!(
        "{MESSAGES} messages and settlings in {took:?}, {commits} commits: {rate:.0} a second"
    );
    writing.await.unwrap();
    assert!(commits < MESSAGES, "commits are shared");
    opened.store.close().await;
    let opened = open(dir.path()).await;
    assert_eq!(opened.restored.totals.processed, MESSAGES);
    opened.store.close().await;
}

/// Commits never pause, so that there is always something in the log that is not moved.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_begins_anew_while_messages_keep_coming() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(50_000));
    // The log's header counts how often it has begun.
    let begun = || {
        let log = std::fs::read(dir.path().join("switchboard.db-wal")).unwrap();
        log.get(12..16).map(|count| u32::from_be_bytes(count.try_into().unwrap()))
    };
    opened.written(accepted(message(1))).await;
    let at_first = begun().unwrap();
    let mut seq = 1;
    while begun().unwrap() < at_first + 3 {
        assert!(seq < 50_000, "it never does");
        for _ in 0..100 {
            seq += 1;
            opened.written(accepted(message_on(seq, "inbound:chat-1", &long))).await;
        }
    }
    opened.store.close().await;
}
