//! The client against a scripted bus, one frame at a time.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use switchboard_model::Priority;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{WebSocketStream, accept_async};

use super::*;

/// The far end of one connection, played by the test.
struct FarEnd(WebSocketStream<TcpStream>);

impl FarEnd {
    async fn text(&mut self) -> String {
        loop {
            match self.0.next().await.expect("a frame").expect("a whole frame") {
                Frame::Text(text) => return text.to_string(),
                other => assert!(other.is_pong(), "unexpected {other:?}"),
            }
        }
    }

    async fn json(&mut self) -> Value {
        serde_json::from_str(&self.text().await).expect("JSON")
    }

    async fn say(&mut self, frame: impl ToString) {
        self.0.send(Frame::text(frame.to_string())).await.expect("room in the socket");
    }

    async fn answer(&mut self, question: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "result": result, "id": question["id"]})).await;
    }
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    (listener, url)
}

/// A bus that has been initialized, and its far end.
async fn connected() -> (Bus, FarEnd) {
    let (listener, url) = listen().await;
    let far_end = async {
        let mut far = FarEnd(accept_async(listener.accept().await.unwrap().0).await.unwrap());
        let hello = far.json().await;
        far.answer(&hello, json!({"serverId": "bus"})).await;
        far
    };
    let id = AgentId::parse("tester").unwrap();
    let joining = Bus::connect(&url, &id, ClientInfo::new("test", "1"), None);
    let (bus, far) = tokio::join!(joining, far_end);
    (bus.unwrap(), far)
}

#[tokio::test]
async fn connecting_introduces_the_agent_with_its_token_and_capabilities() {
    let (listener, url) = listen().await;
    let id = AgentId::parse("analyzer").unwrap();
    let mut info = ClientInfo::new("demo", "0.1.0");
    info.capabilities.push(Capability::named("summarize"));
    let joining = Bus::connect(&url, &id, info, Some("secret"));
    let far_end = async {
        let mut far = FarEnd(accept_async(listener.accept().await.unwrap().0).await.unwrap());
        let hello = far.json().await;
        far.answer(&hello, json!({})).await;
        hello
    };
    let (bus, hello) = tokio::join!(joining, far_end);
    bus.unwrap();
    assert_eq!(hello["method"], "initialize");
    assert_eq!(hello["params"]["clientId"], "analyzer");
    assert_eq!(hello["params"]["clientInfo"], json!({"name": "demo", "version": "0.1.0"}));
    assert_eq!(hello["params"]["authToken"], "secret");
    assert_eq!(hello["params"]["capabilities"][0]["name"], "summarize");
}

#[tokio::test]
async fn a_refused_introduction_gives_the_code_and_the_words_of_the_bus() {
    let (listener, url) = listen().await;
    let id = AgentId::parse("tester").unwrap();
    let far_end = async {
        let mut far = FarEnd(accept_async(listener.accept().await.unwrap().0).await.unwrap());
        let hello = far.json().await;
        let error =
            json!({"code": -32002, "message": "Invalid client info", "data": "wrong token"});
        far.say(json!({"jsonrpc": "2.0", "error": error, "id": hello["id"]})).await;
    };
    let joining = Bus::connect(&url, &id, ClientInfo::new("test", "1"), None);
    let (bus, ()) = tokio::join!(joining, far_end);
    match bus.unwrap_err() {
        Error::Refused { code, message } => {
            assert_eq!((code, &*message), (-32002, "Invalid client info: wrong token"));
        }
        other => panic!("unexpected {other}"),
    }
}

#[tokio::test]
async fn where_nothing_listens_the_error_says_what_to_do() {
    let (listener, url) = listen().await;
    drop(listener);
    let id = AgentId::parse("tester").unwrap();
    let info = ClientInfo::new("test", "1");
    let error = Bus::connect(&url, &id, info, None).await.unwrap_err().to_string();
    assert_eq!(error, format!("nothing listens at {url}: start Switchboard, or set BUB_BUS_URL"));
}

#[tokio::test]
async fn answers_find_their_questions_in_whatever_order_they_come() {
    let (bus, mut far) = connected().await;
    let payloads = [Payload::parse("1").unwrap(), Payload::parse("2").unwrap()];
    let sending = async {
        let [first, second] = &payloads;
        tokio::join!(bus.send("a", first), bus.send("b", second))
    };
    let answering = async {
        let (one, two) = (far.json().await, far.json().await);
        far.answer(&two, json!({"success": true, "messageId": "second"})).await;
        far.answer(&one, json!({"success": false, "messageId": "first"})).await;
    };
    let ((first, second), ()) = tokio::join!(sending, answering);
    assert_eq!(first.unwrap().message_id.as_deref(), Some("first"));
    assert_eq!(second.unwrap().message_id.as_deref(), Some("second"));
}

