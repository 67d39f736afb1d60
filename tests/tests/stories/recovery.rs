//! `kill -9` at one chosen moment: what was on its way goes on where it was.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::board::eventually;
use crate::peer::Peer;
use crate::program::Program;

/// A broker that can be killed and started again on the same folder.
struct Broker {
    program: Program,
    folder: TempDir,
}

impl Broker {
    async fn start(settings: &str) -> Self {
        let folder = tempdir().unwrap();
        let text = format!("{settings}\n[discovery]\nmdns = false\n");
        std::fs::write(folder.path().join("switchboard.toml"), text).unwrap();
        let program = Program::start(folder.path()).await;
        Self { program, folder }
    }

    async fn kill_and_start(self) -> Self {
        self.program.kill().await;
        let program = Program::start(self.folder.path()).await;
        Self { program, folder: self.folder }
    }

    async fn agent(&self, id: &str) -> Peer {
        let mut peer = Peer::connect(&self.program.url).await;
        peer.initialize(id).await;
        peer
    }

    async fn listener(&self, id: &str, topic: &str) -> Peer {
        let mut peer = self.agent(id).await;
        peer.subscribe(topic).await;
        peer
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        bub::Console::open(self.folder()).unwrap().call(method, &params).await.unwrap()
    }

    async fn rows(&self) -> Vec<Value> {
        let page = self.call("messages", json!({ "filter": {}, "limit": 500 })).await;
        page["rows"].as_array().unwrap().clone()
    }

    async fn all_in_state(&self, state: &str, count: usize) {
        eventually(&format!("{count} are {state}"), async || {
            let rows = self.rows().await;
            (rows.iter().filter(|row| row["state"] == state).count() == count).then_some(())
        })
        .await;
    }

    async fn is_away(&self, id: &str) {
        eventually(&format!("{id} is away"), async || {
            let agents = self.call("agents", json!({})).await["agents"].as_array().unwrap().clone();
            agents.iter().any(|one| one["id"] == id && one["connections"] == 0).then_some(())
        })
        .await;
    }
}

fn job(topic: &str, n: u32) -> Value {
    json!({ "topic": topic, "payload": { "type": "job", "n": n } })
}

async fn send(sender: &mut Peer, topic: &str, numbers: std::ops::Range<u32>) {
    for n in numbers {
        sender.ask("sendMessage", job(topic, n)).await;
    }
    // Carried out in order, so that what came before is accepted.
    sender.ok("ping", json!({})).await;
}

fn number(delivery: &Value) -> u64 {
    delivery["params"]["payload"]["n"].as_u64().unwrap()
}

async fn process(peer: &mut Peer, count: usize) -> Vec<u64> {
    let mut seen = Vec::new();
    for _ in 0..count {
        seen.push(number(&peer.process().await));
    }
    seen
}

#[tokio::test]
async fn what_was_in_line_when_its_agent_left_is_there_after_a_restart() {
    let broker = Broker::start("[limits]\nin_flight = 1\n[delivery]\nbackoff_ms = 50").await;
    let mut sender = broker.agent("sender").await;
    let mut worker = broker.listener("worker", "agent:worker").await;
    send(&mut sender, "agent:worker", 0..5).await;
    worker.delivery().await;
    worker.vanish();
    broker.is_away("worker").await;
    broker.all_in_state("waiting", 5).await;
    let broker = broker.kill_and_start().await;
    let mut worker = broker.listener("worker", "agent:worker").await;
    let mut seen = process(&mut worker, 5).await;
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    broker.all_in_state("processed", 5).await;
}

#[tokio::test]
async fn a_retry_in_line_when_its_agent_leaves_waits_for_it() {
    let broker = Broker::start("[limits]\nin_flight = 1").await;
    let mut sender = broker.agent("sender").await;
    let mut worker = broker.listener("worker", "agent:worker").await;
    send(&mut sender, "agent:worker", 0..2).await;
    let first = worker.delivery().await;
    let soon = json!({ "processed": false, "should_retry": true, "retry_seconds": 0 });
    worker.answer(&first, soon).await;
    assert_eq!(number(&worker.delivery().await), 1, "the retry stands behind it");
    worker.vanish();
    broker.is_away("worker").await;
    let mut worker = broker.listener("worker", "agent:worker").await;
    let mut seen = process(&mut worker, 2).await;
    seen.sort_unstable();
    assert_eq!(seen, [0, 1]);
    broker.all_in_state("processed", 2).await;
}

