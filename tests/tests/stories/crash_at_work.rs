//! `kill -9` at random moments, with retries pending and jobs at work: nothing is lost or doubled.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bub::{Bus, ClientInfo, Console};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Payload};
use tempfile::tempdir;

use crate::board::{Board, eventually};
use crate::program::Program;

/// As many as a test run can afford; `SWITCHBOARD_KILLS` asks for more.
const KILLS: u64 = 8;

const SETTINGS: &str = "[delivery]\nbackoff_ms = 50\ntimeout_ms = 300\n[discovery]\nmdns = false\n";

/// What has happened since the broker was started: acknowledgements and answers.
#[derive(Default)]
struct Seen {
    acknowledged: Mutex<HashSet<String>>,
    steps: AtomicU64,
}

async fn connect(url: &str, id: &str) -> Option<Bus> {
    let agent = AgentId::parse(id).unwrap();
    Bus::connect(url, &agent, ClientInfo::new("story", "0.2.0"), None).await.ok()
}

/// Publishes until the broker is gone: for one that is unreliable, one that is away, and nobody.
async fn publish(url: String, id: String, seen: Arc<Seen>) {
    let Some(bus) = connect(&url, &id).await else { return };
    for n in 0.. {
        let topic = ["flaky", "agent:absent", "nowhere", "flaky"][n % 4];
        let payload = Payload::trusted(json!({ "type": "t", "n": n }).to_string());
        let Ok(result) = bus.send(topic, &payload).await else { return };
        seen.acknowledged.lock().unwrap().extend(result.message_id);
        seen.steps.fetch_add(1, Ordering::Relaxed);
    }
}

/// Processes, asks for another try, declines, says nothing: in turn.
async fn be_flaky(url: String, seen: Arc<Seen>) {
    let Some(bus) = connect(&url, "flaky").await else { return };
    if bus.subscribe("flaky", None).await.is_err() {
        return;
    }
    let mut kept = Vec::new();
    for turn in 0.. {
        let Some(delivery) = bus.next_delivery().await else { return };
        seen.steps.fetch_add(1, Ordering::Relaxed);
        let answer = match turn % 4 {
            0 => bub::Answer::processed(),
            1 => bub::Answer::retry("not yet", 0),
            2 => bub::Answer::declined("not mine"),
            _ => {
                kept.push(delivery);
                continue;
            }
        };
        if delivery.answer(answer).await.is_err() {
            return;
        }
    }
}

async fn work(url: String, seen: Arc<Seen>) {
    let Some(bus) = connect(&url, "worker").await else { return };
    if bus.subscribe("jobs", None).await.is_err() {
        return;
    }
    while let Some(delivery) = bus.next_delivery().await {
        seen.steps.fetch_add(1, Ordering::Relaxed);
        if delivery.answer(bub::Answer::processed()).await.is_err() {
            return;
        }
    }
}

/// Starts one job after the other until the broker is gone.
async fn operate(folder: std::path::PathBuf) {
    let Ok(console) = Console::open(&folder) else { return };
    for turn in 0.. {
        let (method, params) = match turn % 4 {
            0 => ("replayMany", json!({ "filter": {}, "topic": "jobs", "perSecond": 200 })),
            1 => ("discard", json!({ "filter": { "reason": "declinedByAll" }, "reason": "no" })),
            2 => ("replayMany", json!({ "filter": { "reason": "gaveUp" }, "topic": "jobs" })),
            _ => ("restore", json!({ "filter": {} })),
        };
        let Ok(job) = console.call::<Value>(method, &params).await else { return };
        loop {
            let Ok(jobs) = console.call::<Value>("jobs", &json!({})).await else { return };
            let jobs = jobs["jobs"].as_array().unwrap();
            let mine = jobs.iter().find(|one| one["id"] == job["id"]);
            if mine.is_none_or(|one| one["status"] == "done") {
                break;
            }
        }
    }
}

async fn one_life(folder: &Path, seen: &Arc<Seen>, steps: u64) {
    let program = Program::start(folder).await;
    if let Some(absent) = connect(&program.url, "absent").await {
        absent.close().await;
    }
    let until = seen.steps.load(Ordering::Relaxed) + steps;
    let mut tasks = vec![
        tokio::spawn(be_flaky(program.url.clone(), seen.clone())),
        tokio::spawn(work(program.url.clone(), seen.clone())),
        tokio::spawn(operate(folder.to_owned())),
    ];
    for publisher in 0..8 {
        let id = format!("publisher-{publisher}");
        tasks.push(tokio::spawn(publish(program.url.clone(), id, seen.clone())));
    }
    eventually("enough has happened", async || {
        (seen.steps.load(Ordering::Relaxed) >= until).then_some(())
    })
    .await;
    program.kill().await;
    for task in tasks {
        task.await.unwrap();
    }
}

