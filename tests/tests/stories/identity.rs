//! Names and tokens: one namespace over all doors.

use serde_json::{Value, json};

use crate::board::{Board, eventually};
use crate::collab_agent::CollabAgent;
use crate::lobby_agent::LobbyAgent;
use crate::socket::Socket;

async fn initialize(board: &Board, id: &str, token: Value) -> Value {
    let mut peer = board.connect().await;
    let params = json!({
        "clientId": id, "authToken": token, "clientInfo": { "name": "x", "version": "0.2.0" },
    });
    peer.call("initialize", params).await
}

#[tokio::test]
async fn a_name_that_has_a_token_is_its_owners_on_every_door() {
    let board = Board::start().await;
    let owner = LobbyAgent::register(&board, "planner", json!([])).await;

    let refused = initialize(&board, "planner", Value::Null).await;
    assert_eq!(refused["error"]["code"], -32010, "{refused}");
    let alias = initialize(&board, &alias_of(&board, "planner").await, Value::Null).await;
    assert_eq!(alias["error"]["code"], -32010, "its other name is closed too");
    assert!(initialize(&board, "planner", json!(owner.token)).await["result"].is_object());

    let mut socket = Socket::connect(&format!("{}/collab", board.url())).await;
    let register = |token: &str| {
        json!({
            "id": "r", "type": "request", "to": "router",
            "payload": { "action": "register", "parameters": { "id": "planner", "authToken": token } },
        })
    };
    let mut without = register("");
    without["payload"]["parameters"]["authToken"] = Value::Null;
    socket.say(without.to_string()).await;
    let refused = socket.hear().await.unwrap();
    assert_eq!(refused["payload"]["error"]["code"], "ID_TAKEN", "{refused}");
    assert!(!refused.to_string().contains(&owner.token), "the old token is told to nobody");
    socket.say(register(&owner.token).to_string()).await;
    assert_eq!(socket.hear().await.unwrap()["payload"]["result"]["id"], "planner");
}

async fn alias_of(board: &Board, id: &str) -> String {
    let agents = board.call("agents", json!({})).await;
    let all = agents["agents"].as_array().unwrap();
    let agent = all.iter().find(|one| one["id"] == id).unwrap();
    agent["alias"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_agent_is_called_by_its_alias_as_by_its_name() {
    let board = Board::start().await;
    let mut echo = LobbyAgent::register(&board, "echo", json!(["say"])).await;
    let mut asker = LobbyAgent::register(&board, "asker", json!([])).await;
    let alias = alias_of(&board, "echo").await;
    asker.request(&alias, "k", json!({ "capability_name": "say" })).await;
    let request = echo.hear("REQUEST").await;
    assert_eq!(request["receiver_id"], "echo");
    echo.respond(&request, json!({ "status": "success" })).await;
    assert_eq!(asker.hear("RESPONSE").await["sender_id"], "echo");
}

#[tokio::test]
async fn a_revoked_or_rotated_token_ends_live_connections_at_once() {
    let board = Board::start().await;
    let mut lobby = LobbyAgent::register(&board, "a", json!([])).await;
    let mut collab = CollabAgent::register(&board, "b", json!([])).await;
    let mut bus = board.agent("c").await;

    let issued = board.call("issueToken", json!({ "agent": "c" })).await;
    assert_eq!(issued["replaced"], false);
    assert_eq!(bus.closed().await, Some(1008), "who used the name without a token is out");
    let rotated = board.call("issueToken", json!({ "agent": "a" })).await;
    assert_eq!(rotated["replaced"], true);
    assert_eq!(lobby.socket.closed().await, Some(1008));
    board.call("revokeToken", json!({ "agent": "b" })).await;
    assert_eq!(collab.socket.closed().await, Some(1008));

    assert!(initialize(&board, "a", json!(lobby.token)).await["error"].is_object());
    assert!(initialize(&board, "a", rotated["token"].clone()).await["result"].is_object());
    let refused = initialize(&board, "b", Value::Null).await;
    assert_eq!(refused["error"]["code"], -32010, "revoked is not free: {refused}");
}

#[tokio::test]
async fn what_a_revoked_agent_still_says_is_not_heard() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut agent = LobbyAgent::register(&board, "a", json!([])).await;
    board.call("revokeToken", json!({ "agent": "a" })).await;
    // The socket may be open for a moment; what comes by it is nobody's.
    for _ in 0..10 {
        let request = json!({
            "sender_id": "a", "auth_token": agent.token, "receiver_id": "p",
            "message_type": "REQUEST", "payload": { "capability_name": "x" }, "conversation_id": "k",
        });
        agent.socket.try_say(request.to_string()).await;
    }
    let mut other = LobbyAgent::register(&board, "b", json!([])).await;
    other.request("p", "after", json!({ "capability_name": "x" })).await;
    let first = provider.hear("REQUEST").await;
    assert_eq!(first["sender_id"], "b", "nothing of the revoked one came before: {first}");
}

#[tokio::test]
async fn three_wrong_tokens_lock_a_name_from_an_address_and_a_missing_one_is_no_try() {
    let board = Board::start().await;
    let owner = LobbyAgent::register(&board, "target", json!([])).await;
    for _ in 0..5 {
        assert_eq!(initialize(&board, "target", Value::Null).await["error"]["code"], -32010);
    }
    for _ in 0..3 {
        assert_eq!(initialize(&board, "target", json!("wrong")).await["error"]["code"], -32010);
    }
    let locked = initialize(&board, "target", json!(owner.token)).await;
    assert_eq!(locked["error"]["code"], -32016, "{locked}");
    let url = format!("{}/ws/target?token={}", board.url(), owner.token);
    assert_eq!(Socket::try_connect(&url).await.err(), Some(429), "on every door");
    assert!(initialize(&board, "other", Value::Null).await["result"].is_object());
}

#[tokio::test]
async fn a_bus_that_requires_tokens_takes_nobody_without() {
    let board = Board::with("[bus]\nrequire_token = true").await;
    assert_eq!(initialize(&board, "x", Value::Null).await["error"]["code"], -32010);
    let issued = board.call("issueToken", json!({ "agent": "x" })).await;
    assert!(initialize(&board, "x", issued["token"].clone()).await["result"].is_object());
}

#[tokio::test]
async fn tokens_are_kept_only_as_hashes() {
    let board = Board::start().await;
    let agent = LobbyAgent::register(&board, "a", json!([])).await;
    let issued = board.call("issueToken", json!({ "agent": "b" })).await;
    let folder = board.stop().await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        for secret in [agent.token.as_str(), issued["token"].as_str().unwrap()] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "a token lies in the data folder");
        }
    }
}

#[tokio::test]
async fn a_token_may_have_a_ceiling_of_priority() {
    let board = Board::start().await;
    let issued = board.call("issueToken", json!({ "agent": "a", "ceiling": "NORMAL" })).await;
    let mut agent =
        LobbyAgent::register_at(board.url(), "a", json!([]), issued["token"].clone()).await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    agent
        .say(json!({
            "receiver_id": "p", "message_type": "REQUEST", "priority": 0, "conversation_id": "k",
            "payload": { "capability_name": "x" },
        }))
        .await;
    let request = provider.hear("REQUEST").await;
    assert!(request.get("priority").is_none(), "not urgent any more: {request}");
    let row = eventually("it is kept", async || board.messages().await.into_iter().next()).await;
    assert_eq!(row["priority"], "NORMAL");
}
