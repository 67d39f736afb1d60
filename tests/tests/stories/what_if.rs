//! Who would get a message, without sending it: the answer is what then happens.

use serde_json::{Value, json};

use crate::board::Board;

async fn route(board: &Board, topic: &str) -> Value {
    board.call("route", json!({ "topic": topic })).await
}

fn agents(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["agent"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_route_names_everyone_in_order_and_those_who_are_passed_over_with_the_reason() {
    let board = Board::start().await;
    let mut a = board.agent("a").await;
    a.subscribe("inbound:*").await;
    let mut b = board.agent("b").await;
    b.subscribe("inbound:critical").await;
    let mut c = board.agent("c").await;
    c.subscribe("inbound:*").await;
    let mut audit = board.agent("audit").await;
    audit.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;

    let said = route(&board, "inbound:critical").await;
    assert_eq!(
        (agents(&said["chain"]), agents(&said["observers"])),
        (vec!["c", "b"], vec!["audit"])
    );
    assert_eq!(agents(&said["passedOver"]), ["a"]);
    assert!(said["passedOver"][0]["why"].as_str().unwrap().contains("newer"), "{said}");
    assert_eq!(said["fate"], "asked");
    assert!(said["chain"][0]["why"].as_str().unwrap().contains("stops it by processing it"));

    // It then happens so.
    let mut sender = board.agent("sender").await;
    let hello = json!({ "topic": "inbound:critical", "payload": { "type": "t" } });
    let asked = sender.ask("sendMessage", hello).await;
    audit.process().await;
    let first = c.delivery().await;
    c.answer(&first, json!({ "processed": false })).await;
    b.process().await;
    let result = sender.response_to(&json!(asked)).await["result"].clone();
    let mut who: Vec<_> = result["acks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ack| ack["clientId"].as_str().unwrap())
        .collect();
    who.retain(|one| *one != "audit");
    assert_eq!(who, ["c", "b"]);
    assert_eq!(board.totals().await["accepted"], 1, "asking sends nothing");
}

#[tokio::test]
async fn the_route_says_what_becomes_of_a_message_that_nobody_can_take() {
    let board = Board::start().await;
    assert_eq!(route(&board, "nowhere").await["fate"], "deadLetter");
    board.agent("away").await.vanish();
    board.is_away("away").await;
    assert_eq!(route(&board, "agent:away").await["fate"], "waits");
    let mut handler = board.agent("handler").await;
    handler.subscribe("system:unrouted").await;
    let said = route(&board, "nowhere").await;
    assert_eq!(said["fate"], "defaultHandler");
    assert!(said["explanation"].as_str().unwrap().contains("handler"), "{said}");
    let bad = board.call("route", json!({ "topic": "x", "payload": "{" })).await;
    assert_eq!(bad["fate"], "refused");
}