/// A number that looks like chance.
fn chance(seed: u64) -> u64 {
    let z = (seed.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 29)) >> 8
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_by_kill_9_during_retries_and_replays() {
    let kills = std::env::var("SWITCHBOARD_KILLS").ok().and_then(|text| text.parse().ok());
    let kills: u64 = kills.unwrap_or(KILLS);
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("switchboard.toml"), SETTINGS).unwrap();
    let seen = Arc::new(Seen::default());
    for round in 0..kills {
        one_life(folder.path(), &seen, 20 + chance(round) % 200).await;
    }

    let board = Board::reopen(folder, "[delivery]\nbackoff_ms = 50\ntimeout_ms = 300").await;
    settled(&board).await;
    let lives = all_lives(&board).await;
    let kept: HashSet<&str> =
        lives.iter().map(|life| life["row"]["id"].as_str().unwrap()).collect();
    let acknowledged = seen.acknowledged.lock().unwrap().clone();
    let lost: Vec<_> = acknowledged.iter().filter(|id| !kept.contains(id.as_str())).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");

    // Each letter that was replayed has one message in its place, and each such message its letter.
    let replaced: Vec<&str> = lives.iter().filter_map(|life| life["replayOf"].as_str()).collect();
    let replayed: HashSet<&str> = lives
        .iter()
        .filter(|life| life["letter"]["status"] == "replayed")
        .map(|life| life["row"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(replaced.len(), replayed.len(), "none is doubled");
    assert_eq!(replaced.iter().copied().collect::<HashSet<_>>(), replayed);

    let totals = board.totals().await;
    for state in ["processed", "waiting", "dead", "discarded", "expired"] {
        let kept = lives.iter().filter(|life| life["row"]["state"] == state).count() as u64;
        assert_eq!(totals[state].as_u64().unwrap(), kept, "{state}: {totals}");
    }
    let sum: u64 = ["processed", "waiting", "dead", "discarded", "expired"]
        .iter()
        .map(|state| totals[state].as_u64().unwrap())
        .sum();
    assert_eq!(totals["accepted"].as_u64().unwrap(), sum, "{totals}");
    assert_eq!(lives.len() as u64, sum, "what the totals count is what is kept");
    for life in &lives {
        let open = life["letter"]["status"] == "open";
        let state = life["row"]["state"].as_str().unwrap();
        assert_eq!(open, matches!(state, "dead" | "expired"), "{life}");
        let attempts = life["deliveries"].as_array().unwrap();
        let most = attempts.iter().map(|one| one["attempts"].as_array().unwrap().len()).max();
        assert!(most.unwrap_or(0) <= 3, "no more attempts than may be: {life}");
    }
    println!(
        "{kills} kills: {} acknowledged, {} lost, {} replayed, totals {totals}",
        acknowledged.len(),
        lost.len(),
        replayed.len()
    );
}

/// Waits until the jobs that were interrupted have ended, and nothing waits but for one that is away.
async fn settled(board: &Board) {
    eventually("jobs and retries have ended", async || {
        let jobs = board.call("jobs", json!({})).await;
        let working = |job: &Value| job["status"] == "running";
        if jobs["jobs"].as_array().unwrap().iter().any(working) {
            return None;
        }
        let filter = json!({ "state": "waiting", "topic": "" });
        let page = board.call("messages", json!({ "filter": filter, "limit": 500 })).await;
        let away = |row: &Value| row["topic"] == "agent:absent";
        page["rows"].as_array().unwrap().iter().all(away).then_some(())
    })
    .await;
}

/// Every message with its whole life.
async fn all_lives(board: &Board) -> Vec<Value> {
    let mut lives = Vec::new();
    let mut query = json!({ "filter": {}, "limit": 500 });
    loop {
        let page = board.call("messages", query.clone()).await;
        for row in page["rows"].as_array().unwrap() {
            lives.push(board.call("message", json!({ "id": row["id"] })).await);
        }
        match &page["next"] {
            Value::Null => return lives,
            next => query["before"] = next.clone(),
        }
    }
}
