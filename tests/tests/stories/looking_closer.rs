//! What the operator sees of one message, of how busy it was, and what is kept for another time.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::lobby_agent::LobbyAgent;

#[tokio::test]
async fn a_message_is_shown_in_the_words_of_each_door_and_with_its_answer() {
    let board = Board::start().await;
    let price =
        json!([{ "name": "price", "description": "", "input_schema": {}, "output_schema": {} }]);
    let mut hunter = LobbyAgent::register(&board, "hunter", price).await;
    let mut shopper = board.agent("shopper").await;
    let payload =
        json!({ "type": "price", "item": "<b>tea</b>", "cents": 12_345_678_901_234_567_890_u64 });
    let message = json!({ "topic": "agent:hunter", "payload": payload });
    let sending = shopper.ok("sendMessage", message);
    let answering = async {
        let request = hunter.hear("REQUEST").await;
        hunter.respond(&request, json!({ "status": "success", "found": 3 })).await;
    };
    tokio::join!(sending, answering);

    let request = eventually("the request is on disk", async || {
        let rows = board.messages().await;
        rows.into_iter().find(|row| row["kind"] == "request" && row["state"] == "processed")
    })
    .await;
    let one = json!({ "id": request["id"] });
    let forms = board.call("messageForms", one.clone()).await["forms"].clone();
    let form = |place: usize| -> (String, String, Value) {
        let form = &forms[place];
        let text = form["text"].as_str().unwrap();
        let said = |name: &str| form[name].as_str().unwrap().to_owned();
        assert!(text.contains("12345678901234567890"), "numbers keep their text: {text}");
        (said("door"), said("direction"), serde_json::from_str(text).unwrap())
    };
    let (door, direction, came_in) = form(0);
    assert_eq!((door.as_str(), direction.as_str()), ("bus", "in"));
    assert_eq!(came_in["params"]["payload"]["item"], "<b>tea</b>");
    let (door, direction, went_out) = form(1);
    assert_eq!((door.as_str(), direction.as_str()), ("lobby", "out"));
    assert_eq!(went_out["payload"]["capability_name"], "price");
    assert_eq!(went_out["sender_id"], "shopper");

    let related = eventually("the answer is found from the request", async || {
        let related = board.call("relatedMessages", one.clone()).await["messages"].clone();
        let answer = related.as_array()?.iter().find(|one| one["relation"] == "answer")?;
        (answer["row"]["from"] == "hunter").then(|| answer.clone())
    })
    .await;
    let back = board.call("relatedMessages", json!({ "id": related["row"]["id"] })).await;
    let question =
        back["messages"].as_array().unwrap().iter().find(|one| one["relation"] == "question");
    assert_eq!(question.unwrap()["row"]["id"], request["id"]);
}

#[tokio::test]
async fn how_busy_it_was_is_counted_second_by_second_and_survives_a_restart_by_the_minute() {
    let board = Board::start().await;
    let mut worker = board.agent("worker").await;
    worker.subscribe("work").await;
    let mut sender = board.agent("sender").await;
    for n in 0..3 {
        let message = json!({ "topic": "work", "payload": { "type": "t", "n": n } });
        tokio::join!(sender.ok("sendMessage", message), worker.process());
    }
    sender.ok("sendMessage", json!({ "topic": "nowhere", "payload": { "type": "t" } })).await;

    let sum = |history: &Value, what: &str| -> u64 {
        history[what].as_array().unwrap().iter().filter_map(Value::as_u64).sum()
    };
    let counted =
        |history: &Value| ["accepted", "processed", "dead"].map(|what| sum(history, what));
    eventually("the last minutes are told", async || {
        let history = board.call("figureHistory", json!({ "minutes": 5 })).await;
        (counted(&history) == [4, 3, 1]).then_some(())
    })
    .await;
    let of_door = board.call("figureHistory", json!({ "minutes": 5, "door": "bus" })).await;
    assert_eq!(counted(&of_door), [4, 3, 1]);
    let of_worker = board.call("figureHistory", json!({ "minutes": 5, "agent": "worker" })).await;
    assert_eq!(counted(&of_worker), [0, 3, 0]);
    assert!(of_worker["p50Micros"].as_array().unwrap().iter().any(|time| !time.is_null()));
    let busy = board.call("busy", json!({ "minutes": 1, "by": "agent" })).await;
    assert_eq!(busy["rows"][0]["name"], "sender");
    assert_eq!(busy["rows"][0]["accepted"], 4);
    assert_eq!(busy["rows"][0]["traffic"].as_array().unwrap().len(), 60);

    let board = Board::reopen(board.stop().await, "").await;
    for minutes in [60, 1440, 10_080] {
        let history = board.call("figureHistory", json!({ "minutes": minutes })).await;
        assert_eq!(counted(&history), [4, 3, 1], "over {minutes} minutes");
        let before = &history["accepted"][0];
        assert!(before.is_null(), "nobody knows of the time before: {before}");
    }
    let doors = board.call("busy", json!({ "minutes": 60, "by": "door" })).await;
    assert_eq!(
        (&doors["rows"][0]["name"], &doors["rows"][0]["accepted"]),
        (&json!("bus"), &json!(4))
    );
}

