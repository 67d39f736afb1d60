//! A recipient that sleeps: its messages wait on disk, the memory does not grow with them, and it
//! gets every one of them to the letter when it wakes.

use std::path::Path;

use serde_json::json;

use crate::board::eventually;
use crate::peer::Peer;
use crate::program::Program;

const MESSAGES: usize = 9000;
const BYTES: usize = 20_000;
/// By then all that is kept in memory for speed is as full as it gets: what is in flight, the
/// database's cache, what the console remembers.
const WARM: usize = 3000;
/// What the broker may grow by from then on, while three times as much comes to wait: a list entry
/// for each message, but not what the messages carry.
const GROWTH: u64 = 40 << 20;

fn resident(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Every third is small, and stays in memory between those that do not.
fn filling(n: usize) -> String {
    let unit = format!("{n:06}-");
    if n.is_multiple_of(3) { unit } else { unit.repeat(BYTES / unit.len()) }
}

async fn accepted(folder: &Path, count: u64) {
    let console = bub::Console::open(folder).unwrap();
    eventually("all are accepted", async || {
        let mut feed = console.watch(&switchboard_model::MessageFilter::default()).await.unwrap();
        (feed.next().await.unwrap()["totals"]["accepted"] == count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_does_not_grow_with_what_waits_for_one_that_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    // It neither answers nor reads, for as long as it likes.
    let settings =
        "[delivery]\ntimeout_ms = 600000\n[limits]\nwrite_ms = 600000\n[discovery]\nmdns = false\n";
    std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
    let program = Program::start(folder.path()).await;
    let mut sleeper = Peer::connect(&program.url).await;
    sleeper.initialize("sleeper").await;
    sleeper.subscribe("agent:sleeper").await;
    let mut sender = Peer::connect(&program.url).await;
    sender.initialize("sender").await;
    let mut before = 0;
    for n in 0..MESSAGES {
        let params = json!({ "topic": "agent:sleeper", "payload": { "type": "t", "n": n, "filling": filling(n) } });
        sender.ask("sendMessage", params).await;
        if n % 500 == 499 {
            accepted(folder.path(), n as u64 + 1).await;
        }
        if n + 1 == WARM {
            before = resident(program.id());
        }
    }
    let grown = resident(program.id()).saturating_sub(before);
    let more: usize = (WARM..MESSAGES).map(|n| filling(n).len()).sum();
    println!("{} MB more wait, {} MB grown to {}", more >> 20, grown >> 20, (before + grown) >> 20);
    assert!(grown < GROWTH, "{} MB", grown >> 20);
    for n in 0..MESSAGES {
        let delivery = sleeper.process().await;
        let payload = &delivery["params"]["payload"];
        assert_eq!(payload["n"], n, "in order");
        assert_eq!(payload["filling"], filling(n), "to the letter");
    }
    assert_eq!(program.terminate().await, 0);
}
