//! More than the disk takes.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::broker::unaccounted;
use switchboard_tests::program::Program;
use switchboard_tests::proof::cases;
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::burden::{agent, is_root, listener, mb, peak, resident, under, write_settings};

const PUBLISHERS: u64 = 8;
/// Each sends so many without waiting for answers, and does it again when it has them.
const PIPELINED: u64 = 120;
const BYTES: usize = 100_000;
/// What the broker may have in memory at most: 32 MB of what waits for the disk, 8 MB of what waits for recipients, as much
/// again on its way in and out, what the allocator keeps of it, and the program itself.
const BOUND: u64 = 192 << 20;

/// Sends for as long as `until` says, and returns the ids of what was taken and how many were refused as busy.
async fn publish(url: String, n: u64, until: Instant) -> (Vec<Value>, u64) {
    let mut peer = agent(&url, &format!("publisher-{n}")).await;
    let payload = json!({ "type": "t", "filling": "x".repeat(BYTES) });
    let params = json!({ "topic": "agent:away", "payload": payload });
    let (mut taken, mut busy) = (Vec::new(), 0);
    while Instant::now() < until {
        let mut asked = Vec::new();
        for _ in 0..PIPELINED {
            asked.push(peer.ask("sendMessage", params.clone()).await);
        }
        for id in asked {
            let said = peer.response_to(&json!(id)).await;
            if said["result"]["accepted"] == true {
                taken.push(said["result"]["messageId"].clone());
            } else {
                let words = said["error"].to_string();
                assert!(words.contains("the disk does not keep up"), "not a definite busy: {said}");
                busy += 1;
            }
        }
    }
    (taken, busy)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_the_disk_takes_is_answered_with_busy() {
    if !is_root() {
        return;
    }
    let seconds = cases(8, 120);
    let mut proof = Proof::new(6, "overload", "publishers beyond what the disk takes get a definite \"busy\"; memory is bounded, the console answers")
        .how(format!("{PUBLISHERS} publishers with {PIPELINED} messages of {} KB at a time for {seconds} s; each sync takes 2 s more (strace inject)", BYTES / 1000));
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), "[limits]\nqueue = 1000000\n");
    let program = Program::spawn(under(&["env"], folder.path()), folder.path()).await.unwrap();
    let pid = program.id();
    drop(listener(&program.url, "away").await);
    let inject = "inject=fdatasync,fsync:delay_enter=2000000";
    let mut slow_disk = Command::new("strace")
        .args([
            "-f",
            "-p",
            &pid.to_string(),
            "-o",
            "/dev/null",
            "-e",
            "trace=fdatasync,fsync",
            "-e",
            inject,
        ])
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (before, until) = (resident(pid), Instant::now() + Duration::from_secs(seconds));
    let mut publishers = JoinSet::new();
    for n in 0..PUBLISHERS {
        publishers.spawn(publish(program.url.clone(), n, until));
    }
    let (mut slowest, mut answers) = (Duration::ZERO, 0);
    while Instant::now() < until {
        let began = Instant::now();
        let status = tokio::time::timeout(PATIENCE, program.call("status", json!({}))).await;
        let page = tokio::time::timeout(
            PATIENCE,
            program.call("messages", json!({ "filter": {}, "limit": 50 })),
        )
        .await;
        proof.check("the console answers", status.is_ok() && page.is_ok());
        slowest = slowest.max(began.elapsed());
        answers += 2;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (mut taken, mut busy) = (Vec::new(), 0);
    for (ids, refused) in publishers.join_all().await {
        taken.extend(ids);
        busy += refused;
    }
    let most = peak(pid);
    proof.check("some were told that the disk is busy", busy > 0);
    proof.check("some were taken", !taken.is_empty());
    proof.check(format!("{} MB of memory", mb(most)), most < BOUND);
    let totals = program.totals().await;
    proof.check(format!("all are accounted for: {totals}"), unaccounted(&totals) == 0);
    let accepted = totals["accepted"].as_u64();
    proof.check(format!("{} taken, {totals}", taken.len()), accepted == Some(taken.len() as u64));
    program.kill().await;
    slow_disk.wait().await.unwrap();
    let program = eventually("the folder is free", async || {
        let command = under(&["env"], folder.path());
        Program::spawn(command, folder.path()).await.ok()
    })
    .await;
    let waiting = program.totals().await["waiting"].as_u64();
    proof.check(format!("{waiting:?} wait after kill -9"), waiting == Some(taken.len() as u64));
    for id in &taken {
        let found = program.console().call::<Value>("message", json!({ "id": id })).await;
        proof.check(format!("{id} is there"), found.is_ok());
    }
    proof.close(format!(
        "{} taken and there after kill -9, {busy} told busy; {} MB of memory at most (from {} MB, bound {} MB); {answers} \
         console calls, the slowest pair {} ms",
        taken.len(),
        mb(most),
        mb(before),
        mb(BOUND),
        slowest.as_millis()
    ));
}
