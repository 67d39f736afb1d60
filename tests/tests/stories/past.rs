//! How things stood before, and what became of what was sent again.

use serde_json::{Value, json};
use switchboard_console::api::Watch;
use tempfile::TempDir;

use crate::board::{Board, PATIENCE, eventually};
use crate::collab_agent::CollabAgent;

fn now() -> Value {
    serde_json::to_value(switchboard_broker::now()).unwrap()
}

async fn moment(board: &Board, at: &Value) -> Value {
    board.call("moment", json!({ "at": at })).await
}

fn of(moment: &Value, id: &str) -> Option<(String, u64)> {
    let agents = moment["agents"].as_array().unwrap();
    let one = agents.iter().find(|one| one["id"] == id)?;
    Some((one["status"].as_str().unwrap().to_owned(), one["queued"].as_u64().unwrap()))
}

fn ready(queued: u64) -> Option<(String, u64)> {
    Some(("ready".to_owned(), queued))
}

fn gone(queued: u64) -> Option<(String, u64)> {
    Some(("unavailable".to_owned(), queued))
}

/// Waits until what is on disk says this of the present.
async fn now_when(board: &Board, id: &str, wanted: Option<(String, u64)>) -> Value {
    eventually(&format!("{id} is {wanted:?}"), async || {
        let at = now();
        (of(&moment(board, &at).await, id) == wanted).then_some(at)
    })
    .await
}

#[tokio::test]
async fn a_moment_tells_who_was_there_what_waited_and_which_rules_held() {
    let board = Board::start().await;
    let before = now();
    let mut worker = board.agent("worker").await;
    worker.subscribe("agent:worker").await;
    let mut sender = board.agent("sender").await;
    let here = now_when(&board, "worker", ready(0)).await;
    worker.vanish();
    board.is_away("worker").await;
    let send = json!({ "topic": "agent:worker", "payload": { "type": "t" } });
    sender.ask("sendMessage", send).await;
    let waiting = now_when(&board, "worker", gone(1)).await;

    let deny = json!({ "edits": [
        { "caller": "sender", "provider": "worker", "capability": "*", "effect": "deny" },
    ] });
    board.call("editRules", deny).await;
    let ruled = now();
    let lost = json!({ "topic": "nobody", "payload": { "type": "t" } });
    sender.ok("sendMessage", lost).await;
    let dead = eventually("the letter lies there", async || {
        let at = now();
        (moment(&board, &at).await["openLetters"] == 1).then_some(at)
    })
    .await;

    let board = Board::reopen(board.stop().await, "").await;
    assert_eq!(of(&moment(&board, &before).await, "worker"), None, "nobody knew it");
    let then = moment(&board, &here).await;
    assert_eq!((of(&then, "worker"), of(&then, "sender")), (ready(0), ready(0)));
    let then = moment(&board, &waiting).await;
    assert_eq!((of(&then, "worker"), of(&then, "sender")), (gone(1), ready(0)));
    assert_eq!((&then["rules"], &then["openLetters"]), (&json!([]), &json!(0)));
    let then = moment(&board, &ruled).await;
    assert_eq!(then["rules"][0]["effect"], "deny", "{then}");
    assert_eq!(moment(&board, &dead).await["openLetters"], 1);
    let then = moment(&board, &now()).await;
    assert_eq!(of(&then, "sender"), gone(0), "it went with the broker");
    assert_eq!(of(&then, "worker"), gone(1), "what waited waits still");
}

/// Reads what the feed says until something is found in it.
async fn told<T>(board: &Board, find: impl Fn(&Value) -> Option<T>, act: impl Future) -> T {
    let mut feed = board.console().watch(Watch::default());
    feed.next().await;
    act.await;
    let told = async {
        loop {
            let event = serde_json::to_value(feed.next().await.unwrap()).unwrap();
            if let Some(found) = find(&event) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("the feed does not say so")
}

/// Ten letters, five of which somebody takes when they are sent again.
async fn replay_ten(board: &Board) -> Value {
    let mut sender = board.agent("sender").await;
    for n in 0..10 {
        let topic = if n % 2 == 0 { "good" } else { "bad" };
        let lost = json!({ "topic": topic, "payload": { "type": "t", "n": n } });
        sender.ok("sendMessage", lost).await;
    }
    let mut worker = board.agent("worker").await;
    worker.subscribe("good").await;
    eventually("ten letters lie there", async || {
        let page = board.call("deadLetters", json!({ "filter": {}, "limit": 1 })).await;
        (page["matching"] == 10).then_some(())
    })
    .await;
    let job = board.call("replayMany", json!({ "filter": {} })).await;
    for _ in 0..5 {
        worker.process().await;
    }
    eventually("all have come to an end", async || {
        let jobs = board.call("jobs", json!({})).await;
        let job = jobs["jobs"].as_array()?.iter().find(|one| one["id"] == job["id"])?.clone();
        (job["status"] == "done" && job["processed"] == 5 && job["diedAgain"] == 5).then_some(job)
    })
    .await
}

#[tokio::test]
async fn a_job_says_what_became_of_what_it_sent_also_after_a_restart() {
    let board = Board::start().await;
    let job = replay_ten(&board).await;
    let folder: TempDir = board.stop().await;
    let board = Board::reopen(folder, "").await;
    let jobs = board.call("jobs", json!({})).await;
    let again = &jobs["jobs"][0];
    assert_eq!(again["id"], job["id"]);
    assert_eq!((&again["processed"], &again["diedAgain"]), (&json!(5), &json!(5)));
}

#[tokio::test]
async fn a_replayed_message_that_dies_again_is_told_and_counted_while_one_watches() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    let lost = json!({ "topic": "nobody", "payload": { "type": "t" } });
    let old = sender.ok("sendMessage", lost).await["messageId"].clone();
    eventually("it is kept", async || {
        let letters = board.call("deadLetters", json!({ "filter": {}, "limit": 1 })).await;
        (letters["matching"] == 1).then_some(())
    })
    .await;
    let find = |event: &Value| event["diedAgain"].get(0).cloned();
    let died = told(&board, find, board.call("replay", json!({ "id": old }))).await;
    assert_eq!((&died["replayOf"], &died["topic"]), (&old, &json!("nobody")));
    assert_ne!(died["id"], old);
    assert!(died["error"].is_string(), "{died}");

    let find = |event: &Value| {
        let jobs = event["jobs"].as_array()?;
        jobs.iter().any(|job| job["diedAgain"] == 1).then_some(())
    };
    told(&board, find, board.call("replayMany", json!({ "filter": {} }))).await;
}

#[tokio::test]
async fn whoever_watches_hears_of_sessions() {
    let board = Board::start().await;
    let mut agent = CollabAgent::register(&board, "a", json!([])).await;
    let open = json!({ "participants": ["a"], "topic": "plan", "sharedState": {} });
    let find = |event: &Value| (event["sessions"] == true).then_some(());
    told(&board, find, async { agent.router("openSession", open).await.unwrap() }).await;
}
