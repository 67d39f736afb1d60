//! Ways around a rule that were found once, and are closed.

use serde_json::{Value, json};

use crate::board::Board;
use crate::collab_agent::CollabAgent;
use crate::lobby_agent::LobbyAgent;

async fn deny(board: &Board, caller: &str, provider: &str, capability: &str) {
    let edit = json!({
        "caller": caller, "provider": provider, "capability": capability, "effect": "deny",
    });
    board.call("editRules", json!({ "edits": [edit] })).await;
}

fn guarded() -> Value {
    json!([{ "name": "secret", "authorized_requester_ids": ["friend"] }])
}

/// Says something on a topic and hears that it was accepted.
async fn publish(board: &Board, from: &str, topic: &str) {
    let mut peer = board.agent(from).await;
    peer.ask("sendMessage", json!({ "topic": topic, "payload": { "type": "t", "from": from } }))
        .await;
    board.newest_from(from).await;
}

#[tokio::test]
async fn an_odd_payload_is_judged_by_what_its_recipient_will_read() {
    let board = Board::start().await;
    let _provider = CollabAgent::register(&board, "p", guarded()).await;
    let mut old = board.connect().await;
    let info = json!({ "name": "old", "version": "0.1.0" });
    old.ok("initialize", json!({ "clientId": "a", "clientInfo": info })).await;
    for payload in [
        r#"{"type":"secret","capability":5}"#,
        r#"{"type":"x","type":"secret"}"#,
        r#"{"capability":"x","capability":"secret"}"#,
    ] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"q","method":"sendMessage","params":{{"topic":"agent:p","payload":{payload}}}}}"#
        );
        old.say(text).await;
        let refused = old.response_to(&json!("q")).await;
        assert_eq!(refused["error"]["code"], -32011, "{payload}: {refused}");
    }
}

#[tokio::test]
async fn an_error_is_no_way_to_call() {
    let board = Board::start().await;
    let mut provider = board.agent("p").await;
    provider.subscribe("agent:p").await;
    deny(&board, "l", "p", "secret").await;
    let mut lobby = LobbyAgent::register(&board, "l", json!([])).await;
    lobby
        .say(json!({
            "receiver_id": "p", "message_type": "ERROR", "payload": { "type": "secret", "x": 1 },
        }))
        .await;
    let told = lobby.hear("ERROR").await;
    assert!(told["payload"]["error"].as_str().unwrap().contains("conversation_id"), "{told}");
}

#[tokio::test]
async fn one_that_stands_in_for_a_busy_agent_is_asked_only_what_it_may_be() {
    let board = Board::start().await;
    let mut busy = CollabAgent::register(&board, "busy", json!(["secret"])).await;
    let _closed = CollabAgent::register(&board, "closed", guarded()).await;
    let picky = json!([{ "name": "secret", "input_schema": { "required": ["x"] } }]);
    let _picky = CollabAgent::register(&board, "picky", picky).await;
    let mut asker = CollabAgent::register(&board, "asker", json!([])).await;
    busy.router("setStatus", json!({ "status": "busy" })).await.unwrap();
    let id = asker.ask("busy", "secret", json!({})).await;
    busy.router("setStatus", json!({ "status": "ready" })).await.unwrap();
    let request = busy.hear("request").await;
    assert_eq!(request["from"], "asker", "nobody else could take it");
    busy.respond(&request, json!({ "status": "success", "result": 1 })).await;
    assert_eq!(asker.answer_to(&id).await["result"], 1);
}

