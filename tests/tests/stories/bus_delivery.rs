//! How a message reaches its recipients, and what its sender is told.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::peer::Peer;

fn hello(topic: &str) -> Value {
    json!({ "topic": topic, "payload": { "type": "plaintext_message", "text": "hello" } })
}

async fn result_of(peer: &mut Peer, id: u64) -> Value {
    peer.response_to(&json!(id)).await["result"].clone()
}

#[tokio::test]
async fn a_message_reaches_its_subscriber_and_the_answer_its_sender() {
    let board = Board::start().await;
    let (mut sender, mut listener) = (board.agent("sender").await, board.agent("listener").await);
    listener.subscribe("inbound:*").await;

    let id = sender.ask("sendMessage", hello("inbound:chat-1")).await;
    let delivery = listener.delivery().await;
    assert_eq!(delivery["method"], "processMessage");
    assert_eq!(delivery["params"]["topic"], "inbound:chat-1");
    assert_eq!(delivery["params"]["payload"]["text"], "hello");
    assert_eq!(delivery["params"]["from"], "sender", "the authenticated agent");
    let answer = json!({ "processed": true, "message": "done", "payload": { "n": 1 } });
    listener.answer(&delivery, answer).await;

    let result = result_of(&mut sender, id).await;
    assert_eq!(result["success"], true);
    assert_eq!(result["accepted"], true);
    assert_eq!(result["stopPropagation"], false);
    assert_eq!(result["deliveredTo"], 1);
    assert_eq!(result["messageId"], delivery["params"]["messageId"]);
    let ack = &result["acks"][0];
    assert_eq!((&ack["client_id"], &ack["clientId"]), (&json!("listener"), &json!("listener")));
    assert_eq!((&ack["processed"], &ack["success"]), (&json!(true), &json!(true)));
    assert_eq!((&ack["message"], &ack["payload"]), (&json!("done"), &json!({ "n": 1 })));

    let row = board.newest_in_state("processed").await;
    assert_eq!((&row["from"], &row["to"]), (&json!("sender"), &json!("listener")));
    let detail = board.call("message", json!({ "id": row["id"] })).await;
    assert_eq!(detail["deliveries"][0]["pattern"], "inbound:*");
    assert_eq!(detail["deliveries"][0]["attempts"][0]["outcome"], "processed");
}

#[tokio::test]
async fn the_sender_is_who_it_is_whatever_it_says() {
    let board = Board::start().await;
    let (mut sender, mut listener) = (board.agent("sender").await, board.agent("listener").await);
    listener.subscribe("x").await;
    let params = json!({ "from": "boss", "to": "x", "messageId": "1",
                         "payload": { "type": "t", "from": "boss" } });
    sender.ask("sendMessage", params).await;
    assert_eq!(listener.process().await["params"]["from"], "sender");
}

#[tokio::test]
async fn numbers_and_text_arrive_to_the_letter() {
    let board = Board::start().await;
    let (mut sender, mut listener) = (board.agent("sender").await, board.agent("listener").await);
    listener.subscribe("x").await;
    let payload =
        r#"{"type":"t","big":123456789012345678901234567890,"e":1.0e-2,"s":"\u00e9 \"q\""}"#;
    sender
        .say(format!(
            r#"{{"jsonrpc":"2.0","method":"sendMessage","params":{{"topic":"x","payload":{payload}}},"id":9}}"#
        ))
        .await;
    listener.process().await;
    let row = board.newest_in_state("processed").await;
    let detail = board.call("message", json!({ "id": row["id"] })).await;
    assert_eq!(detail["payloadText"], payload);
}

