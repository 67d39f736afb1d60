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
