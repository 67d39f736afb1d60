//! What the bus door refuses, and how it says so.

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Error;

use crate::board::{Board, PATIENCE, eventually};

fn sized(bytes: usize) -> Value {
    json!({ "topic": "x", "payload": { "type": "t", "text": "x".repeat(bytes) } })
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_by_name_and_the_connection_goes_on() {
    let board = Board::with("[limits]\nmessage_bytes = 20000").await;
    let mut peer = board.agent("a").await;
    assert_eq!(peer.refused("sendMessage", sized(20_000)).await.0, -32013);
    assert_eq!(peer.ok("sendMessage", sized(19_000)).await["accepted"], true);
}

#[tokio::test]
async fn a_message_far_too_large_ends_the_connection() {
    let board = Board::with("[limits]\nmessage_bytes = 20000").await;
    let mut peer = board.agent("a").await;
    peer.ask("sendMessage", sized(100_000)).await;
    assert!(matches!(peer.closed().await, Some(1009) | None));
    board.agent("b").await.ok("ping", json!({})).await;
}

#[tokio::test]
async fn a_stranger_may_say_little_and_must_say_it_soon() {
    let board = Board::with("[limits]\npreauth_bytes = 1000\npreauth_ms = 200").await;
    let mut talker = board.connect().await;
    talker.say(format!(r#"{{"jsonrpc":"2.0","method":"{}","id":1}}"#, "x".repeat(1000))).await;
    assert_eq!(talker.hear().await.unwrap()["error"]["code"], -32013);
    talker.closed().await;
    let mut silent = board.connect().await;
    assert_eq!(silent.closed().await, Some(1008));
    let mut joined = board.agent("patient").await;
    // Longer than a stranger has; silence is fine for a friend.
    tokio::time::timeout(std::time::Duration::from_millis(300), joined.hear()).await.unwrap_err();
    joined.ok("ping", json!({})).await;
}

#[tokio::test]
async fn subscriptions_on_one_connection_are_limited() {
    let board = Board::with("[limits]\nsubscriptions = 3").await;
    let mut peer = board.agent("a").await;
    for n in 0..3 {
        peer.subscribe(&format!("topic-{n}")).await;
    }
    let response = peer.call("subscribe", json!({ "topic": "one-more" })).await;
    assert_eq!(response["error"]["code"], -32014, "{response}");
    assert!(response["error"]["data"]["retryAfterMs"].is_number());
    peer.ok("unsubscribe", json!({ "topic": "topic-0" })).await;
    peer.subscribe("one-more").await;
}

#[tokio::test]
async fn connections_beyond_the_limit_get_503_and_a_freed_place_is_free() {
    let board = Board::with("[limits]\nconnections = 2").await;
    let (one, _two) = (board.agent("one").await, board.agent("two").await);
    match connect_async(board.url()).await {
        Err(Error::Http(response)) => assert_eq!(response.status(), 503),
        other => panic!("not turned away: {other:?}"),
    }
    one.vanish();
    eventually("a place is free", async || connect_async(board.url()).await.ok()).await;
}

#[tokio::test]
async fn a_recipient_holds_no_more_than_it_may_and_its_queue_has_an_end() {
    let board = Board::with("[limits]\nin_flight = 2\nqueue = 3").await;
    let (mut sender, mut slow) = (board.agent("sender").await, board.agent("slow").await);
    slow.subscribe("x").await;
    for _ in 0..5 {
        sender.ask("sendMessage", sized(1)).await;
    }
    let refused = sender.call("sendMessage", sized(1)).await;
    assert_eq!(refused["error"]["code"], -32014, "two in flight, three waiting: {refused}");
    assert_eq!(refused["error"]["message"], "Busy");
    let (first, second) = (slow.delivery().await, slow.delivery().await);
    assert_ne!(first["id"], second["id"]);
    let nothing = tokio::time::timeout(std::time::Duration::from_millis(100), slow.hear()).await;
    assert!(nothing.is_err(), "a third came before one was answered");
    slow.answer(&first, json!({ "processed": true })).await;
    slow.answer(&second, json!({ "processed": true })).await;
    for _ in 0..3 {
        slow.process().await;
    }
    let totals = eventually("all are processed", async || {
        let totals = board.totals().await;
        (totals["processed"] == 5).then_some(totals)
    })
    .await;
    assert_eq!(totals["accepted"], 5, "what was refused was not accepted");
}

#[tokio::test]
async fn one_that_does_not_read_is_cut_off_and_slows_nobody() {
    let board = Board::with("[limits]\nwrite_ms = 300\nin_flight_bytes = 100000000").await;
    let (mut sender, mut stuck) = (board.agent("sender").await, board.agent("stuck").await);
    stuck.subscribe("heavy").await;
    let mut quick = board.agent("quick").await;
    quick.subscribe("light").await;
    // More than the socket's buffers hold, and nobody reads it.
    for _ in 0..40 {
        let mut heavy = sized(500_000);
        heavy["topic"] = json!("heavy");
        sender.ask("sendMessage", heavy).await;
    }
    let id =
        sender.ask("sendMessage", json!({ "topic": "light", "payload": { "type": "t" } })).await;
    quick.process().await;
    assert_eq!(sender.response_to(&json!(id)).await["result"]["success"], true);
    board.is_away("stuck").await;
}

#[tokio::test]
async fn a_stopping_broker_says_goodbye() {
    let board = Board::start().await;
    let (mut socket, _) = connect_async(board.url()).await.unwrap();
    let goodbye =
        tokio::spawn(async move { tokio::time::timeout(PATIENCE, socket.next()).await.unwrap() });
    board.stop().await;
    let frame = goodbye.await.unwrap().unwrap().unwrap();
    assert!(frame.is_close(), "{frame:?}");
}

#[tokio::test]
async fn one_that_reads_steadily_is_not_cut_off_however_much_there_is() {
    let board = Board::with("[limits]\nwrite_ms = 300\nin_flight = 100").await;
    let (mut sender, mut reader) = (board.agent("sender").await, board.agent("reader").await);
    reader.subscribe("x").await;
    // Together less than may wait for the disk at once, or some would be refused: busy.
    let sending = tokio::spawn(async move {
        for _ in 0..120 {
            sender.ask("sendMessage", sized(200_000)).await;
        }
        sender
    });
    for _ in 0..120 {
        reader.process().await;
    }
    drop(sending.await.unwrap());
}

#[tokio::test]
async fn a_stopping_broker_answers_what_it_has_accepted() {
    let board = Board::start().await;
    let (mut sender, mut silent) = (board.agent("sender").await, board.agent("silent").await);
    silent.subscribe("x").await;
    let ids: Vec<u64> = {
        let mut ids = Vec::new();
        for _ in 0..40 {
            ids.push(sender.ask("sendMessage", sized(1)).await);
        }
        ids
    };
    for _ in 0..40 {
        silent.delivery().await;
    }
    let stopping = tokio::spawn(board.stop());
    for id in ids {
        let response = sender.response_to(&json!(id)).await;
        assert_eq!(response["result"]["accepted"], true, "{response}");
    }
    stopping.await.unwrap();
}