#[tokio::test]
async fn a_saved_filter_is_there_after_a_restart_until_it_is_forgotten() {
    let board = Board::start().await;
    let filter = json!({ "kind": "filter", "name": " what failed ", "text": "state:dead" });
    board.call("save", filter).await;
    let board = Board::reopen(board.stop().await, "").await;
    let saved = board.call("saved", json!({})).await["saved"].clone();
    assert_eq!(saved[0]["name"], "what failed");
    assert_eq!(saved[0]["text"], "state:dead");
    for wrong in [
        json!({ "kind": "filter", "name": "  ", "text": "x" }),
        json!({ "kind": "filter", "name": "x".repeat(81), "text": "x" }),
        json!({ "kind": "template", "name": "x", "text": "x".repeat(70_000) }),
    ] {
        let refused = board.console().call(json!({ "method": "save", "params": wrong })).await;
        assert!(refused.is_err());
    }
    let left = board.call("save", json!({ "kind": "filter", "name": "what failed" })).await;
    assert_eq!(left["saved"], json!([]));
}

#[tokio::test]
async fn messages_are_found_by_time_priority_conversation_and_slowness() {
    let board = Board::start().await;
    let price =
        json!([{ "name": "price", "description": "", "input_schema": {}, "output_schema": {} }]);
    let mut hunter = LobbyAgent::register(&board, "hunter", price).await;
    let mut shopper = LobbyAgent::register(&board, "shopper", json!([])).await;
    shopper.request("hunter", "talk-1", json!({ "capability_name": "price" })).await;
    let request = hunter.hear("REQUEST").await;
    hunter.respond(&request, json!({ "status": "success" })).await;
    shopper.hear("RESPONSE").await;
    let found = async |filter: Value| {
        let page = board.call("messages", json!({ "filter": filter, "limit": 10 })).await;
        page["rows"].as_array().unwrap().len()
    };
    eventually("both are on disk and settled", async || {
        let settled = found(json!({ "state": "processed" })).await;
        (settled == 2).then_some(())
    })
    .await;
    let rows = board.messages().await;
    let (response, request) = (&rows[0], &rows[1]);
    assert_eq!(found(json!({ "conversation": "talk-1" })).await, 2);
    assert_eq!(found(json!({ "conversation": "talk-2" })).await, 0);
    assert_eq!(found(json!({ "priority": "NORMAL" })).await, 2);
    assert_eq!(found(json!({ "priority": "URGENT" })).await, 0);
    assert_eq!(found(json!({ "since": response["createdAt"] })).await, 1);
    assert_eq!(found(json!({ "until": response["createdAt"] })).await, 1);
    assert_eq!(found(json!({ "until": request["createdAt"] })).await, 0);
    assert_eq!(found(json!({ "slowerMicros": 1 })).await, 2);
    assert_eq!(found(json!({ "slowerMicros": 60_000_000 })).await, 0);
}