#[tokio::test]
async fn a_listener_that_is_denied_does_not_get_it_when_nobody_else_is_there() {
    let board = Board::start().await;
    let mut listener = board.agent("listener").await;
    for topic in ["agent:[ZW]", "news", "nobody.*"] {
        listener.subscribe(topic).await;
    }
    let mut handler = board.agent("handler").await;
    handler.subscribe("system:unrouted").await;
    let mut other = board.agent("other").await;
    other.subscribe("news").await;
    board.agent("W").await.vanish();
    board.is_away("W").await;
    deny(&board, "s-*", "listener", "*").await;
    deny(&board, "s-*", "handler", "*").await;

    for (from, topic) in [("s-1", "agent:Z"), ("s-2", "agent:W"), ("s-3", "nowhere")] {
        publish(&board, from, topic).await;
    }
    let mut sender = board.agent("s-4").await;
    let say = json!({ "topic": "news", "payload": { "type": "t" } });
    sender.ask("sendMessage", say).await;
    other.delivery().await;
    other.vanish();
    board.is_away("other").await;

    let mut allowed = board.agent("allowed").await;
    allowed.ask("sendMessage", json!({ "topic": "news", "payload": { "type": "last" } })).await;
    let first = listener.delivery().await;
    assert_eq!(first["params"]["from"], "allowed", "the first that it ever hears: {first}");
    let unheard = json!({ "topic": "somewhere", "payload": { "type": "last" } });
    allowed.ask("sendMessage", unheard).await;
    let first = handler.delivery().await;
    assert_eq!(first["params"]["payload"]["payload"]["type"], "last", "{first}");
}

#[tokio::test]
async fn a_large_state_is_merged_without_holding_others_up_and_has_a_bound() {
    let board = Board::start().await;
    let mut agent = CollabAgent::register(&board, "a", json!([])).await;
    let state = |keys: usize| -> Value {
        let keys = (0..keys).map(|n| (format!("key-{n}"), json!(n)));
        Value::Object(keys.collect())
    };
    let open = json!({ "id": "s", "context": { "sharedState": state(10_000) } });
    agent.router("openSession", open).await.unwrap();
    let update = json!({ "sessionId": "s", "sharedState": state(10_000) });
    assert_eq!(agent.router("updateSession", update).await.unwrap()["version"], 2);
    let more = json!({ "sessionId": "s", "sharedState": { "one": "more" } });
    let refused = agent.router("updateSession", more).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("10000 keys"), "{refused}");
}

#[tokio::test]
async fn progress_gives_an_asker_patience() {
    let board = Board::with("[delivery]\ntimeout_ms = 400").await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    asker.request("p", "k", json!({ "capability_name": "x" })).await;
    let request = provider.hear("REQUEST").await;
    let begun = tokio::time::Instant::now();
    // Longer in all than the asker waits without a word.
    while begun.elapsed() < std::time::Duration::from_millis(900) {
        provider.respond(&request, json!({ "status": "in_progress" })).await;
        let told = asker.hear("RESPONSE").await;
        assert_eq!(told["payload"]["status"], "in_progress", "{told}");
    }
    provider.respond(&request, json!({ "status": "success" })).await;
    assert_eq!(asker.hear("RESPONSE").await["payload"]["status"], "success");
}

#[tokio::test]
async fn a_name_alone_does_not_open_what_was_closed_by_another_door() {
    let board = Board::start().await;
    let provider = LobbyAgent::register(&board, "p", guarded()).await;
    let token = json!(provider.token);
    let _also = CollabAgent::register_at(board.url(), "p", json!(["secret"]), token).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    asker.request("p", "k", json!({ "capability_name": "secret" })).await;
    assert_eq!(asker.hear("RESPONSE").await["payload"]["code"], "FORBIDDEN");
}

#[tokio::test]
async fn an_answer_cannot_be_forged_for_one_who_is_away() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    asker.request("p", "k", json!({ "capability_name": "x" })).await;
    let request = provider.hear("REQUEST").await;
    let token = json!(asker.token);
    drop(asker);
    board.is_away("a").await;
    let mut forger = board.agent("forger").await;
    let forged = json!({ "topic": "agent:a", "correlation_id": "k", "payload": { "type": "t" } });
    assert_eq!(forger.refused("sendMessage", forged).await.0, -32012);
    provider.respond(&request, json!({ "status": "completed", "n": 1 })).await;
    let mut asker = LobbyAgent::register_at(board.url(), "a", json!([]), token).await;
    let answer = asker.hear("RESPONSE").await;
    assert_eq!(
        answer["payload"],
        json!({ "status": "completed", "n": 1 }),
        "and it is the end of it"
    );
}

