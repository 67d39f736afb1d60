//! Many connections, and a long time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard_tests::broker::unaccounted;
use switchboard_tests::peer::Peer;
use switchboard_tests::program::Program;
use switchboard_tests::proof::{Chance, cases, full};
use switchboard_tests::{PATIENCE, Proof, eventually};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::burden::{
    agent, answers_all, descriptors, listener, mb, resident, send, snapshot, under, write_settings,
};

/// What each of them may cost more once it has had messages: the broker keeps figures of everyone who had some.
const MORE: u64 = 8 << 10;
/// What it keeps of the database for speed, which fills with the first messages, and little else that does.
const FOR_SPEED: u64 = 16 << 20;
/// So many come at the same time.
const AT_ONCE: usize = 32;

/// Connects, listens and answers until the connection ends.
async fn hold(
    url: String,
    n: usize,
    gate: Arc<Semaphore>,
    ready: Arc<AtomicUsize>,
    seen: Arc<AtomicU64>,
) {
    let mut peer = {
        let _turn = gate.acquire().await.unwrap();
        listener(&url, &format!("holder-{n}")).await
    };
    ready.fetch_add(1, Ordering::Relaxed);
    while let Some(heard) = peer.hear_for_ever().await {
        if heard.get("method").is_some() {
            peer.answer(&heard, json!({ "processed": true })).await;
            seen.fetch_add(1, Ordering::Relaxed);
        }
    }
    ready.fetch_sub(1, Ordering::Relaxed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_connections_are_held() {
    let count = usize::try_from(cases(1_000, 10_000)).unwrap();
    let seconds = minutes("HOLD_MINUTES").map_or(cases(5, 600), |minutes| minutes * 60);
    let mut proof = Proof::new(9, "connections", "10,000 connections are held")
        .how(format!("{count} bus connections, each subscribed, held for {seconds} s; one of them by chance is sent a message, again and again"));
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), &format!("[limits]\nconnections = {}\n", count + 100));
    let program = Program::spawn(under(&["env"], folder.path()), folder.path()).await.unwrap();
    let (empty, opened) = (resident(program.id()), descriptors(program.id()));
    let (gate, ready, seen) = (Arc::new(Semaphore::new(AT_ONCE)), Arc::default(), Arc::default());
    let mut holders = JoinSet::new();
    for n in 0..count {
        holders.spawn(hold(
            program.url.clone(),
            n,
            gate.clone(),
            Arc::clone(&ready),
            Arc::clone(&seen),
        ));
    }
    let began = Instant::now();
    while ready.load(Ordering::Relaxed) < count {
        assert!(began.elapsed() < PATIENCE * 30, "they do not come in");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let full = resident(program.id());
    let (mut sender, mut chance, mut sent) =
        (agent(&program.url, "sender").await, Chance::new(1), 0);
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        let to = format!("holder-{}", chance.below(count as u64));
        let said = send(&mut sender, &to, sent).await;
        proof.check(format!("{to} answers: {said}"), said["result"]["success"] == true);
        sent += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let held = ready.load(Ordering::Relaxed);
    proof.check(format!("{held} of {count} are held"), held == count);
    let status = snapshot(&program).await;
    proof.check(
        format!("the console counts them: {status}"),
        status["figures"]["connections"].as_u64() > Some(count as u64),
    );
    proof.check(
        format!("{} messages arrived", seen.load(Ordering::Relaxed)),
        seen.load(Ordering::Relaxed) == sent,
    );
    let now = resident(program.id());
    proof.check(
        format!("memory is flat: {} MB, then {} MB", mb(full), mb(now)),
        now < full + count as u64 * MORE + FOR_SPEED,
    );
    holders.shutdown().await;
    eventually("their descriptors are free again", async || {
        (descriptors(program.id()) < opened + 20).then_some(())
    })
    .await;
    proof.check("it ends when it is told to", program.terminate().await == 0);
    proof.close(format!(
        "{held} of {count} held for {seconds} s, {} KB of memory each ({} MB in all, {} MB at the end), {sent} messages to them answered",
        (full - empty) / 1024 / count as u64,
        mb(full),
        mb(now)
    ));
}

/// What is looked at while time passes.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    memory: u64,
    descriptors: usize,
    log: u64,
}