#[tokio::test]
async fn a_peer_that_knows_only_send_message_is_served_by_it_from_then_on() {
    let board = Board::start().await;
    let (mut sender, mut early) = (board.agent("sender").await, board.agent("early").await);
    early.subscribe("x").await;
    for round in 0..2 {
        let id = sender.ask("sendMessage", hello("x")).await;
        let mut delivery = early.delivery().await;
        if round == 0 {
            assert_eq!(delivery["method"], "processMessage");
            let error = json!({ "code": -32601, "message": "Method not found" });
            early
                .say(json!({ "jsonrpc": "2.0", "error": error, "id": delivery["id"] }).to_string())
                .await;
            delivery = early.delivery().await;
        }
        assert_eq!(delivery["method"], "sendMessage");
        early.answer(&delivery, json!({ "success": true, "stopPropagation": false })).await;
        let result = result_of(&mut sender, id).await;
        assert_eq!(result["success"], true, "round {round}: {result}");
    }
}

/// A sender, and two who listen to `inbound:chat-1`: the newer is asked first.
async fn two_listeners(board: &Board) -> (Peer, Peer, Peer) {
    let mut older = board.agent("older").await;
    older.subscribe("inbound:*").await;
    let mut newer = board.agent("newer").await;
    newer.subscribe("inbound:chat-1").await;
    (board.agent("sender").await, older, newer)
}

#[tokio::test]
async fn early_clients_all_hear_a_topic_until_one_stops_it() {
    let board = Board::start().await;
    let (mut sender, mut older, mut newer) = two_listeners(&board).await;

    let id = sender.ask("sendMessage", hello("inbound:chat-1")).await;
    let first = newer.delivery().await;
    newer.answer(&first, json!({ "success": true, "stopPropagation": false })).await;
    let second = older.delivery().await;
    older.answer(&second, json!({ "success": true, "stopPropagation": false })).await;
    let result = result_of(&mut sender, id).await;
    assert_eq!((&result["success"], &result["deliveredTo"]), (&json!(true), &json!(2)));

    let id = sender.ask("sendMessage", hello("inbound:chat-1")).await;
    let first = newer.delivery().await;
    newer.answer(&first, json!({ "success": true, "stopPropagation": true })).await;
    let result = result_of(&mut sender, id).await;
    assert_eq!((&result["stopPropagation"], &result["deliveredTo"]), (&json!(true), &json!(1)));
}

#[tokio::test]
async fn the_first_that_processes_ends_the_chain_and_who_declines_passes_it_on() {
    let board = Board::start().await;
    let (mut sender, mut older, mut newer) = two_listeners(&board).await;

    let id = sender.ask("sendMessage", hello("inbound:chat-1")).await;
    newer.process().await;
    assert_eq!(result_of(&mut sender, id).await["deliveredTo"], 1);

    let id = sender.ask("sendMessage", hello("inbound:chat-1")).await;
    let delivery = newer.delivery().await;
    newer.answer(&delivery, json!({ "processed": false, "message": "not mine" })).await;
    older.process().await;
    let result = result_of(&mut sender, id).await;
    let who: Vec<_> =
        result["acks"].as_array().unwrap().iter().map(|ack| &ack["clientId"]).collect();
    assert_eq!(who, ["newer", "older"]);
    assert_eq!(result["success"], true);
}

#[tokio::test]
async fn nobody_subscribed_is_a_dead_letter_and_no_success() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    let result = sender.ok("sendMessage", hello("nowhere")).await;
    assert_eq!((&result["success"], &result["accepted"]), (&json!(false), &json!(true)));
    assert_eq!((&result["deliveredTo"], &result["acks"]), (&json!(0), &json!([])));
    let row = board.newest_in_state("dead").await;
    let detail = board.call("message", json!({ "id": row["id"] })).await;
    assert_eq!(detail["letter"]["reason"], "nobodySubscribed");
}