#[tokio::test]
async fn a_payload_keeps_every_digit_both_ways() {
    let (bus, mut far) = connected().await;
    let digits = r#"{"n":123456789012345678901234567890.10}"#;
    let payload = Payload::parse(digits).unwrap();
    let answering = async {
        let sent = far.text().await;
        assert!(sent.contains(digits), "{sent}");
        let acks =
            format!(r#"[{{"client_id":"x","clientId":"x","processed":true,"payload":{digits}}}]"#);
        far.say(format!(r#"{{"jsonrpc":"2.0","result":{{"success":true,"acks":{acks}}},"id":2}}"#))
            .await;
    };
    let (result, ()) = tokio::join!(bus.send("a \"quoted\" topic", &payload), answering);
    let result = result.unwrap();
    let ack = result.acks.first().expect("one ack");
    assert_eq!(ack.payload.as_ref().expect("its payload").get(), digits);
    assert!(result.json.contains(digits), "{}", result.json);
}

#[tokio::test]
async fn a_delivery_is_handed_over_and_its_answer_goes_back_under_its_id() {
    let (bus, mut far) = connected().await;
    far.say(
        r#"{"jsonrpc":"2.0","method":"processMessage","id":"d-1","params":
            {"topic":"inbound:1","payload":{"n":1.0},"from":"alice","messageId":"m-1"}}"#,
    )
    .await;
    let delivery = bus.next_delivery().await.expect("a delivery");
    assert_eq!(delivery.topic, "inbound:1");
    assert_eq!(delivery.payload.as_str(), r#"{"n":1.0}"#);
    assert_eq!(delivery.from.as_deref(), Some("alice"));
    assert_eq!(delivery.message_id.as_deref(), Some("m-1"));

    delivery.answer(Answer::retry("not now", 5)).await.unwrap();
    let answer = far.json().await;
    assert_eq!(answer["id"], "d-1");
    let expected = json!({"processed": false, "message": "not now", "stopPropagation": false,
                          "should_retry": true, "retry_seconds": 5});
    assert_eq!(answer["result"], expected);
}

#[tokio::test]
async fn a_bus_of_the_first_generation_hears_success_too() {
    let (bus, mut far) = connected().await;
    let params = json!({"topic": "inbound:1", "payload": {}});
    far.say(json!({"jsonrpc": "2.0", "method": "sendMessage", "id": 9, "params": params})).await;
    let delivery = bus.next_delivery().await.expect("a delivery");
    delivery.answer(Answer::processed()).await.unwrap();
    let answer = far.json().await;
    assert_eq!(answer["result"]["success"], true);
    assert_eq!(answer["result"]["processed"], true);
}

#[tokio::test]
async fn unknown_methods_and_broken_deliveries_are_refused_not_ignored() {
    let (_bus, mut far) = connected().await;
    far.say(json!({"jsonrpc": "2.0", "method": "dance", "id": 1, "params": {}})).await;
    assert_eq!(far.json().await["error"]["code"], -32601);
    far.say(json!({"jsonrpc": "2.0", "method": "processMessage", "id": 2, "params": {}})).await;
    assert_eq!(far.json().await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_full_inbox_declines_and_asks_to_try_again_while_calls_still_pass() {
    let (bus, mut far) = connected().await;
    let params = json!({"topic": "inbound:1", "payload": {}});
    for id in 0..=INBOX {
        far.say(json!({"jsonrpc": "2.0", "method": "processMessage", "id": id, "params": params}))
            .await;
    }
    let declined = far.json().await;
    assert_eq!(declined["id"], INBOX, "the one that did not fit");
    assert_eq!(declined["result"]["should_retry"], true);

    let answering = async {
        let ping = far.json().await;
        far.answer(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(bus.ping(), answering);
    pong.unwrap();
}

#[tokio::test]
async fn a_lost_connection_ends_every_question_now_and_later() {
    let (bus, far) = connected().await;
    let leaving = async {
        let mut far = far;
        far.json().await;
        drop(far);
    };
    let (asked, ()) = tokio::join!(bus.ping(), leaving);
    assert!(matches!(asked, Err(Error::Ended { .. })), "{asked:?}");
    assert!(matches!(bus.ping().await, Err(Error::Ended { .. })));
    assert!(bus.next_delivery().await.is_none());
    assert!(bus.ended().is_some());
}

#[tokio::test]
async fn closing_writes_what_is_left_and_then_says_goodbye() {
    let (bus, mut far) = connected().await;
    far.say(json!({"jsonrpc": "2.0", "method": "processMessage", "id": 1,
                   "params": {"topic": "t", "payload": {}}}))
        .await;
    let delivery = bus.next_delivery().await.expect("a delivery");
    delivery.answer(Answer::processed()).await.unwrap();
    let far_end = async {
        assert_eq!(far.json().await["result"]["processed"], true);
        let goodbye = far.0.next().await.expect("a frame").expect("a whole frame");
        assert!(goodbye.is_close(), "{goodbye:?}");
        while far.0.next().await.is_some() {}
    };
    tokio::join!(bus.close(), far_end);
}

#[tokio::test]
async fn dropping_the_last_handle_says_goodbye() {
    let (bus, mut far) = connected().await;
    let clone = bus.clone();
    drop(bus);
    let answering = async {
        let ping = far.json().await;
        far.answer(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(clone.ping(), answering);
    pong.expect("a clone keeps the connection");
    drop(clone);
    let goodbye = far.0.next().await.expect("a frame").expect("a whole frame");
    assert!(goodbye.is_close(), "{goodbye:?}");
}

#[tokio::test]
async fn priority_and_time_to_live_travel_beside_the_payload_and_only_when_given() {
    let (bus, mut far) = connected().await;
    let payload = Payload::parse("{}").unwrap();
    let options = SendOptions {
        priority: Some(Priority::Urgent),
        ttl: Some(Duration::from_millis(1500)),
        conversation: None,
    };
    let sending = async {
        bus.send_with("a", &payload, &options).await.unwrap();
        bus.send("a", &payload).await.unwrap()
    };
    let answering = async {
        let (chosen, plain) = (far.json().await, json!({"success": true}));
        far.answer(&chosen, plain.clone()).await;
        let usual = far.json().await;
        far.answer(&usual, plain).await;
        (chosen, usual)
    };
    let (_, (chosen, usual)) = tokio::join!(sending, answering);
    let expected = json!({"topic": "a", "payload": {}, "priority": "URGENT", "ttl_seconds": 1.5});
    assert_eq!(chosen["params"], expected);
    assert_eq!(usual["params"], json!({"topic": "a", "payload": {}}));
}
