//! Ways in which the doors of requests and announcements could be misused. Each was one.

use serde_json::{Value, json};

use crate::announced::{Announcer, Registry};
use crate::board::{Board, eventually};
use crate::mail_agent::{MailAgent, request, request_with};
use crate::program::run_to_end;

const ID: &str = "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d";

#[tokio::test]
async fn the_open_setting_is_for_this_machine_alone() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "listen = \"0.0.0.0:0\"\n[aacp]\nopen = true\n[discovery]\nmdns = false\n";
    std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
    let (code, said) = run_to_end(&["--data-dir", folder.path().to_str().unwrap()]).await;
    assert_eq!(code, 2);
    assert!(said.contains("open = false under [aacp]"), "{said}");
}

#[tokio::test]
async fn one_agents_alias_is_not_another_agents_name() {
    let board = Board::start().await;
    // python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, "urn:switchboard:agent:planner"))'
    let alias = "a53573ac-7fa5-5861-bb6b-7da36d9e7028";
    board.agent(alias).await;
    let issue = json!({ "method": "issueToken", "params": { "agent": "planner" } });
    let refused = board.console().call(issue).await.unwrap_err();
    assert!(refused.message.contains("taken"), "{refused:?}");
}

#[tokio::test]
async fn the_operators_question_is_answered_to_the_name_that_is_shown() {
    let board = Board::start().await;
    let worker = MailAgent::issued(&board, "worker").await;
    let payload = json!({ "type": "sum" }).to_string();
    board.call("send", json!({ "topic": "agent:worker", "payload": payload })).await;
    let mail = worker.mail("?wait=10").await.remove(0);
    let (to, key) = (mail["sender_agent_id"].as_str(), mail["correlation_id"].as_str());
    worker.send(to.unwrap(), "response", json!({ "action": "sum", "output": {} }), key).await;
    assert_eq!(worker.mail("").await[0]["status"], "processed");
}

#[tokio::test]
async fn what_a_broken_connection_had_in_hand_is_new_in_the_mailbox_and_read_once() {
    let board = Board::start().await;
    let (asker, token) = (MailAgent::issued(&board, "asker").await, "worker");
    let worker = MailAgent::issued(&board, token).await;
    let mut peer = board.connect().await;
    let info = json!({ "name": "x", "version": "0.2.0" });
    let joining = json!({ "clientId": "worker", "authToken": worker.token, "clientInfo": info });
    peer.ok("initialize", joining).await;
    peer.subscribe("agent:worker").await;
    asker.send("worker", "notification", json!({ "action": "hello" }), None).await;
    peer.delivery().await;
    peer.vanish();
    board.is_away("worker").await;
    let mail = eventually("it is there", async || worker.mail("?status=pending").await.pop()).await;
    assert_eq!(mail["content"]["action"], "hello");
    assert_eq!(board.totals().await["waiting"], 0, "it has arrived");
}

#[tokio::test]
async fn the_first_read_of_an_agent_that_comes_by_another_door_shows_what_waited() {
    let board = Board::start().await;
    let asker = MailAgent::issued(&board, "asker").await;
    let mut peer = board.agent("worker").await;
    peer.subscribe("agent:worker").await;
    peer.vanish();
    board.is_away("worker").await;
    asker.send("worker", "request", json!({ "action": "sum" }), Some("k")).await;
    let worker = MailAgent::issued(&board, "worker").await;
    assert_eq!(worker.mail("?wait=60").await.len(), 1, "at once");
}

#[tokio::test]
async fn who_throws_away_what_it_reads_reads_nothing_and_no_array_passes_for_a_message() {
    let board = Board::start().await;
    let (asker, worker) =
        (MailAgent::issued(&board, "asker").await, MailAgent::issued(&board, "worker").await);
    asker.send("worker", "notification", json!({ "action": "hello" }), None).await;
    assert_eq!(worker.ask("HEAD", "/messages/worker", &Value::Null).await.status, 405);
    assert_eq!(worker.mail("?status=pending").await.len(), 1);
    for body in [
        json!(["asker", "worker", "request", { "action": "x" }, null]),
        json!({ "sender_agent_id": "asker", "receiver_agent_id": "worker", "content": ["x"] }),
    ] {
        assert_eq!(asker.ask("POST", "/messages", &body).await.status, 422, "{body}");
    }
    let lines = format!("authorization: Bearer {}\r\nsec-fetch-site: cross-site\r\n", worker.token);
    let path = "/api/v1/protocol/messages/worker";
    let page = request_with(board.address(), "GET", path, &lines, "").await;
    assert_eq!(page.status, 403, "a picture on another page");
}

#[tokio::test]
async fn a_name_is_not_shared_by_a_key_and_whoever_came_before_it_was_admitted() {
    let board = Board::start().await;
    let registry = Registry::of(&board).await;
    let agent = Announcer::new(ID);
    assert_eq!(registry.announce(&agent.message("1", None)).await, 202);
    let mut squatter = board.agent(ID).await;
    board.call("admitAgent", json!({ "agent": ID })).await;
    assert_eq!(squatter.closed().await, Some(1008));

    let other = "11111111-2222-4333-8444-555555555555";
    assert_eq!(registry.announce(&Announcer::new(other).message("1", None)).await, 202);
    let register = json!({
        "sender_id": other, "receiver_id": "global_lobby", "message_type": "REGISTER", "payload": {},
    });
    let taken =
        request(board.address(), "POST", "/api/register", None, &register.to_string()).await;
    assert_eq!(taken.status, 200);
    let admit = json!({ "method": "admitAgent", "params": { "agent": other } });
    let refused = board.console().call(admit).await.unwrap_err();
    assert!(refused.message.contains("X-Agent-Token"), "{refused:?}");
}

#[tokio::test]
async fn a_rotation_told_twice_is_one_and_the_same_document_is_written_once() {
    let board = Board::with("[discovery]\nadmit = \"auto\"").await;
    let registry = Registry::of(&board).await;
    let (first, second) = (Announcer::new(ID), Announcer::new(ID));
    assert_eq!(registry.announce(&first.message("1", None)).await, 200);
    let rotation = second.message("2", Some(&first.key));
    assert_eq!(registry.announce(&rotation).await, 200);
    assert_eq!(registry.announce(&rotation).await, 200);
    let mut listener = board.agent("listener").await;
    listener.subscribe("discovery").await;
    for _ in 0..20 {
        assert_eq!(registry.announce(&second.message("2", None)).await, 200);
    }
    let told = board.messages().await.iter().filter(|row| row["topic"] == "discovery").count();
    assert!(told <= 1, "{told} messages about one document");
}

#[tokio::test]
async fn who_was_admitted_by_the_list_alone_waits_when_it_is_taken_off() {
    let board = Board::start().await;
    let registry = Registry::of(&board).await;
    let upper = ID.to_uppercase();
    board.call("editAllowList", json!({ "add": [{ "pattern": upper }] })).await;
    assert_eq!(registry.announce(&Announcer::new(ID).message("1", None)).await, 200);
    let bad = json!({ "add": [{ "pattern": "good" }, { "pattern": "two words" }] });
    let call = json!({ "method": "editAllowList", "params": bad });
    board.console().call(call).await.unwrap_err();
    let list = board.call("allowList", json!({})).await;
    assert_eq!(list["entries"].as_array().unwrap().len(), 1, "all of an edit or nothing: {list}");
    board.call("editAllowList", json!({ "remove": [ID] })).await;
    assert!(!registry.finds(ID).await);
    let view = board.call("discovery", json!({})).await;
    assert_eq!(view["agents"][0]["trust"], "waiting");
}
