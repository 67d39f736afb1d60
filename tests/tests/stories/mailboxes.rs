//! The AACP door: agents that fetch what is for them.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::lobby_agent::LobbyAgent;
use crate::mail_agent::{KeptOpen, MailAgent, request};
use crate::program::Program;

const CALL: &str = "sum";

fn call(n: u64) -> Value {
    json!({ "action": CALL, "input": { "n": n } })
}

#[tokio::test]
async fn a_request_waits_is_read_and_is_processed_when_it_is_answered() {
    let board = Board::start().await;
    let (asker, worker) =
        (MailAgent::issued(&board, "asker").await, MailAgent::issued(&board, "worker").await);
    let sent = asker.send("worker", "request", call(1), Some("k")).await;
    assert_eq!((&sent["status"], &sent["processed_at"]), (&json!("pending"), &Value::Null));

    let mail = worker.mail("").await;
    assert_eq!(mail[0]["content"], call(1));
    assert_eq!(mail[0]["status"], "delivered", "the first read already says so");
    assert_eq!(board.totals().await["waiting"], 1, "it waits for its answer");

    worker
        .send("asker", "response", json!({ "action": CALL, "output": { "s": 2 } }), Some("k"))
        .await;
    let mail = worker.mail("").await;
    assert_eq!(mail[0]["status"], "processed");
    assert!(mail[0]["processed_at"].is_string());
    let answer = &asker.mail("").await[0];
    assert_eq!(
        (&answer["message_type"], &answer["correlation_id"]),
        (&json!("response"), &json!("k"))
    );
    let totals = board.totals().await;
    assert_eq!((&totals["accepted"], &totals["processed"]), (&json!(2), &json!(2)), "{totals}");
}

#[tokio::test]
async fn a_connection_that_stays_open_speaks_for_whoever_shows_a_token_that_is_good_now() {
    let board = Board::start().await;
    let (anna, bert) =
        (MailAgent::issued(&board, "anna").await, MailAgent::issued(&board, "bert").await);
    let from = |sender: &str| {
        json!({
            "sender_agent_id": sender, "receiver_agent_id": "bert", "message_type": "notification",
            "content": { "action": "note" },
        })
    };
    let mut line = KeptOpen::open(board.address()).await;
    for _ in 0..3 {
        assert_eq!(line.post(&anna.token, &from("anna")).await.status, 201);
    }
    assert_eq!(line.post(&anna.token, &from("bert")).await.status, 403, "not in another's name");
    assert_eq!(line.post("wrong", &from("anna")).await.status, 401);
    assert_eq!(line.post(&bert.token, &from("bert")).await.status, 201, "another one may follow");
    assert_eq!(line.post(&anna.token, &from("anna")).await.status, 201);

    board.call("revokeToken", json!({ "agent": "anna" })).await;
    let refused = line.post(&anna.token, &from("anna")).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    assert_eq!(line.post(&bert.token, &from("bert")).await.status, 201);
    let mail = bert.mail("?limit=50").await;
    assert_eq!(mail.len(), 6, "{mail:?}");
}

