//! The bus door's base protocol: handshake, subscriptions, errors, envelopes, batches.

use serde_json::json;

use crate::board::Board;

#[tokio::test]
async fn initialize_comes_first_and_only_once() {
    let board = Board::start().await;
    let mut peer = board.connect().await;
    for method in ["subscribe", "unsubscribe", "sendMessage", "ping", "nonsense"] {
        let refused = peer.refused(method, json!({ "topic": "a", "payload": {} })).await;
        assert_eq!(refused, (-32001, "Not initialized".to_owned()), "{method}");
    }
    let result = peer.initialize("agent-1").await;
    assert_eq!(result["serverInfo"]["name"], "bub-bus");
    assert!(result["serverId"].is_string());
    for promised in ["subscribe", "publish", "processMessage"] {
        assert_eq!(result["capabilities"][promised], true, "{promised}");
    }
    assert!(result["capabilities"]["topics"].is_array());
    assert!(result["capabilities"]["addresses"].is_array());
    let again = json!({ "clientId": "agent-1", "clientInfo": { "name": "x", "version": "1" } });
    assert_eq!(peer.refused("initialize", again).await, (-32001, "Already initialized".to_owned()));
    assert_eq!(peer.refused("initialize", json!({})).await.0, -32001, "wrong and too late");
    let reserved = json!({ "clientId": "router", "clientInfo": { "name": "x", "version": "1" } });
    assert_eq!(peer.refused("initialize", reserved).await.0, -32001);
    let mut other = board.connect().await;
    let wrong = json!({ "clientId": "b", "clientInfo": { "name": "x", "version": "1" }, "capabilities": 7 });
    assert_eq!(other.refused("initialize", wrong).await.0, -32602);
}

#[tokio::test]
async fn a_client_that_does_not_say_who_it_is_may_try_again() {
    let board = Board::start().await;
    let mut peer = board.connect().await;
    for params in [
        json!({}),
        json!({ "clientId": "a" }),
        json!({ "clientId": "", "clientInfo": { "name": "x", "version": "1" } }),
        json!({ "clientId": "two words", "clientInfo": { "name": "x", "version": "1" } }),
        json!({ "clientId": "switchboard", "clientInfo": { "name": "x", "version": "1" } }),
        json!({ "clientId": "a", "clientInfo": 7 }),
    ] {
        assert_eq!(peer.refused("initialize", params.clone()).await.0, -32002, "{params}");
    }
    peer.initialize("at-last").await;
}

#[tokio::test]
async fn several_connections_may_speak_for_one_agent() {
    let board = Board::start().await;
    let mut one = board.agent("analyzer").await;
    let mut other = board.agent("analyzer").await;
    one.subscribe("agent:analyzer").await;
    let params = json!({ "topic": "agent:analyzer", "payload": { "type": "note" } });
    let id = other.ask("sendMessage", params).await;
    let delivery = one.process().await;
    assert_eq!(delivery["params"]["from"], "analyzer");
    assert_eq!(other.response_to(&json!(id)).await["result"]["success"], true);
}

#[tokio::test]
async fn a_subscription_is_made_once_replaced_by_another_policy_and_unmade_by_its_text() {
    let board = Board::start().await;
    let mut peer = board.agent("listener").await;
    let made = peer.ok("subscribe", json!({ "topic": "inbound:*" })).await;
    assert_eq!(made["success"], true);
    assert!(made["subscriptionId"].as_str().unwrap().starts_with("sub_"));
    assert_eq!(peer.refused("subscribe", json!({ "topic": "inbound:*" })).await.0, -32003);
    let observed = json!({ "topic": "inbound:*", "policy": "continueAll" });
    peer.ok("subscribe", observed).await;
    peer.ok("subscribe", json!({ "address": "outbound:*" })).await;
    assert_eq!(peer.refused("unsubscribe", json!({ "topic": "inbound:" })).await.0, -32004);
    peer.ok("unsubscribe", json!({ "topic": "inbound:*" })).await;
    assert_eq!(peer.refused("unsubscribe", json!({ "topic": "inbound:*" })).await.0, -32004);
    for params in [
        json!({}),
        json!({ "topic": 7 }),
        json!({ "topic": "" }),
        json!({ "topic": "a", "policy": "sometimes" }),
        json!([]),
    ] {
        assert_eq!(peer.refused("subscribe", params.clone()).await.0, -32602, "{params}");
    }
}

