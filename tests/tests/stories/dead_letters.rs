//! Dead letters: replayed, changed, sent elsewhere, thrown away, taken back, carried to another broker.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::peer::Peer;

async fn die(sender: &mut Peer, topic: &str, n: u32) -> String {
    let params = json!({ "topic": topic, "payload": { "type": "job", "n": n } });
    let result = sender.ok("sendMessage", params).await;
    assert_eq!(result["success"], false, "nobody listens to {topic}");
    result["messageId"].as_str().unwrap().to_owned()
}

async fn letters(board: &Board, filter: Value) -> Vec<Value> {
    let page =
        board.call("deadLetters", json!({ "filter": filter, "limit": 500, "payloads": true }));
    page.await["rows"].as_array().unwrap().clone()
}

/// Waits until there are so many open letters on disk.
async fn open_letters(board: &Board, count: usize) -> Vec<Value> {
    eventually(&format!("{count} letters are open"), async || {
        let open = letters(board, json!({})).await;
        (open.len() == count).then_some(open)
    })
    .await
}

async fn job_done(board: &Board, id: &Value) -> Value {
    eventually("the job is done", async || {
        let jobs = board.call("jobs", json!({})).await["jobs"].as_array().unwrap().clone();
        jobs.into_iter().find(|job| job["id"] == *id && job["status"] == "done")
    })
    .await
}

/// The sum of promise 2.
async fn adds_up(board: &Board) -> Value {
    let totals = board.totals().await;
    let parts = ["processed", "waiting", "dead", "discarded", "expired"];
    let sum: u64 = parts.iter().map(|part| totals[part].as_u64().unwrap()).sum();
    assert_eq!(totals["accepted"].as_u64().unwrap(), sum, "{totals}");
    totals
}

async fn refused(board: &Board, method: &str, params: Value) -> String {
    let call = board.console().call(json!({ "method": method, "params": params })).await;
    call.unwrap_err().message
}

#[tokio::test]
async fn a_replay_is_a_new_message_linked_to_the_old_and_closes_the_letter() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    let old = die(&mut sender, "jobs", 1).await;
    let letter = open_letters(&board, 1).await.remove(0);
    assert_eq!((&letter["id"], &letter["messageId"]), (&json!(old), &json!(old)));
    assert_eq!((&letter["reason"], &letter["attempts"]), (&json!("nobodySubscribed"), &json!(0)));
    assert_eq!(letter["payload"], json!({ "type": "job", "n": 1 }));

    let mut worker = board.agent("worker").await;
    worker.subscribe("jobs").await;
    let (result, delivery) =
        tokio::join!(board.call("replay", json!({ "id": old })), worker.process());
    assert_eq!(result["state"], "processed");
    let new = result["messageId"].clone();
    assert_eq!(delivery["params"]["messageId"], new);
    assert_ne!(new, old);
    assert_eq!(delivery["params"]["from"], "sender", "its sender is who it was");
    assert_eq!(delivery["params"]["payload"], json!({ "type": "job", "n": 1 }));
    let fresh = board.call("message", json!({ "id": new })).await;
    assert_eq!(fresh["replayOf"], old);
    let closed = board.call("message", json!({ "id": old })).await;
    assert_eq!(closed["letter"]["status"], "replayed");
    assert_eq!(closed["letter"]["replayedAs"], new);
    assert_eq!(letters(&board, json!({})).await.len(), 0);
    assert_eq!(letters(&board, json!({ "status": "replayed" })).await.len(), 1);
    let totals = adds_up(&board).await;
    assert_eq!((&totals["accepted"], &totals["processed"]), (&json!(2), &json!(2)));
    let said = refused(&board, "replay", json!({ "id": old })).await;
    assert!(said.contains("no open dead letter"), "{said}");
}