fn sample(program: &Program, folder: &Path) -> Sample {
    let log = std::fs::metadata(folder.join("switchboard.db-wal")).map_or(0, |file| file.len());
    Sample { memory: resident(program.id()), descriptors: descriptors(program.id()), log }
}

/// The most of each.
fn most(samples: &[Sample]) -> Sample {
    samples.iter().fold(Sample::default(), |most, one| Sample {
        memory: most.memory.max(one.memory),
        descriptors: most.descriptors.max(one.descriptors),
        log: most.log.max(one.log),
    })
}

fn minutes(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Whatever others do to the disk: the writer itself moves a log of 65,536 pages, and what is written meanwhile is not
/// much. That it stays as it is can be seen in an hour, and not in seconds.
const LARGEST_LOG: u64 = 288 << 20;
const SENDERS: u64 = 20;
const A_SECOND: u64 = 1_000;

/// Sends its share of them each second, and waits for the answers.
async fn send_steadily(
    mut peer: Peer,
    until: Instant,
    sent: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
) {
    let mut tick = tokio::time::interval(Duration::from_micros(1_000_000 * SENDERS / A_SECOND));
    let mut n = 0;
    while Instant::now() < until {
        tick.tick().await;
        let said = send(&mut peer, &format!("receiver-{}", n % 4), n).await;
        n += 1;
        let counter = if said["result"]["success"] == true { &sent } else { &failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_at_a_thousand_a_second() {
    // In seconds: a quick run shows little, but that it runs.
    let seconds = minutes("STEADY_MINUTES").map_or(cases(15, 3_600), |minutes| minutes * 60);
    let mut proof = Proof::new(9, "steady", "an hour at 1,000 messages a second leaves memory, descriptors and the log as they were")
        .how(format!("{SENDERS} senders, 4 recipients, {A_SECOND} messages a second for {seconds} s, looked at each second"));
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), "");
    let program = Program::spawn(under(&["env"], folder.path()), folder.path()).await.unwrap();
    for n in 0..4 {
        drop(answers_all(listener(&program.url, &format!("receiver-{n}")).await));
    }
    let (sent, failed): (Arc<AtomicU64>, Arc<AtomicU64>) = (Arc::default(), Arc::default());
    let (began, mut sending) = (Instant::now(), JoinSet::new());
    let until = began + Duration::from_secs(seconds);
    for n in 0..SENDERS {
        let peer = agent(&program.url, &format!("sender-{n}")).await;
        sending.spawn(send_steadily(peer, until, sent.clone(), failed.clone()));
    }
    let (mut samples, mut tick) = (Vec::new(), tokio::time::interval(Duration::from_secs(1)));
    while Instant::now() < until {
        tick.tick().await;
        samples.push(sample(&program, folder.path()));
    }
    sending.join_all().await;
    let (sent, failed) = (sent.load(Ordering::Relaxed), failed.load(Ordering::Relaxed));
    // What is kept for speed is full after a while: the first third is not counted.
    let (_, rest) = samples.split_at(samples.len() / 3);
    let (early, late) = rest.split_at(rest.len() / 2);
    let (early, late) = (most(early), most(late));
    proof.check(format!("{failed} failed"), failed == 0);
    proof.check(
        format!("memory {} MB, then {} MB", mb(early.memory), mb(late.memory)),
        late.memory < early.memory + (16 << 20),
    );
    proof.check(
        format!("descriptors {}, then {}", early.descriptors, late.descriptors),
        late.descriptors <= early.descriptors + 8,
    );
    proof.check(
        format!("log {} MB, then {} MB", mb(early.log), mb(late.log)),
        late.log <= if full() { (64 << 20).max(early.log * 2) } else { LARGEST_LOG },
    );
    let totals = program.totals().await;
    proof.check(
        format!("all are accounted for: {totals}"),
        unaccounted(&totals) == 0 && totals["processed"] == sent,
    );
    proof.check("it ends when it is told to", program.terminate().await == 0);
    proof.close(format!(
        "{sent} messages in {seconds} s ({} a second): memory {} → {} MB, descriptors {} → {}, log {} → {} MB; {failed} failed",
        sent / seconds,
        mb(early.memory),
        mb(late.memory),
        early.descriptors,
        late.descriptors,
        mb(early.log),
        mb(late.log)
    ));
}
