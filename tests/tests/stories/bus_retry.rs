//! Asking again: what was not processed the first time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::peer::Peer;

/// Short times, so that a story need not be long.
const QUICK: &str = "[delivery]\nbackoff_ms = 40\ntimeout_ms = 150";

fn job(topic: &str) -> Value {
    json!({ "topic": topic, "payload": { "type": "job" } })
}

async fn send(sender: &mut Peer, params: Value) -> Value {
    sender.ok("sendMessage", params).await
}

/// The one message there is, with its whole life.
async fn life(board: &Board) -> Value {
    let row = board.messages().await.pop().unwrap();
    board.call("message", json!({ "id": row["id"] })).await
}

#[tokio::test]
async fn one_that_asks_for_it_is_asked_again_when_it_said_and_the_sender_is_told() {
    let board = Board::with(QUICK).await;
    let (mut sender, mut worker) = (board.agent("sender").await, board.agent("worker").await);
    worker.subscribe("agent:worker").await;
    let asked = sender.ask("sendMessage", job("agent:worker")).await;
    let first = worker.delivery().await;
    let not_yet = json!({ "processed": false, "should_retry": true, "retry_seconds": 0.3, "message": "warming up" });
    worker.answer(&first, not_yet).await;
    let since = Instant::now();
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    assert_eq!((&result["success"], &result["accepted"]), (&json!(true), &json!(true)));
    let ack = &result["acks"][0];
    assert_eq!((&ack["processed"], &ack["retryScheduled"]), (&json!(false), &json!(true)));
    assert_eq!((&ack["retrySeconds"], &ack["message"]), (&json!(0.3), &json!("warming up")));
    // The sender is told before the attempt is on disk.
    eventually("the console shows when", async || {
        let row = board.newest_in_state("waiting").await;
        row["retryAt"].is_string().then_some(())
    })
    .await;

    let second = worker.process().await;
    assert!(since.elapsed() >= Duration::from_millis(300), "not before it said");
    assert_eq!(second["params"]["messageId"], first["params"]["messageId"]);
    assert_eq!(second["params"]["payload"], first["params"]["payload"]);
    board.newest_in_state("processed").await;
    let life = life(&board).await;
    let outcomes: Vec<_> = life["deliveries"][0]["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| (attempt["number"].clone(), attempt["outcome"].clone()))
        .collect();
    assert_eq!(outcomes, [(json!(1), json!("declined")), (json!(2), json!("processed"))]);
    assert_eq!(life["deliveries"][0]["retryAt"], Value::Null);
}

#[tokio::test]
async fn after_three_attempts_it_is_a_dead_letter_that_says_why() {
    let board = Board::with(QUICK).await;
    let mut sender = board.agent("sender").await;
    let again = json!({ "processed": false, "shouldRetry": true, "message": "no luck" });
    let cases = [
        ("gaveUp", "declined", Some(again)),
        ("invalidAnswer", "invalidAnswer", Some(json!({ "mood": "fine" }))),
        ("timedOut", "timedOut", None),
    ];
    for (reason, outcome, answer) in cases {
        let mut worker = board.agent("worker").await;
        worker.subscribe("jobs").await;
        let asked = sender.ask("sendMessage", job("jobs")).await;
        for _ in 0..3 {
            let delivery = worker.delivery().await;
            if let Some(answer) = &answer {
                worker.answer(&delivery, answer.clone()).await;
            }
        }
        let result = sender.response_to(&json!(asked)).await["result"].clone();
        assert_eq!(result["acks"][0]["retryScheduled"], true, "{reason}: {result}");
        assert_eq!(result["acks"].as_array().unwrap().len(), 1, "one ack for one recipient");
        let row = board.newest_in_state("dead").await;
        let life = board.call("message", json!({ "id": row["id"] })).await;
        assert_eq!(life["letter"]["reason"], reason);
        let attempts = life["deliveries"][0]["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 3);
        assert!(attempts.iter().all(|one| one["outcome"] == outcome), "{attempts:?}");
        worker.vanish();
        board.is_away("worker").await;
    }
}

#[tokio::test]
async fn one_that_breaks_down_on_a_message_each_time_gets_it_three_times() {
    let board = Board::with(QUICK).await;
    let mut sender = board.agent("sender").await;
    board.agent("worker").await.vanish();
    send(&mut sender, job("agent:worker")).await;
    for _ in 0..3 {
        let mut worker = board.agent("worker").await;
        worker.subscribe("agent:worker").await;
        worker.delivery().await;
        worker.vanish();
        board.is_away("worker").await;
    }
    let row = board.newest_in_state("dead").await;
    let life = board.call("message", json!({ "id": row["id"] })).await;
    assert_eq!(life["letter"]["reason"], "agentGone");
    assert_eq!(life["deliveries"][0]["attempts"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn one_that_processes_settles_the_message_though_a_newer_one_wanted_it_later() {
    let board = Board::with(QUICK).await;
    let mut sender = board.agent("sender").await;
    let (mut older, mut newer) = (board.agent("older").await, board.agent("newer").await);
    older.subscribe("jobs").await;
    newer.subscribe("job*").await;
    let asked = sender.ask("sendMessage", job("jobs")).await;
    let delivery = newer.delivery().await;
    let later = json!({ "processed": false, "should_retry": true, "retry_seconds": 0.1 });
    newer.answer(&delivery, later).await;
    older.process().await;
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    assert_eq!(result["acks"][0]["retryScheduled"], false, "nothing is left to be tried");
    assert_eq!(result["acks"][1]["processed"], true);
    board.newest_in_state("processed").await;
    let other = sender.ask("sendMessage", job("jobs")).await;
    let next = newer.process().await;
    assert_ne!(next["params"]["messageId"], delivery["params"]["messageId"], "not asked again");
    sender.response_to(&json!(other)).await;
}

#[tokio::test]
async fn a_late_answer_counts_if_the_message_was_processed_after_all() {
    let board = Board::with("[delivery]\nbackoff_ms = 60000\ntimeout_ms = 100").await;
    let (mut sender, mut slow) = (board.agent("sender").await, board.agent("slow").await);
    slow.subscribe("jobs").await;
    let asked = sender.ask("sendMessage", job("jobs")).await;
    let delivery = slow.delivery().await;
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    assert_eq!(result["acks"][0]["message"], "no answer within 0.1 s");
    slow.answer(&delivery, json!({ "processed": true })).await;
    board.newest_in_state("processed").await;
}

#[tokio::test]
async fn retries_go_on_after_a_restart_with_the_attempts_that_were_made() {
    let board = Board::with("[delivery]\nattempts = 3\nbackoff_ms = 30").await;
    let (mut sender, mut worker) = (board.agent("sender").await, board.agent("worker").await);
    worker.subscribe("jobs").await;
    let asked = sender.ask("sendMessage", job("jobs")).await;
    let later = json!({ "processed": false, "should_retry": true, "retry_seconds": 1 });
    let delivery = worker.delivery().await;
    worker.answer(&delivery, later.clone()).await;
    sender.response_to(&json!(asked)).await;
    let folder = board.stop().await;

    let board = Board::reopen(folder, "[delivery]\nattempts = 3\nbackoff_ms = 30").await;
    assert_eq!(board.totals().await["waiting"], 1);
    let mut worker = board.agent("worker").await;
    worker.subscribe("jobs").await;
    for _ in 0..2 {
        let again = worker.delivery().await;
        assert_eq!(again["params"]["messageId"], delivery["params"]["messageId"]);
        let soon = json!({ "processed": false, "should_retry": true });
        worker.answer(&again, soon).await;
    }
    board.newest_in_state("dead").await;
    let life = life(&board).await;
    assert_eq!(life["letter"]["reason"], "gaveUp");
    assert_eq!(life["deliveries"][0]["attempts"].as_array().unwrap().len(), 3, "three in all");
}

#[tokio::test]
async fn an_observer_that_asks_for_it_is_told_again_though_the_message_is_settled() {
    let board = Board::with(QUICK).await;
    let mut sender = board.agent("sender").await;
    let (mut worker, mut audit) = (board.agent("worker").await, board.agent("audit").await);
    worker.subscribe("jobs").await;
    audit.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;
    let asked = sender.ask("sendMessage", job("jobs")).await;
    let seen = audit.delivery().await;
    audit.answer(&seen, json!({ "processed": false, "should_retry": true })).await;
    worker.process().await;
    sender.response_to(&json!(asked)).await;
    assert_eq!(audit.process().await["params"]["messageId"], seen["params"]["messageId"]);
    eventually("both deliveries are processed", async || {
        let life = life(&board).await;
        let deliveries = life["deliveries"].as_array().unwrap().clone();
        deliveries.iter().all(|one| one["state"] == "processed").then_some(())
    })
    .await;
    assert_eq!(board.totals().await["processed"], 1);
}

#[tokio::test]
async fn a_message_whose_time_runs_out_is_a_dead_letter_of_its_own_kind() {
    let board = Board::with("[limits]\nin_flight = 1").await;
    let mut sender = board.agent("sender").await;
    board.agent("away").await.vanish();
    board.is_away("away").await;
    let mut busy = board.agent("busy").await;
    busy.subscribe("agent:busy").await;
    sender.ask("sendMessage", job("agent:busy")).await;
    let in_hand = busy.delivery().await;
    for to in ["agent:away", "agent:busy"] {
        let short = json!({ "topic": to, "ttl_seconds": 0.1, "payload": { "type": "job" } });
        let result = send(&mut sender, short).await;
        let expired = eventually("it expires", async || {
            let rows = board.messages().await;
            rows.into_iter()
                .find(|row| row["id"] == result["messageId"] && row["state"] == "expired")
        })
        .await;
        assert!(expired["error"].as_str().unwrap().contains("time ran out"), "{expired}");
    }
    busy.answer(&in_hand, json!({ "processed": true })).await;
    let page = board.call("deadLetters", json!({ "filter": {}, "limit": 10 })).await;
    assert_eq!(page["rows"].as_array().unwrap().len(), 2);
    assert!(page["rows"].as_array().unwrap().iter().all(|row| row["reason"] == "expired"));
    assert_eq!(board.totals().await["expired"], 2);
    let wrong = json!({ "topic": "x", "ttl_seconds": 0, "payload": { "type": "job" } });
    assert_eq!(sender.refused("sendMessage", wrong).await.0, -32602);
}

#[tokio::test]
async fn the_urgent_is_served_first_and_what_waits_long_moves_up() {
    let settings =
        "[limits]\nin_flight = 1\n[delivery]\nescalate_high_ms = 300\nescalate_urgent_ms = 60000";
    let board = Board::with(settings).await;
    let (mut sender, mut worker) = (board.agent("sender").await, board.agent("worker").await);
    worker.subscribe("jobs").await;
    let say = |n: u32, priority: &str| json!({ "topic": "jobs", "priority": priority, "payload": { "type": "job", "n": n } });
    sender.ask("sendMessage", say(0, "normal")).await;
    let in_hand = worker.delivery().await;
    let order = [(1, "low"), (2, "normal"), (3, "HIGH"), (4, "urgent"), (5, "normal")];
    for (n, priority) in order {
        sender.ask("sendMessage", say(n, priority)).await;
    }
    sender.ok("ping", json!({})).await;
    worker.answer(&in_hand, json!({ "processed": true })).await;
    let mut served = Vec::new();
    for _ in order {
        served.push(worker.process().await["params"]["payload"]["n"].as_u64().unwrap());
    }
    assert_eq!(served, [4, 3, 2, 5, 1]);

    sender.ask("sendMessage", say(6, "normal")).await;
    let in_hand = worker.delivery().await;
    sender.ask("sendMessage", say(7, "normal")).await;
    sender.ok("ping", json!({})).await;
    let since = Instant::now();
    eventually("it has waited long", async || {
        (since.elapsed() > Duration::from_millis(320)).then_some(())
    })
    .await;
    sender.ask("sendMessage", say(8, "high")).await;
    sender.ok("ping", json!({})).await;
    worker.answer(&in_hand, json!({ "processed": true })).await;
    assert_eq!(worker.process().await["params"]["payload"]["n"], 7, "it counts as high by now");
    assert_eq!(worker.process().await["params"]["payload"]["n"], 8);
    let wrong = json!({ "topic": "jobs", "priority": "soon", "payload": { "type": "job" } });
    assert_eq!(sender.refused("sendMessage", wrong).await.0, -32602);
}

#[tokio::test]
async fn a_late_no_to_the_first_attempt_is_no_answer_to_the_second() {
    let board = Board::with("[delivery]\nbackoff_ms = 10\ntimeout_ms = 150").await;
    let (mut sender, mut slow) = (board.agent("sender").await, board.agent("slow").await);
    slow.subscribe("jobs").await;
    sender.ask("sendMessage", job("jobs")).await;
    let (first, second) = (slow.delivery().await, slow.delivery().await);
    assert_eq!(first["params"]["messageId"], second["params"]["messageId"]);
    assert_ne!(first["id"], second["id"]);
    slow.answer(&first, json!({ "processed": false })).await;
    slow.answer(&second, json!({ "processed": true })).await;
    board.newest_in_state("processed").await;
}

#[tokio::test]
async fn one_that_listens_in_another_way_by_then_is_asked_again_all_the_same() {
    let board = Board::with(QUICK).await;
    let mut sender = board.agent("sender").await;
    for topic in ["jobs", "agent:worker"] {
        let mut worker = board.agent("worker").await;
        worker.subscribe(topic).await;
        sender.ask("sendMessage", job(topic)).await;
        let delivery = worker.delivery().await;
        let later = json!({ "processed": false, "should_retry": true, "retry_seconds": 0.2 });
        worker.answer(&delivery, later).await;
        worker.ok("subscribe", json!({ "topic": topic, "policy": "continueAll" })).await;
        worker.process().await;
        board.newest_in_state("processed").await;
        worker.vanish();
        board.is_away("worker").await;
    }
}

#[tokio::test]
async fn what_is_to_be_tried_again_counts_as_a_queue() {
    let board = Board::with("[limits]\nqueue = 3").await;
    let (mut sender, mut worker) = (board.agent("sender").await, board.agent("worker").await);
    worker.subscribe("jobs").await;
    let hour = json!({ "processed": false, "should_retry": true, "retry_seconds": 3600 });
    for _ in 0..3 {
        let asked = sender.ask("sendMessage", job("jobs")).await;
        let delivery = worker.delivery().await;
        worker.answer(&delivery, hour.clone()).await;
        sender.response_to(&json!(asked)).await;
    }
    assert_eq!(sender.refused("sendMessage", job("jobs")).await.0, -32014);
}

#[tokio::test]
async fn an_agent_that_left_with_its_message_gets_it_back_however_it_listens_now() {
    let board = Board::with(QUICK).await;
    let (mut sender, mut worker) = (board.agent("sender").await, board.agent("worker").await);
    worker.subscribe("agent:worker").await;
    sender.ask("sendMessage", job("agent:worker")).await;
    worker.delivery().await;
    worker.vanish();
    board.is_away("worker").await;
    eventually("it waits for its agent", async || {
        let row = board.messages().await.pop()?;
        let due = row["retryAt"].as_str().and_then(switchboard_model::Timestamp::parse_iso);
        due.is_some_and(|at| at < switchboard_broker::now()).then_some(())
    })
    .await;
    let mut worker = board.agent("worker").await;
    let own = json!({ "topic": "agent:worker", "policy": "continueAll" });
    worker.ok("subscribe", own).await;
    worker.process().await;
    board.newest_in_state("processed").await;
}
