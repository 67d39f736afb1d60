//! Who would get a message, without sending it: the answer is what then happens.

use serde_json::{Value, json};

use crate::board::Board;
use crate::collab_agent::CollabAgent;

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

async fn refused_send(board: &Board, params: Value) -> Value {
    let call = board.console().call(json!({ "method": "send", "params": params })).await;
    serde_json::to_value(call.unwrap_err()).unwrap()
}

/// An agent that wants a number, and does not hear what `writer` says of it.
async fn picky(board: &Board) -> CollabAgent {
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let offers = json!([{ "name": "count", "input_schema": schema }]);
    CollabAgent::register(board, "picky", offers).await
}

#[tokio::test]
async fn a_schema_holds_for_the_operator_too_and_the_route_says_so_before() {
    let board = Board::start().await;
    let mut picky = picky(&board).await;
    let wrong = json!({ "topic": "agent:picky", "payload": r#"{"type":"count","n":"two"}"# });
    let said = board.call("route", wrong.clone()).await;
    assert_eq!((&said["fate"], &said["from"]), (&json!("refused"), &json!("operator")));
    let step = &said["chain"][0];
    assert_eq!((&step["agent"], &step["stoppedBy"]["type"]), (&json!("picky"), &json!("schema")));
    assert!(step["stoppedBy"]["faults"].as_str().unwrap().contains("/n"), "{said}");

    let refused = refused_send(&board, wrong).await;
    assert_eq!(refused["code"], "schemaViolation");
    assert_eq!(refused["message"], said["refused"], "what was said before is what happens");
    assert_eq!(board.newest_in_state("refused").await["from"], "operator");

    let right = json!({ "topic": "agent:picky", "payload": r#"{"type":"count","n":2}"# });
    let said = board.call("route", right.clone()).await;
    assert_eq!((&said["fate"], &said["chain"][0]["stoppedBy"]), (&json!("asked"), &Value::Null));
    let (sent, request) = tokio::join!(board.call("send", right), async {
        let request = picky.hear("request").await;
        picky.respond(&request, json!({ "status": "success", "result": {} })).await;
        request
    });
    assert_eq!(request["payload"]["parameters"]["n"], 2);
    assert_ne!(sent["state"], "dead", "{sent}");
    let only_who = route(&board, "agent:picky").await;
    assert_eq!(only_who["fate"], "asked", "where nothing is said, nothing is judged");
}

#[tokio::test]
async fn the_route_names_the_rule_that_would_stop_a_sender() {
    let board = Board::start().await;
    let _picky = picky(&board).await;
    let mut listener = board.agent("listener").await;
    listener.subscribe("news").await;
    let mut other = board.agent("other").await;
    other.subscribe("new*").await;
    let deny = |provider: &str, capability: &str| json!({ "caller": "writer", "provider": provider, "capability": capability, "effect": "deny" });
    board
        .call("editRules", json!({ "edits": [deny("picky", "count"), deny("listener", "news")] }))
        .await;

    let call =
        json!({ "topic": "agent:picky", "from": "writer", "payload": r#"{"type":"count","n":1}"# });
    let said = board.call("route", call).await;
    assert_eq!(said["fate"], "refused");
    for stopped in [&said["stoppedBy"], &said["chain"][0]["stoppedBy"]] {
        assert_eq!(stopped["rule"]["id"], 1, "{said}");
    }
    let mut writer = board.agent("writer").await;
    let refused = json!({ "topic": "agent:picky", "payload": { "type": "count", "n": 1 } });
    let refused = writer.call("sendMessage", refused).await;
    assert_eq!(refused["error"]["code"], -32011, "{refused}");
    let kept = board.newest_in_state("refused").await;
    assert_eq!(kept["error"], said["refused"], "it then happens so");

    let said = board.call("route", json!({ "topic": "news", "from": "writer" })).await;
    assert_eq!(agents(&said["chain"]), ["other"], "one who may not hear it takes nobody's place");
    assert_eq!(said["passedOver"][0]["stoppedBy"]["rule"]["id"], 2);
    assert!(said["passedOver"][0]["why"].as_str().unwrap().contains("rule 2"), "{said}");
    let said = board.call("route", json!({ "topic": "news" })).await;
    assert_eq!(
        agents(&said["chain"]),
        ["other", "listener"],
        "the operator's rules do not bind it"
    );
}

#[tokio::test]
async fn the_route_of_a_letter_is_judged_as_its_senders_message() {
    let board = Board::start().await;
    let mut writer = board.agent("writer").await;
    let lost = json!({ "topic": "nowhere", "payload": { "type": "count", "n": 1 } });
    writer.call("sendMessage", lost).await;
    let id = board.newest_in_state("dead").await["id"].clone();
    let _picky = picky(&board).await;
    let deny =
        json!({ "caller": "writer", "provider": "picky", "capability": "*", "effect": "deny" });
    board.call("editRules", json!({ "edits": [deny] })).await;
    let there = json!({ "topic": "agent:picky", "letter": id });
    let said = board.call("route", there).await;
    assert_eq!((&said["from"], &said["stoppedBy"]["rule"]["id"]), (&json!("writer"), &json!(1)));
    let replay = json!({ "method": "replay", "params": { "id": id, "topic": "agent:picky" } });
    let refused = serde_json::to_value(board.console().call(replay).await.unwrap_err()).unwrap();
    assert_eq!(refused["message"], said["refused"]);
}
