//! Permissions that change while messages flow: not one passes wrongly.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::lobby_agent::LobbyAgent;

/// How often the permission is given and taken, and by how many it is used meanwhile.
const TURNS: usize = 30;
const ASKERS: usize = 4;

/// What all askers know: in odd turns they are denied, and such a turn begins only when the denial has
/// been acknowledged.
#[derive(Default)]
struct Traffic {
    turn: AtomicUsize,
    stop: AtomicBool,
    allowed: AtomicUsize,
    denied: AtomicUsize,
    /// The turn that each asker is in; what it asked before has been answered.
    seen: [AtomicUsize; ASKERS],
}

/// Asks again and again, each time saying in which turn it did. Returns how often.
async fn ask(n: usize, mut asker: LobbyAgent, traffic: Arc<Traffic>) -> usize {
    let mut sent = 0;
    while !traffic.stop.load(Ordering::SeqCst) {
        let turn = traffic.turn.load(Ordering::SeqCst);
        traffic.seen[n].store(turn, Ordering::SeqCst);
        let payload = json!({ "capability_name": "x", "turn": turn });
        asker.request("p", &format!("{turn}-{sent}"), payload).await;
        sent += 1;
        let answer = asker.hear("RESPONSE").await;
        let passed = answer["payload"]["status"] == "success";
        let counter = if passed { &traffic.allowed } else { &traffic.denied };
        counter.fetch_add(1, Ordering::SeqCst);
    }
    sent
}

/// Answers everything, and remembers the turns.
async fn answer(mut provider: LobbyAgent) -> Vec<u64> {
    let mut heard = Vec::new();
    loop {
        let request = provider.hear("REQUEST").await;
        if request["conversation_id"] == "last" {
            return heard;
        }
        heard.push(request["payload"]["turn"].as_u64().unwrap());
        provider.respond(&request, json!({ "status": "success" })).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_after_a_denial_was_acknowledged_never_arrives() {
    let board = Board::start().await;
    let answering = tokio::spawn(answer(LobbyAgent::register(&board, "p", json!(["x"])).await));
    let traffic = Arc::new(Traffic::default());
    let mut asking = Vec::new();
    for n in 0..ASKERS {
        let asker = LobbyAgent::register(&board, &format!("a-{n}"), json!([])).await;
        asking.push(tokio::spawn(ask(n, asker, traffic.clone())));
    }
    let rule = async |effect: Value| {
        let edits =
            json!([{ "caller": "a-*", "provider": "p", "capability": "x", "effect": effect }]);
        board.call("editRules", json!({ "edits": edits })).await;
    };
    let more = async |counter: &AtomicUsize| {
        let before = counter.load(Ordering::SeqCst);
        eventually("more of them", async || {
            (counter.load(Ordering::SeqCst) >= before + 3 * ASKERS).then_some(())
        })
        .await;
    };
    for _ in 0..TURNS {
        more(&traffic.allowed).await;
        rule(json!("deny")).await;
        traffic.turn.fetch_add(1, Ordering::SeqCst);
        more(&traffic.denied).await;
        let next = traffic.turn.fetch_add(1, Ordering::SeqCst) + 1;
        eventually("nobody asks in the denied turn any more", async || {
            let left = |seen: &AtomicUsize| seen.load(Ordering::SeqCst) >= next;
            traffic.seen.iter().all(left).then_some(())
        })
        .await;
        rule(Value::Null).await;
    }
    traffic.stop.store(true, Ordering::SeqCst);
    let mut sent = 0;
    for one in asking {
        sent += one.await.unwrap();
    }
    let mut last = LobbyAgent::register(&board, "z", json!([])).await;
    last.request("p", "last", json!({ "capability_name": "x" })).await;
    let heard = answering.await.unwrap();
    let wrong = heard.iter().filter(|turn| **turn % 2 == 1).count();
    println!(
        "{sent} asked while the rule changed {} times, {} passed, {wrong} wrongly",
        2 * TURNS,
        heard.len()
    );
    assert_eq!(wrong, 0, "of {sent} asked and {} that passed", heard.len());
}