#[tokio::test]
async fn ping_tells_the_time() {
    let board = Board::start().await;
    let mut peer = board.agent("a").await;
    let result = peer.ok("ping", json!({})).await;
    let time = result["timestamp"].as_str().unwrap();
    assert!(switchboard_model::Timestamp::parse_iso(time).is_some(), "{time}");
}

#[tokio::test]
async fn nonsense_gets_an_error_and_the_connection_goes_on() {
    let board = Board::start().await;
    let mut peer = board.agent("a").await;
    for (text, code) in [
        ("nonsense", -32700),
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"1.0","method":"ping","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"ping","id":[1]}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"ping","id":null}"#, -32600),
    ] {
        peer.say(text).await;
        let heard = peer.hear().await.unwrap();
        assert_eq!(heard["error"]["code"], code, "{text} got {heard}");
    }
    peer.say_bytes(vec![0xff, 0xfe]).await;
    assert_eq!(peer.hear().await.unwrap()["error"]["code"], -32700);
    assert_eq!(peer.refused("nonsense", json!({})).await.0, -32601);
    assert_eq!(peer.refused("sendMessage", json!({ "topic": "a" })).await.0, -32602);
    assert_eq!(peer.refused("sendMessage", json!({ "payload": {} })).await.0, -32602);
    peer.ok("ping", json!({})).await;
}

#[tokio::test]
async fn envelopes_have_only_the_keys_of_the_spec_and_ids_come_back_as_they_were() {
    let board = Board::start().await;
    let mut peer = board.agent("a").await;
    for id in [json!("text"), json!(7), json!(-1), json!(1.5), json!("")] {
        peer.say(json!({ "jsonrpc": "2.0", "method": "ping", "id": id }).to_string()).await;
        let heard = peer.hear().await.unwrap();
        let mut keys: Vec<_> = heard.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        assert_eq!(keys, ["id", "jsonrpc", "result"]);
        assert_eq!(heard["id"], id);
    }
}

#[tokio::test]
async fn a_batch_is_answered_as_one_and_may_hold_50() {
    let board = Board::start().await;
    let mut peer = board.agent("a").await;
    let ping = |id: u32| json!({ "jsonrpc": "2.0", "method": "ping", "id": id });
    let silent = json!({ "jsonrpc": "2.0", "method": "ping" });
    peer.say(json!([ping(1), 7, silent, ping(2)]).to_string()).await;
    let heard = peer.hear().await.unwrap();
    let answers = heard.as_array().unwrap();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(null), json!(2)]);
    assert_eq!(answers[1]["error"]["code"], -32600);

    let many: Vec<_> = (0..51).map(ping).collect();
    peer.say(json!(many).to_string()).await;
    assert_eq!(peer.hear().await.unwrap()["error"]["code"], -32600);
    peer.say(json!(many[..50]).to_string()).await;
    assert_eq!(peer.hear().await.unwrap().as_array().unwrap().len(), 50);
    peer.say(json!([silent]).to_string()).await;
    peer.ok("ping", json!({})).await;
}

#[tokio::test]
async fn a_notification_is_carried_out_and_not_answered() {
    let board = Board::start().await;
    let mut peer = board.agent("a").await;
    let subscribe = json!({ "jsonrpc": "2.0", "method": "subscribe", "params": { "topic": "x" } });
    peer.say(subscribe.to_string()).await;
    let response = peer.call("subscribe", json!({ "topic": "x" })).await;
    assert_eq!(response["error"]["code"], -32003, "the first thing heard, and it was done");
}
