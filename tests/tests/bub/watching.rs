//! `status`, `agents` and `messages`.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::broker::{Broker, code, document, end, line, text};

#[tokio::test]
async fn the_operator_sees_broker_agents_and_messages() {
    let broker = Broker::start().await;
    let _subscriber = broker.subscribe("inbound:*").await;
    broker.send("inbound:1", r#"{"type":"a","n":123456789012345678901}"#).await;
    broker.send("nobody:here", r#"{"type":"b"}"#).await;

    let status = document(&broker.run(&["status", "--json"]).await);
    assert!(status["url"].as_str().unwrap().starts_with("ws://127.0.0.1:"), "{status}");
    assert_eq!(status["totals"]["accepted"], 2);
    assert_eq!(status["totals"]["processed"], 1);
    assert_eq!(status["totals"]["dead"], 1);

    let agents = document(&broker.run(&["agents", "--json"]).await);
    let listener = agents.as_array().unwrap().iter().find(|agent| agent["id"] == "listener");
    let listener = listener.expect("the subscriber is registered");
    assert_eq!(listener["doors"], json!(["bus"]));
    assert_eq!(listener["status"], "ready");
    assert_eq!(listener["subscriptions"][0]["pattern"], "inbound:*");

    let messages = broker.run(&["messages", "--json"]).await;
    assert!(text(&messages.stdout).contains("123456789012345678901"), "every digit is kept");
    let messages = document(&messages);
    let [dead, processed] = messages.as_array().unwrap().as_slice() else {
        panic!("two messages: {messages}");
    };
    assert_eq!((&dead["topic"], &dead["state"]), (&json!("nobody:here"), &json!("dead")));
    assert_eq!(processed["state"], "processed");
    assert_eq!(processed["from"], "bub-tester");
    assert_eq!(processed["payload"]["type"], "a");

    let only_dead = document(&broker.run(&["messages", "--json", "--state", "dead"]).await);
    assert_eq!(only_dead, json!([dead]));

    for (command, words) in [("status", "2 accepted"), ("agents", "listener"), ("messages", "dead")]
    {
        let shown = broker.run(&[command]).await;
        assert_eq!(code(&shown), 0, "{}", text(&shown.stderr));
        assert!(text(&shown.stdout).contains(words), "{command}: {}", text(&shown.stdout));
        assert!(!text(&shown.stdout).contains('\x1b'), "no colours where there is no terminal");
    }
}

#[tokio::test]
async fn following_goes_on_where_history_ends_and_misses_nothing() {
    let broker = Broker::start().await;
    let _subscriber = broker.subscribe("inbound:*").await;
    broker.send("inbound:before", r#"{"type":"x"}"#).await;
    let mut following = broker
        .bub(&["messages", "--follow", "--json", "--topic", "inbound"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut topics = Vec::new();
    for number in 0..4 {
        let row: Value = serde_json::from_str(&line(&mut lines).await).unwrap();
        assert_eq!(row["payload"]["type"], "x");
        topics.push(row["topic"].as_str().unwrap().to_owned());
        broker.send("outbound:elsewhere", r#"{"type":"x"}"#).await;
        broker.send(&format!("inbound:{number}"), r#"{"type":"x"}"#).await;
    }
    assert_eq!(topics, ["inbound:before", "inbound:0", "inbound:1", "inbound:2"]);
    assert_eq!(end(&mut following, "-TERM").await, 0);
}