#[tokio::test]
async fn answers_that_are_none_silence_and_departure_each_have_their_reason() {
    let board = Board::with("[delivery]\nattempts = 1\ntimeout_ms = 100").await;
    let mut sender = board.agent("sender").await;
    let cases = [
        ("declinedByAll", "declined"),
        ("invalidAnswer", "invalidAnswer"),
        ("timedOut", "timedOut"),
        ("agentGone", "disconnected"),
    ];
    for (reason, outcome) in cases {
        let mut listener = board.agent("listener").await;
        listener.subscribe("x").await;
        let id = sender.ask("sendMessage", hello("x")).await;
        let delivery = listener.delivery().await;
        match reason {
            "declinedByAll" => listener.answer(&delivery, json!({ "processed": false })).await,
            "invalidAnswer" => listener.answer(&delivery, json!({ "mood": "fine" })).await,
            "timedOut" => {}
            _ => listener.vanish(),
        }
        let result = result_of(&mut sender, id).await;
        assert_eq!(result["success"], false, "{reason}");
        assert_eq!(result["acks"][0]["processed"], false, "{reason}");
        let row = board.newest_in_state("dead").await;
        let detail = board.call("message", json!({ "id": row["id"] })).await;
        assert_eq!(detail["letter"]["reason"], reason);
        assert_eq!(detail["deliveries"][0]["attempts"][0]["outcome"], outcome);
    }
}