#[tokio::test]
async fn a_letter_can_be_changed_and_sent_elsewhere_and_may_die_again() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    let old = die(&mut sender, "jobs", 1).await;
    open_letters(&board, 1).await;
    let said = refused(&board, "replay", json!({ "id": old, "payload": "{" })).await;
    assert!(said.contains("not valid JSON"), "{said}");
    assert_eq!(letters(&board, json!({})).await.len(), 1, "a refused replay closes nothing");

    let again = board.call("replay", json!({ "id": old, "topic": "nowhere" })).await;
    assert_eq!(again["state"], "dead");
    let second = open_letters(&board, 1).await.remove(0);
    assert_eq!((&second["id"], &second["replayOf"]), (&again["messageId"], &json!(old)));

    let mut other = board.agent("other").await;
    other.subscribe("agent:other").await;
    let change = json!({ "id": second["id"], "topic": "agent:other", "payload": "{\"type\":\"job\",\"n\":2}" });
    let (result, delivery) = tokio::join!(board.call("replay", change), other.process());
    assert_eq!(result["state"], "processed");
    assert_eq!(delivery["params"]["payload"]["n"], 2);
    assert_eq!(delivery["params"]["topic"], "agent:other");
    adds_up(&board).await;
}

#[tokio::test]
async fn many_are_replayed_on_the_server_by_filter_in_order_and_none_twice() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    for n in 0..150 {
        die(&mut sender, if n % 3 == 0 { "other" } else { "jobs" }, n).await;
    }
    open_letters(&board, 150).await;
    let mut worker = board.agent("worker").await;
    worker.subscribe("jobs").await;
    let job =
        board.call("replayMany", json!({ "filter": { "message": { "topic": "jobs" } } })).await;
    assert_eq!((&job["kind"], &job["total"]), (&json!("replay"), &json!(100)));
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen.push(worker.process().await["params"]["payload"]["n"].as_u64().unwrap());
    }
    assert!(seen.is_sorted(), "oldest first: {seen:?}");
    seen.dedup();
    assert_eq!(seen.len(), 100);
    let job = job_done(&board, &job["id"]).await;
    assert_eq!((&job["done"], &job["failed"]), (&json!(100), &json!(0)));
    assert_eq!(letters(&board, json!({})).await.len(), 50, "the others are left");
    adds_up(&board).await;
}

#[tokio::test]
async fn a_job_keeps_to_its_rate_can_be_stopped_and_goes_on_after_a_restart() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    board.agent("worker").await.vanish();
    for n in 0..30 {
        die(&mut sender, "jobs", n).await;
    }
    open_letters(&board, 30).await;
    let slow = json!({ "filter": {}, "topic": "agent:worker", "perSecond": 5 });
    let job = board.call("replayMany", slow).await;
    eventually("some are replayed", async || {
        (board.totals().await["waiting"].as_u64().unwrap() >= 2).then_some(())
    })
    .await;
    let stopped = board.call("stopJob", json!({ "id": job["id"] })).await;
    assert_eq!(stopped["status"], "stopped");
    let done = stopped["done"].as_u64().unwrap();
    assert!((1..30).contains(&done), "{stopped}");
    let said = refused(&board, "stopJob", json!({ "id": job["id"] })).await;
    assert!(said.contains("no job"), "{said}");

    let board = Board::reopen(board.stop().await, "").await;
    assert_eq!(board.totals().await["waiting"], done, "nothing went on by itself");
    board.call("resumeJob", json!({ "id": job["id"] })).await;
    let job = job_done(&board, &job["id"]).await;
    assert_eq!((&job["done"], &job["total"]), (&json!(30), &json!(30)));
    let mut worker = board.agent("worker").await;
    worker.subscribe("agent:worker").await;
    for n in 0..30 {
        assert_eq!(worker.process().await["params"]["payload"]["n"], n, "each once, in order");
    }
    adds_up(&board).await;
}