#[tokio::test]
async fn what_its_owner_says_of_a_request_is_told_to_who_asked() {
    let board = Board::start().await;
    let worker = MailAgent::issued(&board, "worker").await;
    let mut asker = LobbyAgent::register(&board, "asker", json!([])).await;
    // From the lobby a capability must be offered.
    let declared = json!({
        "sender_id": "worker", "auth_token": worker.token, "receiver_id": "global_lobby",
        "message_type": "REGISTER", "payload": { "capabilities": [CALL] },
    });
    let answer =
        request(board.address(), "POST", "/api/register", None, &declared.to_string()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    asker.request("worker", "k", json!({ "capability_name": CALL, "n": 1 })).await;
    let mail = eventually("the request is there", async || worker.mail("").await.pop()).await;
    assert_eq!(mail["content"], call(1));
    assert_eq!(worker.mark(&mail, "failed").await.status, 200);
    let heard = asker.hear("RESPONSE").await;
    assert_eq!(heard["payload"]["status"], "error", "{heard}");
    assert_eq!(worker.mark(&mail, "failed").await.status, 200, "the same again is no news");
    assert_eq!(worker.mark(&mail, "processed").await.status, 409);
}

#[tokio::test]
async fn a_bus_agents_question_is_answered_from_a_mailbox() {
    let board = Board::start().await;
    let worker = MailAgent::issued(&board, "worker").await;
    let mut asker = board.agent("asker").await;
    asker.subscribe("agent:asker").await;
    let payload = json!({ "type": CALL, "n": 12_345_678_901_234_567_890_u64 });
    let sent =
        asker.ok("sendMessage", json!({ "topic": "agent:worker", "payload": payload })).await;
    assert_eq!(sent["success"], true, "{sent}");
    let mail = worker.mail("?wait=10").await.remove(0);
    assert_eq!(mail["content"]["input"]["n"], 12_345_678_901_234_567_890_u64);
    let key = mail["correlation_id"].as_str().unwrap().to_owned();
    worker
        .send("asker", "response", json!({ "action": CALL, "output": { "s": 3 } }), Some(&key))
        .await;
    let delivery = asker.process().await;
    assert_eq!(delivery["params"]["payload"]["s"], 3, "{delivery}");
}

#[tokio::test]
async fn a_long_poll_ends_when_something_comes_and_when_the_token_is_taken_away() {
    let board = Board::start().await;
    let (asker, worker) =
        (MailAgent::issued(&board, "asker").await, MailAgent::issued(&board, "worker").await);
    let waiting = worker.mail("?wait=60");
    let sending = asker.send("worker", "notification", json!({ "action": "hello" }), None);
    let (mail, _) = tokio::join!(waiting, sending);
    assert_eq!(mail[0]["message_type"], "notification");
    assert_eq!(worker.mail("?status=pending").await.len(), 0, "read");
    assert_eq!(worker.mail("?status=delivered").await.len(), 1);

    board.call("revokeToken", json!({ "agent": "worker" })).await;
    let refused = worker.ask("GET", "/messages/worker?wait=1", &Value::Null).await;
    assert_eq!(refused.status, 401, "{refused:?}");
}

#[tokio::test]
async fn mail_is_its_owners_alone_and_a_rule_made_since_keeps_it_back() {
    let board = Board::start().await;
    let (asker, worker) =
        (MailAgent::issued(&board, "asker").await, MailAgent::issued(&board, "worker").await);
    let sent = asker.send("worker", "request", call(1), Some("k")).await;
    for path in ["/messages/worker".to_owned(), format!("/messages/{}/status", sent["id"])] {
        let method = if path.ends_with("status") { "POST" } else { "GET" };
        let body = json!({ "status": "processed" });
        let refused = asker.ask(method, &path.replace('"', ""), &body).await;
        assert!(matches!(refused.status, 403 | 404), "{refused:?}");
    }
    let forged = json!({
        "sender_agent_id": "worker", "receiver_agent_id": "asker", "content": { "action": "x" },
    });
    assert_eq!(asker.ask("POST", "/messages", &forged).await.status, 403);

    let edit =
        json!({ "caller": "asker", "provider": "worker", "capability": "*", "effect": "deny" });
    board.call("editRules", json!({ "edits": [edit] })).await;
    assert_eq!(worker.mail("").await, Vec::<Value>::new(), "not even its content is shown");
    let is_it = |row: &Value| row["id"] == sent["id"] && row["state"] == "dead";
    eventually("it is a dead letter", async || board.messages().await.into_iter().find(is_it))
        .await;
    let told = eventually("the asker hears", async || asker.mail("").await.pop()).await;
    assert!(told["content"]["output"]["error"].is_object(), "{told}");
}

#[tokio::test]
async fn an_agent_that_sends_too_fast_is_told_when_to_go_on_and_others_are_not() {
    let board = Board::with("[aacp]\nrate_per_second = 1\nburst = 3").await;
    let (fast, slow) =
        (MailAgent::issued(&board, "fast").await, MailAgent::issued(&board, "slow").await);
    let message = json!({
        "sender_agent_id": "fast", "receiver_agent_id": "slow", "message_type": "notification",
        "content": { "action": "x" },
    });
    let mut refused = Vec::new();
    for _ in 0..8 {
        let answer = fast.ask("POST", "/messages", &message).await;
        if answer.status != 201 {
            refused.push(answer);
        }
    }
    assert!(refused.len() >= 3, "{refused:?}");
    for one in refused {
        assert_eq!(one.status, 429);
        assert!(one.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    }
    slow.send("fast", "notification", json!({ "action": "y" }), None).await;
}

#[tokio::test]
async fn in_the_open_unknown_ids_get_mailboxes_and_owned_ones_still_need_their_tokens() {
    let board = Board::with("[aacp]\nopen = true").await;
    let (a, b) = ("550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    let post = async |from: &str, to: &str| {
        let body = json!({
            "sender_agent_id": from, "receiver_agent_id": to, "content": { "action": "x" },
        });
        let path = "/api/v1/protocol/messages";
        request(board.address(), "POST", path, None, &body.to_string()).await.status
    };
    assert_eq!(post(a, b).await, 201);
    let path = format!("/api/v1/protocol/messages/{b}");
    let mail = request(board.address(), "GET", &path, None, "").await;
    assert_eq!(mail.json()["messages"][0]["sender_agent_id"], a);
    let owned = MailAgent::issued(&board, "owned").await;
    assert_eq!(post("owned", b).await, 401);
    assert_eq!(post(a, "nobody-knows-me").await, 404);
    assert_eq!(owned.mail("").await.len(), 0);
}

#[tokio::test]
async fn mail_and_what_was_said_of_it_survive_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[discovery]\nmdns = false\n[aacp]\nopen = true\n";
    std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
    let (a, b) = ("550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    let path = format!("/api/v1/protocol/messages/{b}");
    let at = |program: &Program| program.url.strip_prefix("ws://").unwrap().to_owned();

    let program = Program::start(folder.path()).await;
    let address = at(&program);
    for n in 1..=3 {
        let body = json!({
            "sender_agent_id": a, "receiver_agent_id": b, "content": call(n),
            "correlation_id": format!("k{n}"),
        });
        let path = "/api/v1/protocol/messages";
        assert_eq!(request(&address, "POST", path, None, &body.to_string()).await.status, 201);
    }
    let newest = request(&address, "GET", &format!("{path}?limit=1"), None, "").await.json();
    let id = newest["messages"][0]["id"].as_str().unwrap();
    let marked = format!("/api/v1/protocol/messages/{id}/status");
    let body = json!({ "status": "processed" }).to_string();
    assert_eq!(request(&address, "POST", &marked, None, &body).await.status, 200);
    request(&address, "GET", &format!("{path}?limit=1&offset=1"), None, "").await;
    program.kill().await;

    let program = Program::start(folder.path()).await;
    let address = at(&program);
    // What was read before the crash is answered after it, without another look.
    let answer = json!({
        "sender_agent_id": b, "receiver_agent_id": a, "message_type": "response",
        "content": { "action": CALL, "output": {} }, "correlation_id": "k2",
    });
    let messages = "/api/v1/protocol/messages";
    let answered = request(&address, "POST", messages, None, &answer.to_string()).await;
    assert_eq!(answered.status, 201, "{answered:?}");
    let page = request(&address, "GET", &path, None, "").await.json();
    let statuses: Vec<_> =
        page["messages"].as_array().unwrap().iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["processed", "processed", "delivered"], "{page}");
    assert_eq!(program.terminate().await, 0);
}