#[tokio::test]
async fn a_known_agent_that_is_away_gets_its_messages_in_order_when_it_returns() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    board.agent("worker").await.vanish();
    board.is_away("worker").await;
    for n in 0..20 {
        let params = json!({ "topic": "agent:worker", "payload": { "type": "job", "n": n } });
        let result = sender.ok("sendMessage", params).await;
        assert_eq!(result["success"], true, "it waits: {result}");
        assert_eq!(result["deliveredTo"], 0);
    }
    assert_eq!(board.totals().await["waiting"], 20);
    let mut worker = board.agent("worker").await;
    worker.subscribe("agent:worker").await;
    for n in 0..20 {
        assert_eq!(worker.process().await["params"]["payload"]["n"], n);
    }
    eventually("all are processed", async || {
        let totals = board.totals().await;
        (totals["processed"] == 20 && totals["waiting"] == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_waits_is_still_there_after_a_restart() {
    let board = Board::start().await;
    board.agent("worker").await;
    let mut sender = board.agent("sender").await;
    for n in 0..5 {
        let params = json!({ "topic": "agent:worker", "payload": { "type": "job", "n": n } });
        sender.ok("sendMessage", params).await;
    }
    let folder = board.stop().await;
    let board = Board::reopen(folder, "").await;
    assert_eq!(board.totals().await["waiting"], 5);
    let mut worker = board.agent("worker").await;
    worker.subscribe("agent:worker").await;
    for n in 0..5 {
        assert_eq!(worker.process().await["params"]["payload"]["n"], n);
    }
    assert_eq!(board.messages().await.len(), 5, "history is still there");
}

#[tokio::test]
async fn messages_of_one_sender_arrive_in_their_order() {
    let board = Board::start().await;
    let (mut sender, mut listener) = (board.agent("sender").await, board.agent("listener").await);
    listener.subscribe("x").await;
    for n in 0..300 {
        let params = json!({ "topic": "x", "payload": { "type": "t", "n": n } });
        sender.ask("sendMessage", params).await;
    }
    for n in 0..300 {
        assert_eq!(listener.process().await["params"]["payload"]["n"], n);
    }
}

#[tokio::test]
async fn an_observer_hears_everything_and_stops_nothing() {
    let board = Board::start().await;
    let (mut sender, mut handler) = (board.agent("sender").await, board.agent("handler").await);
    handler.subscribe("x").await;
    let mut observer = board.agent("observer").await;
    observer.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;
    let id = sender.ask("sendMessage", hello("x")).await;
    let seen = observer.delivery().await;
    let stop = json!({ "processed": true, "stopPropagation": true });
    observer.answer(&seen, stop).await;
    let delivery = handler.delivery().await;
    handler.answer(&delivery, json!({ "processed": false })).await;
    let result = result_of(&mut sender, id).await;
    assert_eq!(result["success"], false, "an observer does not take a handler's place");
    assert_eq!(result["deliveredTo"], 2);

    handler.ok("unsubscribe", json!({ "topic": "x" })).await;
    let id = sender.ask("sendMessage", hello("x")).await;
    observer.process().await;
    assert_eq!(result_of(&mut sender, id).await["success"], true, "alone it settles the message");
}

#[tokio::test]
async fn when_one_connection_of_an_agent_breaks_another_that_listens_is_asked() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    for topic in ["agent:worker", "jobs"] {
        let mut older = board.agent("worker").await;
        older.subscribe(topic).await;
        let mut newer = board.agent("worker").await;
        newer.subscribe(topic).await;
        let id = sender.ask("sendMessage", hello(topic)).await;
        newer.delivery().await;
        newer.vanish();
        older.process().await;
        let result = result_of(&mut sender, id).await;
        assert_eq!(result["success"], true, "{topic}: {result}");
        older.vanish();
    }
}

#[tokio::test]
async fn what_waits_for_one_agent_is_not_taken_by_another_that_listens_to_everything() {
    let board = Board::start().await;
    board.agent("worker").await.vanish();
    board.is_away("worker").await;
    let mut sender = board.agent("sender").await;
    let mut logger = board.agent("logger").await;
    logger.ok("subscribe", json!({ "topic": "*", "policy": "continueAll" })).await;

    let id = sender.ask("sendMessage", hello("agent:worker")).await;
    logger.process().await;
    let result = result_of(&mut sender, id).await;
    assert_eq!((&result["success"], &result["accepted"]), (&json!(true), &json!(true)));
    assert_eq!(board.totals().await["waiting"], 1, "seen by the observer, it still waits");

    let mut nosy = board.agent("nosy").await;
    nosy.subscribe("agent:*").await;
    assert_eq!(board.totals().await["waiting"], 1, "another's pattern does not take it");
    let mut worker = board.agent("worker").await;
    worker.subscribe("agent:worker").await;
    worker.process().await;
    eventually("the worker has processed it", async || {
        let rows = board.messages().await;
        rows.into_iter().find(|row| row["to"] == "worker" && row["state"] == "processed")
    })
    .await;
}

#[tokio::test]
async fn an_answer_of_null_is_an_answer() {
    let board = Board::with("[delivery]\nattempts = 1").await;
    let (mut sender, mut listener) = (board.agent("sender").await, board.agent("listener").await);
    listener.subscribe("x").await;
    let id = sender.ask("sendMessage", hello("x")).await;
    let delivery = listener.delivery().await;
    listener.answer(&delivery, Value::Null).await;
    assert_eq!(result_of(&mut sender, id).await["success"], false);
    let row = board.newest_in_state("dead").await;
    let detail = board.call("message", json!({ "id": row["id"] })).await;
    assert_eq!(detail["letter"]["reason"], "invalidAnswer");
    listener.ok("ping", json!({})).await;
}

#[tokio::test]
async fn one_that_talks_to_itself_is_heard_however_much_it_has_asked() {
    let board = Board::start().await;
    let mut echo = board.agent("echo").await;
    echo.subscribe("x").await;
    for _ in 0..1500 {
        echo.ask("sendMessage", hello("x")).await;
    }
    for _ in 0..1500 {
        echo.process().await;
    }
    eventually("all are processed", async || {
        (board.totals().await["processed"] == 1500).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_a_recipient_gave_back_is_kept_and_its_words_are_cut_to_size() {
    let board = Board::start().await;
    let (mut sender, mut listener) = (board.agent("sender").await, board.agent("listener").await);
    listener.subscribe("x").await;
    sender.ask("sendMessage", hello("x")).await;
    let delivery = listener.delivery().await;
    let words = "w".repeat(100_000);
    listener
        .answer(&delivery, json!({ "processed": true, "message": words, "payload": { "n": 1 } }))
        .await;
    let row = board.newest_in_state("processed").await;
    let detail = board.call("message", json!({ "id": row["id"] })).await;
    let attempt = &detail["deliveries"][0]["attempts"][0];
    assert_eq!(attempt["payloadText"], r#"{"n":1}"#);
    assert!(attempt["message"].as_str().unwrap().len() < 2000);
}