#[tokio::test]
async fn letters_are_thrown_away_with_a_reason_and_can_be_taken_back() {
    let board = Board::start().await;
    let mut sender = board.agent("sender").await;
    let first = die(&mut sender, "jobs", 1).await;
    for n in 2..=5 {
        die(&mut sender, "jobs", n).await;
    }
    open_letters(&board, 5).await;
    let said = refused(&board, "discard", json!({ "filter": {}, "reason": " " })).await;
    assert!(said.contains("say why"), "{said}");
    let one = json!({ "filter": { "ids": [first] }, "reason": "a test" });
    job_done(&board, &board.call("discard", one).await["id"]).await;
    open_letters(&board, 4).await;
    let life = board.call("message", json!({ "id": first })).await;
    assert_eq!(
        (&life["letter"]["status"], &life["letter"]["note"]),
        (&json!("discarded"), &json!("a test"))
    );
    assert_eq!(life["row"]["state"], "discarded");
    assert_eq!(life["row"]["error"], "nobody is subscribed to its topic", "what went wrong stays");

    let rest = board.call("discard", json!({ "filter": {}, "reason": "old" })).await;
    job_done(&board, &rest["id"]).await;
    open_letters(&board, 0).await;
    assert_eq!(adds_up(&board).await["discarded"], 5);
    let undo = board.call("restore", json!({ "filter": { "closedBy": rest["id"] } })).await;
    assert_eq!(undo["total"], 4);
    job_done(&board, &undo["id"]).await;
    open_letters(&board, 4).await;
    let totals = adds_up(&board).await;
    assert_eq!((&totals["discarded"], &totals["dead"]), (&json!(1), &json!(4)));
}

#[tokio::test]
async fn letters_are_carried_to_another_broker_whole() {
    let board = Board::with("[delivery]\nattempts = 2\nbackoff_ms = 10").await;
    let (mut sender, mut worker) = (board.agent("sender").await, board.agent("worker").await);
    worker.subscribe("jobs").await;
    let asked = sender
        .ask("sendMessage", json!({ "topic": "jobs", "payload": { "type": "job", "big": 1 } }))
        .await;
    for _ in 0..2 {
        let delivery = worker.delivery().await;
        worker
            .answer(&delivery, json!({ "processed": false, "should_retry": true, "message": "no" }))
            .await;
    }
    sender.response_to(&json!(asked)).await;
    die(&mut sender, "nowhere", 2).await;
    open_letters(&board, 2).await;
    let lines = board.call("exportLetters", json!({ "filter": {} })).await;
    assert_eq!(lines["next"], Value::Null);
    let text = lines["lines"].as_str().unwrap().to_owned();

    let other = Board::start().await;
    let with_rubbish = format!("{text}\nrubbish\n");
    let result = other.call("importLetters", json!({ "lines": with_rubbish })).await;
    assert_eq!((&result["imported"], &result["alreadyHere"]), (&json!(2), &json!(0)));
    assert_eq!(result["refused"][0]["line"], 4);
    assert_eq!(other.call("exportLetters", json!({ "filter": {} })).await["lines"], text);
    let again = other.call("importLetters", json!({ "lines": text })).await;
    assert_eq!((&again["imported"], &again["alreadyHere"]), (&json!(0), &json!(2)));
    let whole = open_letters(&other, 2).await.remove(1);
    assert_eq!((&whole["attempts"], &whole["to"]), (&json!(2), &json!("worker")));
    assert_eq!(adds_up(&other).await["dead"], 2);

    let mut worker = other.agent("worker").await;
    worker.subscribe("jobs").await;
    let ours = letters(&other, json!({ "reason": "gaveUp" })).await.remove(0);
    let (result, _) =
        tokio::join!(other.call("replay", json!({ "id": ours["id"] })), worker.process());
    assert_eq!(result["state"], "processed");
    adds_up(&other).await;
}

/// A letter as it comes from elsewhere.
fn line(number: u32, changes: &Value) -> String {
    let mut line = json!({
        "id": format!("0199a1b2-0000-7000-8000-{number:012}"),
        "from": "sender",
        "topic": "jobs",
        "kind": "event",
        "priority": "NORMAL",
        "door": "bus",
        "createdAt": "2025-01-01T00:00:00Z",
        "reason": "gaveUp",
        "diedAt": "2025-01-01T00:00:01Z",
        "payload": { "type": "job", "n": number },
    });
    let changes = changes.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(changes);
    line.to_string()
}