#[tokio::test]
async fn the_order_of_first_attempts_holds_over_a_restart() {
    let broker = Broker::start("[limits]\nin_flight = 1").await;
    let mut sender = broker.agent("sender").await;
    let mut worker = broker.listener("worker", "agent:worker").await;
    send(&mut sender, "agent:worker", 0..5).await;
    worker.delivery().await;
    broker.all_in_state("waiting", 5).await;
    let broker = broker.kill_and_start().await;
    let mut sender = broker.agent("sender").await;
    send(&mut sender, "agent:worker", 5..8).await;
    let mut worker = broker.listener("worker", "agent:worker").await;
    assert_eq!(process(&mut worker, 8).await, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn what_died_after_a_restart_stays_dead_after_the_next() {
    let settings = "[delivery]\ntimeout_ms = 300\nbackoff_ms = 50";
    let broker = Broker::start(settings).await;
    let mut sender = broker.agent("sender").await;
    let mut worker = broker.listener("worker", "jobs").await;
    send(&mut sender, "jobs", 0..1).await;
    let delivery = worker.delivery().await;
    let later = json!({ "processed": false, "should_retry": true, "retry_seconds": 0.2 });
    worker.answer(&delivery, later).await;
    eventually("the retry is scheduled", async || {
        broker.rows().await.iter().any(|row| row["retryAt"].is_string()).then_some(())
    })
    .await;
    let broker = broker.kill_and_start().await;
    broker.all_in_state("dead", 1).await;
    let broker = broker.kill_and_start().await;
    let mut worker = broker.listener("worker", "jobs").await;
    let mut sender = broker.agent("sender").await;
    send(&mut sender, "jobs", 7..8).await;
    assert_eq!(process(&mut worker, 1).await, [7], "the dead one is not asked for");
    let letters = broker.call("deadLetters", json!({ "filter": {}, "limit": 10 })).await;
    assert_eq!(letters["rows"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_observer_is_told_of_what_was_processed_before_the_restart() {
    let broker = Broker::start("").await;
    let mut sender = broker.agent("sender").await;
    let mut worker = broker.listener("worker", "jobs").await;
    let mut audit = broker.agent("audit").await;
    audit.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;
    send(&mut sender, "jobs", 0..1).await;
    audit.delivery().await;
    worker.process().await;
    eventually("its processing is on disk", async || {
        let row = broker.rows().await.pop()?;
        let life = broker.call("message", json!({ "id": row["id"] })).await;
        let deliveries = life["deliveries"].as_array().unwrap().clone();
        deliveries.iter().any(|one| one["state"] == "processed").then_some(())
    })
    .await;
    let broker = broker.kill_and_start().await;
    broker.all_in_state("processed", 1).await;
    let mut worker = broker.listener("worker", "jobs").await;
    let mut audit = broker.agent("audit").await;
    audit.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;
    assert_eq!(process(&mut audit, 1).await, [0]);
    let mut sender = broker.agent("sender").await;
    send(&mut sender, "jobs", 1..2).await;
    assert_eq!(process(&mut worker, 1).await, [1], "the worker is not asked again");
}

#[tokio::test]
async fn a_default_handler_is_asked_anew_after_a_restart() {
    let broker = Broker::start("").await;
    let mut sender = broker.agent("sender").await;
    let mut handler = broker.listener("handler", "system:unrouted").await;
    // One that it has not answered, and one whose agent it had seen to.
    send(&mut sender, "tg:1", 0..1).await;
    handler.delivery().await;
    send(&mut sender, "tg:2", 1..2).await;
    handler.process().await;
    eventually("its answer is on disk", async || {
        let rows = broker.rows().await;
        let row = rows.iter().find(|row| row["topic"] == "tg:2")?.clone();
        let life = broker.call("message", json!({ "id": row["id"] })).await;
        (life["deliveries"][0]["state"] == "processed").then_some(())
    })
    .await;
    let broker = broker.kill_and_start().await;
    let mut handler = broker.listener("handler", "system:unrouted").await;
    let mut topics = Vec::new();
    for _ in 0..2 {
        let asked = handler.process().await;
        topics.push(asked["params"]["payload"]["topic"].as_str().unwrap().to_owned());
    }
    topics.sort_unstable();
    assert_eq!(topics, ["tg:1", "tg:2"]);
    let mut new = broker.listener("new", "tg:*").await;
    let mut seen = process(&mut new, 2).await;
    seen.sort_unstable();
    assert_eq!(seen, [0, 1]);
}

#[tokio::test]
async fn one_that_only_watches_and_comes_back_first_does_not_take_the_message() {
    let broker = Broker::start("[delivery]\nbackoff_ms = 10").await;
    let mut sender = broker.agent("sender").await;
    let mut worker = broker.listener("worker", "jobs").await;
    send(&mut sender, "jobs", 0..1).await;
    worker.delivery().await;
    broker.all_in_state("waiting", 1).await;
    let broker = broker.kill_and_start().await;
    let mut audit = broker.agent("audit").await;
    audit.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;
    let since = Instant::now();
    eventually("three attempts could have been made", async || {
        (since.elapsed() > Duration::from_millis(300)).then_some(())
    })
    .await;
    let mut worker = broker.listener("worker", "jobs").await;
    assert_eq!(process(&mut worker, 1).await, [0]);
    broker.all_in_state("processed", 1).await;
}

#[tokio::test]
async fn a_job_that_goes_on_after_a_restart_waits_for_those_it_sends_to() {
    let broker = Broker::start("").await;
    let mut sender = broker.agent("sender").await;
    send(&mut sender, "jobs", 0..20).await;
    broker.all_in_state("dead", 20).await;
    let mut worker = broker.listener("worker", "jobs").await;
    broker.call("replayMany", json!({ "filter": {}, "perSecond": 10 })).await;
    process(&mut worker, 2).await;
    let broker = broker.kill_and_start().await;
    let mut worker = broker.listener("worker", "jobs").await;
    let working = tokio::spawn(async move {
        loop {
            worker.process().await;
        }
    });
    broker.all_in_state("processed", 40).await;
    working.abort();
}
