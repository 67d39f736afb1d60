//! `kill -9` under load: what was acknowledged is on disk, and nothing is unaccounted for.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use bub::{Bus, ClientInfo};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Payload};
use tempfile::tempdir;

use crate::board::{Board, eventually};
use crate::program::Program;

const PUBLISHERS: usize = 4;
const KILLS: usize = 5;
/// Acknowledged between two kills, at least.
const ACKNOWLEDGED: usize = 300;

async fn connect(url: &str, id: &str) -> Bus {
    let agent = AgentId::parse(id).unwrap();
    Bus::connect(url, &agent, ClientInfo::new("story", "0.2.0"), None).await.unwrap()
}

/// Publishes until the broker is gone, and notes what was acknowledged.
async fn publish(url: String, id: String, acknowledged: Arc<Mutex<HashSet<String>>>) {
    let bus = connect(&url, &id).await;
    for n in 0.. {
        // Some for an agent that is away, some for one that listens, some for nobody.
        let topic = ["agent:absent", "heard", "nowhere"][n % 3];
        let payload = Payload::trusted(json!({ "type": "t", "n": n }).to_string());
        match bus.send(topic, &payload).await {
            Ok(result) => acknowledged.lock().unwrap().extend(result.message_id),
            Err(_) => return,
        }
    }
}

async fn listen(url: String) {
    let bus = connect(&url, "listener").await;
    bus.subscribe("heard", None).await.unwrap();
    while let Some(delivery) = bus.next_delivery().await {
        if delivery.answer(bub::Answer::processed()).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_message_is_still_there_after_kill_9_under_load() {
    let folder = tempdir().unwrap();
    let acknowledged = Arc::new(Mutex::new(HashSet::new()));
    for round in 0..KILLS {
        let program = Program::start(folder.path()).await;
        connect(&program.url, "absent").await.close().await;
        let mut tasks = vec![tokio::spawn(listen(program.url.clone()))];
        for publisher in 0..PUBLISHERS {
            let id = format!("publisher-{publisher}");
            tasks.push(tokio::spawn(publish(program.url.clone(), id, acknowledged.clone())));
        }
        let enough = (round + 1) * ACKNOWLEDGED;
        eventually("enough are acknowledged", async || {
            (acknowledged.lock().unwrap().len() >= enough).then_some(())
        })
        .await;
        program.kill().await;
        for task in tasks {
            task.await.unwrap();
        }
    }

    let board = Board::reopen(folder, "").await;
    let kept = all_ids(&board).await;
    let acknowledged = acknowledged.lock().unwrap().clone();
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    println!("{} acknowledged over {KILLS} kills, {} lost", acknowledged.len(), lost.len());
    assert!(lost.is_empty(), "lost: {lost:?}");
    let totals = board.totals().await;
    let sum: u64 = ["processed", "waiting", "dead", "discarded", "expired"]
        .iter()
        .map(|state| totals[state].as_u64().unwrap())
        .sum();
    assert_eq!(totals["accepted"].as_u64().unwrap(), sum, "{totals}");
    assert_eq!(kept.len() as u64, sum, "what the totals count is what is kept");
}

async fn all_ids(board: &Board) -> HashSet<String> {
    let mut ids = HashSet::new();
    let mut query = json!({ "filter": {}, "limit": 500 });
    loop {
        let page = board.call("messages", query.clone()).await;
        let rows = page["rows"].as_array().unwrap();
        ids.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        match &page["next"] {
            Value::Null => return ids,
            next => query["before"] = next.clone(),
        }
    }
}
