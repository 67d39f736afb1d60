//! `send-message` and `subscribe`.

use std::process::Stdio;

use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::broker::{Broker, code, document, end, line, soon, text};

#[tokio::test]
async fn what_one_shell_sends_another_hears_and_both_succeed() {
    let broker = Broker::start().await;
    let mut subscriber = broker.subscribe("inbound:*").await;

    let payload = r#"{"type":"plaintext_message","text":"hello"}"#;
    let (status, result) = broker.send("inbound:chat-1", payload).await;
    assert_eq!(status, 0, "{result}");
    assert_eq!(result["success"], true);
    assert_eq!(result["deliveredTo"], 1);
    assert_eq!(result["acks"][0]["client_id"], "listener");

    let heard = subscriber.next().await;
    assert_eq!(heard["topic"], "inbound:chat-1");
    assert_eq!(heard["from"], "bub-tester");
    assert_eq!(heard["messageId"], result["messageId"]);
    assert_eq!(heard["payload"], json!({"type": "plaintext_message", "text": "hello"}));
    assert_eq!(end(&mut subscriber.process, "-INT").await, 0, "Ctrl-C is a way to end, no failure");
}

#[tokio::test]
async fn a_message_that_nobody_takes_fails_with_a_result_that_programs_can_read() {
    let broker = Broker::start().await;
    let (status, result) = broker.send("nobody:here", r#"{"type":"note"}"#).await;
    assert_eq!(status, 1);
    assert_eq!(result["success"], false);
    assert!(result["messageId"].is_string(), "{result}");
}

#[tokio::test]
async fn payload_and_topic_come_from_wherever_an_agent_keeps_them() {
    let broker = Broker::start().await;
    let mut subscriber = broker.subscribe("agent:listener").await;
    std::fs::write(broker.data.path().join("task.json"), "{\"type\":\"from-a-file\"}\n").unwrap();

    let sent = broker
        .bub(&["send-message", "--payload", "@task.json"])
        .env("BUB_DEFAULT_TOPIC", "agent:listener")
        .env("BUB_WORKSPACE", broker.data.path())
        .output();
    let sent = soon("bub", sent).await.unwrap();
    assert_eq!(code(&sent), 0, "{}", text(&sent.stderr));
    assert_eq!(subscriber.next().await["payload"]["type"], "from-a-file");

    let mut piped = broker
        .bub(&["send-message", "--topic", "agent:listener", "--payload", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = piped.stdin.take().unwrap();
    stdin.write_all(br#"{"type":"from-a-pipe","n":123456789012345678901}"#).await.unwrap();
    drop(stdin);
    assert!(soon("bub", piped.wait()).await.unwrap().success());
    let heard = line(&mut subscriber.heard).await;
    assert!(heard.contains(r#"{"type":"from-a-pipe","n":123456789012345678901}"#), "{heard}");
}

#[tokio::test]
async fn a_subscriber_says_so_when_the_broker_goes_away() {
    let mut broker = Broker::start().await;
    let mut subscriber = broker.subscribe("inbound:*").await;
    assert_eq!(end(&mut broker.process, "-TERM").await, 0, "the broker drains and ends well");
    let ended = soon("the end", subscriber.process.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(1));
    let words = line(&mut subscriber.notes).await;
    assert!(words.contains("the connection to the bus ended"), "{words}");

    let asked = broker.run(&["status"]).await;
    assert_eq!(code(&asked), 1);
    assert!(text(&asked.stderr).contains("no broker is running"), "{}", text(&asked.stderr));
}

#[tokio::test]
async fn a_message_has_the_priority_it_was_given_and_dies_when_its_time_is_over() {
    let broker = Broker::start().await;
    // Known but away: what is for it waits.
    broker.agent("sleeper").await.close().await;
    let message = ["send-message", "--topic", "agent:sleeper", "--payload", r#"{"type":"x"}"#];
    let patient = broker.run(&[&message[..], &["--priority", "urgent"]].concat()).await;
    let hasty = broker.run(&[&message[..], &["--ttl", "0.2"]].concat()).await;
    let id = |sent| document(sent)["messageId"].as_str().unwrap().to_owned();
    let (patient, hasty) = (id(&patient), id(&hasty));

    let expired = soon("its end", async {
        loop {
            let expired = broker.json(&["messages", "--state", "expired"]).await;
            if expired != json!([]) {
                return expired;
            }
        }
    });
    assert_eq!(expired.await[0]["id"], *hasty);
    let waiting = broker.json(&["messages", "--state", "waiting"]).await;
    assert_eq!(waiting[0]["id"], *patient);
    assert_eq!(waiting[0]["priority"], "URGENT");
}
