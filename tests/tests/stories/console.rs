//! What the operator sees and does.

use serde_json::{Value, json};
use switchboard_console::Feed;
use switchboard_console::api::Watch;

use crate::board::{Board, PATIENCE, eventually};

async fn next(feed: &mut Feed) -> Value {
    let event = tokio::time::timeout(PATIENCE, feed.next()).await.expect("the feed says nothing");
    serde_json::to_value(event.expect("the feed ended")).unwrap()
}

/// The next event in which `find` finds something, and what it found.
async fn await_in<T>(feed: &mut Feed, find: impl Fn(&Value) -> Option<T>) -> T {
    loop {
        if let Some(found) = find(&next(feed).await) {
            return found;
        }
    }
}

fn watch(filter: &Value) -> Watch {
    serde_json::from_value(json!({ "filter": filter })).unwrap()
}

fn row_of<'a>(event: &'a Value, topic: &str) -> Option<&'a Value> {
    event["rows"].as_array()?.iter().find(|row| row["topic"] == topic)
}

#[tokio::test]
async fn a_feed_begins_with_a_snapshot_and_goes_on_in_batches_without_a_gap() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    sender.ok("sendMessage", json!({ "topic": "before", "payload": { "type": "t" } })).await;
    let mut feed = board.console().watch(Watch::default());
    let first = next(&mut feed).await;
    assert_eq!(first["type"], "snapshot");
    assert_eq!(first["totals"]["accepted"], 1);
    assert_eq!(first["agents"][0]["id"], "sender");
    assert_eq!(row_of(&first, "before").unwrap()["state"], "dead");

    sender.ok("sendMessage", json!({ "topic": "after", "payload": { "type": "t" } })).await;
    let mut seq = first["seq"].as_u64().unwrap();
    loop {
        let batch = next(&mut feed).await;
        assert_eq!(batch["type"], "batch");
        seq += 1;
        assert_eq!(batch["seq"], seq);
        if let Some(row) = row_of(&batch, "after") {
            assert_eq!(row["from"], "sender");
            break;
        }
    }
}

#[tokio::test]
async fn an_agent_appears_the_moment_it_registers_and_is_away_when_it_goes() {
    let board = Board::start().await;
    let mut feed = board.console().watch(Watch::default());
    next(&mut feed).await;
    let mut peer = board.agent("newcomer").await;
    peer.subscribe("inbound:*").await;
    let find = |status: &'static str| {
        move |event: &Value| {
            let agents = event["agents"].as_array()?;
            agents.iter().find(|one| one["id"] == "newcomer" && one["status"] == status).cloned()
        }
    };
    let view = await_in(&mut feed, find("ready")).await;
    assert_eq!(view["doors"], json!(["bus"]));
    peer.vanish();
    let view = await_in(&mut feed, find("unavailable")).await;
    assert_eq!(view["subscriptions"], json!([]));
}

#[tokio::test]
async fn a_message_that_was_shown_waiting_is_shown_to_move() {
    let board = Board::start().await;
    let mut feed = board.console().watch(Watch::default());
    let (mut sender, mut slow) = (board.agent("sender").await, board.agent("slow").await);
    slow.subscribe("x").await;
    sender.ask("sendMessage", json!({ "topic": "x", "payload": { "type": "t" } })).await;
    let delivery = slow.delivery().await;
    let seq = await_in(&mut feed, |event| {
        let row = row_of(event, "x")?;
        assert_eq!(row["state"], "waiting");
        row["seq"].as_u64()
    })
    .await;
    slow.answer(&delivery, json!({ "processed": true })).await;
    let moved = await_in(&mut feed, |event| {
        let moved = event["moved"].as_array()?;
        moved.iter().find(|one| one["seq"] == seq).cloned()
    })
    .await;
    assert_eq!((&moved["state"], &moved["to"]), (&json!("processed"), &json!("slow")));
}

#[tokio::test]
async fn a_filtered_feed_shows_what_passes_also_what_only_moves_into_it() {
    let board = Board::start().await;
    let mut dead = board.console().watch(watch(&json!({ "state": "dead" })));
    let mut words = board.console().watch(watch(&json!({ "text": "needle" })));
    let mut sender = board.agent("sender").await;
    let mut handler = board.agent("handler").await;
    handler.subscribe("good").await;
    let say = |topic: &str, text: &str| json!({ "topic": topic, "payload": { "type": "t", "text": text } });
    sender.ask("sendMessage", say("good", "hay")).await;
    handler.process().await;
    sender.ok("sendMessage", say("bad", "one needle here")).await;
    let shown = await_in(&mut dead, |event| event["rows"].as_array()?.first().cloned()).await;
    assert_eq!(shown["topic"], "bad");
    let shown = await_in(&mut words, |event| event["rows"].as_array()?.first().cloned()).await;
    assert_eq!(shown["topic"], "bad");
}

#[tokio::test]
async fn history_is_paged_without_gaps_and_searched_by_words() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    for n in 0..25 {
        let payload = json!({ "type": "t", "text": format!("word{n} common") });
        sender
            .ok("sendMessage", json!({ "topic": format!("topic-{n}"), "payload": payload }))
            .await;
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let mut query = json!({ "filter": {}, "limit": 10 });
        if let Some(before) = before {
            query["before"] = json!(before);
        }
        let page = board.call("messages", query).await;
        seen.extend(page["rows"].as_array().unwrap().iter().map(|row| row["topic"].clone()));
        before = page["next"].as_u64();
        if before.is_none() {
            break;
        }
    }
    let expected: Vec<Value> = (0..25).rev().map(|n| json!(format!("topic-{n}"))).collect();
    assert_eq!(seen, expected);
    let found = board
        .call(
            "messages",
            json!({ "filter": { "text": "word7 comm" }, "limit": 10, "payloads": true }),
        )
        .await;
    assert_eq!(found["rows"].as_array().unwrap().len(), 1);
    assert_eq!(found["rows"][0]["payload"]["text"], "word7 common");
}

#[tokio::test]
async fn the_operator_sends_a_message_and_hears_what_became_of_it() {
    let board = Board::start().await;
    let mut listener = board.agent("listener").await;
    listener.subscribe("x").await;
    let console = board.console();
    let sending = tokio::spawn(async move {
        let call = json!({ "method": "send", "params": { "topic": "x", "payload": "{\"n\":1}" } });
        console.call(call).await
    });
    assert_eq!(listener.process().await["params"]["from"], "operator");
    let result: Value = serde_json::from_str(sending.await.unwrap().unwrap().get()).unwrap();
    assert_eq!(result["state"], "processed");
    assert_eq!(result["acks"][0]["agent"], "listener");
    let wrong = json!({ "method": "send", "params": { "topic": "x", "payload": "{" } });
    let error = board.console().call(wrong).await.unwrap_err();
    assert!(error.message.contains("not valid JSON"), "{}", error.message);
}

#[tokio::test]
async fn the_demo_has_conversations_to_follow() {
    let board = Board::start().await;
    board.call("demo", json!({ "on": true })).await;
    eventually("a question of the demo with its answer", async || {
        let list = board.call("conversations", json!({ "limit": 10 })).await;
        let rows = list["rows"].as_array().unwrap().iter();
        rows.filter_map(|row| row["messages"].as_u64()).any(|many| many >= 3).then_some(())
    })
    .await;
}
