//! What the operator does about one agent: ends its connections, keeps it out, gives it a name.

use serde_json::{Value, json};

use crate::announced::{Announcer, Registry};
use crate::board::{Board, eventually};
use crate::collab_agent::CollabAgent;
use crate::lobby_agent::LobbyAgent;
use crate::mail_agent::{MailAgent, request};
use crate::peer::Peer;
use crate::socket::Socket;

const ID: &str = "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d";

async fn agent(board: &Board, id: &str) -> Value {
    let agents = board.call("agents", json!({})).await;
    agents["agents"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone()
}

async fn block(board: &Board, id: &str, blocked: bool) -> Value {
    board.call("blockAgent", json!({ "agent": id, "blocked": blocked })).await
}

async fn refused(board: &Board, method: &str, params: Value) -> String {
    let call = board.console().call(json!({ "method": method, "params": params })).await;
    call.unwrap_err().message
}

async fn initialize(board: &Board, id: &str, token: &str) -> Result<Peer, Value> {
    let mut peer = board.connect().await;
    let info = json!({ "name": "x", "version": "0.2.0" });
    let params = json!({ "clientId": id, "authToken": token, "clientInfo": info });
    let answer = peer.call("initialize", params).await;
    if answer["result"].is_object() { Ok(peer) } else { Err(answer["error"].clone()) }
}

#[tokio::test]
async fn a_blocked_agent_gets_in_by_no_door_until_it_is_unblocked() {
    let board = Board::start().await;
    let mut lobby = LobbyAgent::register(&board, "worker", json!(["sum"])).await;
    let token = lobby.token.clone();
    let mut bus = initialize(&board, "worker", &token).await.unwrap();
    let mut asker = LobbyAgent::register(&board, "asker", json!([])).await;
    let found = asker.discover(json!({ "capability_name": "sum" })).await;
    assert_eq!(found["services_found"].as_array().unwrap().len(), 1);

    let view = block(&board, "worker", true).await;
    assert_eq!((&view["blocked"], &view["status"]), (&json!(true), &json!("unavailable")));
    assert_eq!(lobby.socket.closed().await, Some(1008));
    assert_eq!(bus.closed().await, Some(1008));
    let found = asker.discover(json!({ "capability_name": "sum" })).await;
    assert_eq!(found["services_found"], json!([]), "nobody finds it");

    // 1: the bus, by its other name too.
    for id in ["worker", view["alias"].as_str().unwrap()] {
        let error = initialize(&board, id, &token).await.err().unwrap();
        assert_eq!(error["code"], -32011, "{error}");
        assert_eq!(error["data"], "worker is blocked by the operator");
    }
    // 2: the lobby, in band, over HTTP and by its address.
    let mut socket = Socket::connect(&format!("{}/lobby", board.url())).await;
    let register = json!({
        "sender_id": "worker", "receiver_id": "global_lobby", "message_type": "REGISTER",
        "payload": {}, "auth_token": token,
    });
    socket.say(register.to_string()).await;
    let answer = socket.hear().await.unwrap().to_string();
    assert!(answer.contains("blocked by the operator"), "{answer}");
    let http = request(board.address(), "POST", "/api/register", None, &register.to_string()).await;
    assert_eq!(http.status, 403);
    let url = format!("{}/ws/worker?token={token}", board.url());
    assert_eq!(Socket::try_connect(&url).await.err(), Some(403));
    // 3: collaboration.
    let mut socket = Socket::connect(&format!("{}/collab", board.url())).await;
    let register = json!({
        "id": "r", "type": "request", "to": "router",
        "payload": { "action": "register", "parameters": { "id": "worker", "authToken": token } },
    });
    socket.say(register.to_string()).await;
    let answer = socket.hear().await.unwrap();
    assert_eq!(answer["payload"]["error"]["code"], "FORBIDDEN", "{answer}");
    // 4: its mailbox.
    let mail = MailAgent::with(board.address(), "worker", &token);
    assert_eq!(mail.ask("GET", "/messages/worker", &Value::Null).await.status, 403);

    // What others send waits; nothing of it is lost.
    let mut sender = board.agent("sender").await;
    let send = json!({ "topic": "agent:worker", "payload": { "type": "sum", "n": 1 } });
    sender.ask("sendMessage", send).await;
    eventually("it waits", async || (agent(&board, "worker").await["queued"] == 1).then_some(()))
        .await;

    assert_eq!(block(&board, "worker", false).await["blocked"], false);
    let mut back = initialize(&board, "worker", &token).await.unwrap();
    back.subscribe("agent:worker").await;
    assert_eq!(back.process().await["params"]["payload"]["n"], 1);
    LobbyAgent::register_at(board.url(), "worker", json!([]), json!(token)).await;
    CollabAgent::register_at(board.url(), "worker", json!([]), json!(token)).await;
}

#[tokio::test]
async fn a_blocked_agent_is_not_believed_when_it_is_announced() {
    let board = Board::with("[discovery]\nadmit = \"auto\"").await;
    let registry = Registry::of(&board).await;
    let announcer = Announcer::new(ID);
    assert_eq!(registry.announce(&announcer.message("1", None)).await, 200);
    block(&board, ID, true).await;
    assert!(!registry.finds(ID).await);
    assert_eq!(registry.announce(&announcer.message("1", None)).await, 403);
    assert!(!registry.finds(ID).await);
    let turned = board.call("discovery", json!({})).await["turnedAway"][0].clone();
    assert!(turned["message"].as_str().unwrap().contains("blocked by the operator"), "{turned}");

    block(&board, ID, false).await;
    assert_eq!(registry.announce(&announcer.message("1", None)).await, 200);
    assert!(registry.finds(ID).await);
}

#[tokio::test]
async fn a_disconnected_agent_comes_back_and_what_it_had_in_hand_is_tried_again() {
    let board = Board::with("[delivery]\nbackoff_ms = 10").await;
    let mut worker = board.agent("worker").await;
    worker.subscribe("agent:worker").await;
    let mut sender = board.agent("sender").await;
    let send = json!({ "topic": "agent:worker", "payload": { "type": "sum", "n": 1 } });
    sender.ask("sendMessage", send).await;
    worker.delivery().await;
    let mut collab = CollabAgent::register(&board, "other", json!([])).await;

    board.call("disconnectAgent", json!({ "agent": "worker" })).await;
    assert_eq!(worker.closed().await, Some(1008));
    board.call("disconnectAgent", json!({ "agent": "other" })).await;
    assert_eq!(collab.socket.closed().await, Some(1008));
    let away = agent(&board, "worker").await;
    assert_eq!((&away["connections"], &away["blocked"]), (&json!(0), &json!(false)));

    let mut back = board.agent("worker").await;
    back.subscribe("agent:worker").await;
    assert_eq!(back.process().await["params"]["payload"]["n"], 1);
    board.newest_in_state("processed").await;
    let unknown = refused(&board, "disconnectAgent", json!({ "agent": "nobody" })).await;
    assert!(unknown.contains("no agent nobody"), "{unknown}");
}

#[tokio::test]
async fn a_name_and_a_block_outlive_the_broker_and_a_name_is_no_address() {
    let board = Board::start().await;
    board.agent("worker").await;
    let named = json!({ "agent": "worker", "name": "  The planner " });
    assert_eq!(board.call("nameAgent", named).await["label"], "The planner");
    block(&board, "worker", true).await;
    for bad in ["", "a\nb", &"x".repeat(81)] {
        let why = refused(&board, "nameAgent", json!({ "agent": "worker", "name": bad })).await;
        assert!(why.contains("1 to 80 visible characters"), "{why}");
    }

    let board = Board::reopen(board.stop().await, "").await;
    let worker = agent(&board, "worker").await;
    assert_eq!((&worker["label"], &worker["blocked"]), (&json!("The planner"), &json!(true)));
    let info = json!({ "name": "x", "version": "0.2.0" });
    let join = json!({ "clientId": "worker", "clientInfo": info });
    assert_eq!(board.connect().await.refused("initialize", join).await.0, -32011);
    block(&board, "worker", false).await;
    let joined = board.agent("worker").await;
    assert_eq!(agent(&board, "worker").await["label"], "The planner", "it joined under its id");
    drop(joined);
    assert_eq!(board.call("nameAgent", json!({ "agent": "worker" })).await["label"], Value::Null);
}