#[tokio::test]
async fn a_bus_peer_hears_an_answer_that_came_after_the_first_attempt() {
    let board = Board::with("[delivery]\ntimeout_ms = 300").await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = board.agent("a").await;
    asker.subscribe("agent:a").await;
    let said = json!({ "topic": "agent:p", "payload": { "type": "x" } });
    let id = asker.ask("sendMessage", said).await;
    let request = provider.hear("REQUEST").await;
    let result = asker.response_to(&json!(id)).await["result"].clone();
    assert_eq!(result["acks"][0]["processed"], false, "{result}");
    provider.respond(&request, json!({ "status": "success", "n": 7 })).await;
    let late = asker.process().await;
    assert_eq!(late["params"]["correlation_id"], result["messageId"]);
    assert_eq!(late["params"]["payload"]["n"], 7);
}

#[tokio::test]
async fn what_is_for_an_agent_that_owns_its_name_is_not_anothers_to_take_or_overhear() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    let mut thief = board.agent("thief").await;
    for topic in ["agent:p", "agent:a"] {
        thief.subscribe(topic).await;
    }
    thief.ok("subscribe", json!({ "topic": "agent:*", "policy": "continueAll" })).await;
    // Made for what agents may call, not for whose mail is whose.
    let wide = json!({ "caller": "*", "provider": "*", "capability": "*", "effect": "allow" });
    board.call("editRules", json!({ "edits": [wide] })).await;
    asker.request("p", "k", json!({ "capability_name": "x" })).await;
    let request = provider.hear("REQUEST").await;
    provider.respond(&request, json!({ "status": "success" })).await;
    assert_eq!(asker.hear("RESPONSE").await["payload"]["status"], "success");
    let mut other = board.agent("other").await;
    other.ask("sendMessage", json!({ "topic": "agent:thief", "payload": { "type": "t" } })).await;
    let first = loop {
        let heard = thief.delivery().await;
        if heard["params"]["from"] != "switchboard" {
            break heard;
        }
    };
    assert_eq!(first["params"]["topic"], "agent:thief", "the first that it ever hears: {first}");
}

#[tokio::test]
async fn a_bus_peer_is_told_in_time_that_a_busy_agent_will_get_it_later() {
    let board = Board::with("[delivery]\ntimeout_ms = 300").await;
    let mut busy = CollabAgent::register(&board, "busy", json!(["x"])).await;
    busy.router("setStatus", json!({ "status": "busy" })).await.unwrap();
    let mut asker = board.agent("a").await;
    let said = json!({ "topic": "agent:busy", "payload": { "type": "x" } });
    let result = asker.ok("sendMessage", said).await;
    assert_eq!((&result["success"], &result["deliveredTo"]), (&json!(true), &json!(0)));
    busy.router("setStatus", json!({ "status": "ready" })).await.unwrap();
    assert_eq!(busy.hear("request").await["from"], "a");
}

#[tokio::test]
async fn what_is_declared_has_bounds_so_that_answers_do() {
    let board = Board::start().await;
    let mut agent = LobbyAgent::register(&board, "p", json!([])).await;
    let large: serde_json::Map<String, Value> = (0..700)
        .map(|n| (format!("property-{n}"), json!({ "type": "string", "title": "x".repeat(20) })))
        .collect();
    let schema = json!({ "type": "object", "properties": large });
    for (n, capability, said) in [
        (1, json!({ "name": "x", "description": "x".repeat(5000) }), "description"),
        (8, json!({ "name": "x", "input_schema": schema.clone() }), "schemas"),
    ] {
        let mut told = Value::Null;
        for at in 0..n {
            let mut one = capability.clone();
            one["name"] = json!(format!("x{at}"));
            agent
                .say(json!({
                    "receiver_id": "global_lobby", "message_type": "CAPABILITY_UPDATE",
                    "payload": { "capabilities": [one] },
                }))
                .await;
            told = agent.socket.hear().await.unwrap();
        }
        let words = told["payload"]["error"].as_str().unwrap_or_default();
        assert!(words.contains(said), "{said}: {told}");
    }
}