#[tokio::test]
async fn the_longest_message_is_as_long_for_the_operator_as_for_everybody() {
    let board = Board::with("[limits]\nmessage_bytes = 2000").await;
    let long = format!("\"{}\"", "x".repeat(2000));
    let lines = [line(1, &json!({})), line(2, &json!({ "payload": "x".repeat(2000) }))].join("\n");
    let result = board.call("importLetters", json!({ "lines": lines })).await;
    assert_eq!(result["imported"], 1);
    assert_eq!(result["refused"][0]["line"], 2);
    let mut said = vec![result["refused"][0]["message"].as_str().unwrap().to_owned()];
    let letter = open_letters(&board, 1).await.remove(0);
    for (method, params) in [
        ("send", json!({ "topic": "jobs", "payload": long })),
        ("replay", json!({ "id": letter["id"], "payload": long })),
    ] {
        let call = board.console().call(json!({ "method": method, "params": params })).await;
        let refusal = serde_json::to_value(call.unwrap_err()).unwrap();
        assert_eq!(refusal["code"], "tooLarge", "{method}");
        said.push(refusal["message"].as_str().unwrap().to_owned());
    }
    let what_if = board.call("route", json!({ "topic": "jobs", "payload": long })).await;
    assert_eq!(what_if["fate"], "refused");
    said.push(what_if["refused"].as_str().unwrap().to_owned());
    for said in said {
        assert!(said.contains("2002 bytes") && said.contains("2000 that message_bytes"), "{said}");
    }
    assert_eq!(adds_up(&board).await["accepted"], 1, "none of them was taken in");
}

#[tokio::test]
async fn nobody_is_waited_for_in_a_letter_from_elsewhere() {
    let board = Board::start().await;
    let to = |state: &str| json!({ "agent": "worker", "door": "bus", "state": state });
    let mut processed = to("processed");
    processed["attempts"] = json!([{
        "number": 1,
        "startedAt": "2025-01-01T00:00:00Z",
        "endedAt": "2999-01-01T00:00:00Z",
        "outcome": "processed",
    }]);
    let deliveries = json!([to("waiting"), to("failed"), to("processed"), processed]);
    let letter = line(1, &json!({ "deliveries": deliveries, "createdAt": "2999-01-01T00:00:00Z" }));
    let lines = [letter, line(2, &json!({ "from": "switchboard" }))].join("\n");
    let result = board.call("importLetters", json!({ "lines": lines })).await;
    assert_eq!((&result["imported"], &result["refused"][0]["line"]), (&json!(1), &json!(2)));
    let letter = open_letters(&board, 1).await.remove(0);
    let life = board.call("message", json!({ "id": letter["id"] })).await;
    let states = life["deliveries"].as_array().unwrap().iter().map(|one| &one["state"]);
    assert_eq!(states.collect::<Vec<_>>(), ["failed", "failed", "failed", "processed"]);
    let year = |time: &Value| time.as_str().unwrap()[..4].parse::<u32>().unwrap();
    assert!(year(&letter["createdAt"]) < 2999, "{letter}");
    assert!(year(&life["deliveries"][3]["attempts"][0]["endedAt"]) < 2999, "{life}");
}

#[tokio::test]
async fn large_letters_come_in_small_pages_and_none_is_missed() {
    let board = Board::start().await;
    let lines = |numbers: std::ops::Range<u32>| {
        let large = |number| line(number, &json!({ "payload": "x".repeat(1_000_000) }));
        numbers.map(large).collect::<Vec<_>>().join("\n")
    };
    for numbers in [0..6, 6..12] {
        let result = board.call("importLetters", json!({ "lines": lines(numbers) })).await;
        assert_eq!(result["imported"], 6);
    }
    let (mut ids, mut next) = (Vec::new(), Value::Null);
    loop {
        let page = json!({ "filter": {}, "limit": 500, "payloads": true, "before": next });
        let page = board.call("deadLetters", page).await;
        let rows = page["rows"].as_array().unwrap();
        assert!((1..=4).contains(&rows.len()), "{} letters of a megabyte", rows.len());
        ids.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        next = page["next"].clone();
        if next.is_null() {
            break;
        }
    }
    ids.reverse();
    let (mut exported, mut after) = (String::new(), Value::Null);
    loop {
        let page = board.call("exportLetters", json!({ "filter": {}, "after": after })).await;
        assert!(page["lines"].as_str().unwrap().len() < 5_000_000);
        exported.push_str(page["lines"].as_str().unwrap());
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    let id_of = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].clone();
    assert_eq!(exported.lines().map(id_of).collect::<Vec<_>>(), ids);
    assert_eq!(ids.len(), 12);
    let thrown = board.call("discard", json!({ "filter": {}, "reason": "large" })).await;
    assert_eq!(job_done(&board, &thrown["id"]).await["done"], 12);
}
