//! The lobby door.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::board::Board;
use crate::lobby_agent::LobbyAgent;
use crate::socket::Socket;

/// One HTTP request: the status and the body.
pub(crate) async fn http(board: &Board, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(board.address()).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        board.address(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[tokio::test]
async fn both_ways_in_lead_to_the_same_agent() {
    let board = Board::start().await;
    let register = json!({
        "sender_id": "http-agent", "receiver_id": "global_lobby", "message_type": "REGISTER",
        "payload": { "capabilities": [{ "name": "x", "description": "does x", "version": "2",
            "input_schema": {}, "output_schema": {}, "keywords": ["ex"] }] },
    });
    let (status, body) = http(&board, "POST", "/api/register", &register.to_string()).await;
    assert_eq!(status, 200, "{body}");
    let ack: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(ack["message_type"], "REGISTER_ACK");
    assert_eq!(ack["payload"]["status"], "success");
    let token = ack["payload"]["auth_token"].as_str().unwrap();

    let (again, body) = http(&board, "POST", "/api/register", &register.to_string()).await;
    assert_eq!(again, 409, "{body}");
    assert!(!body.contains(token));
    let wrong = format!("{}/ws/http-agent?token=wrong", board.url());
    assert_eq!(Socket::try_connect(&wrong).await.err(), Some(401));
    let mut socket = Socket::connect(&format!("{}/ws/http-agent?token={token}", board.url())).await;

    let mut asker = LobbyAgent::register(&board, "asker", json!([])).await;
    let found = asker.discover(json!({ "query_keywords": ["EX"] })).await;
    assert_eq!(found["services_found"][0]["agent_id"], "http-agent");
    assert_eq!(found["services_found"][0]["relevant_capabilities"][0]["version"], "2");
    asker.request("http-agent", "k", json!({ "capability_name": "x", "n": 1 })).await;
    let request = socket.hear().await.unwrap();
    assert_eq!(
        request,
        json!({
            "sender_id": "asker", "receiver_id": "http-agent", "message_type": "REQUEST",
            "payload": { "capability_name": "x", "n": 1 }, "conversation_id": "k",
        }),
        "as the specification shows it, and without anyone's token"
    );
    // Opened with the token, its messages need not repeat it.
    let answer = json!({
        "sender_id": "http-agent", "receiver_id": "asker", "message_type": "RESPONSE",
        "payload": { "status": "success" }, "conversation_id": "k",
    });
    socket.say(answer.to_string()).await;
    assert_eq!(asker.hear("RESPONSE").await["sender_id"], "http-agent");
}

#[tokio::test]
async fn bad_registrations_over_http_say_what_is_wrong() {
    let board = Board::start().await;
    let schema = json!({ "$ref": "http://127.0.0.1:9/schema.json" });
    for (body, status, said) in [
        ("{".to_owned(), 400, "not JSON"),
        ("[]".to_owned(), 422, "invalid"),
        (json!({ "payload": {} }).to_string(), 422, "sender_id"),
        (json!({ "sender_id": "two words", "payload": {} }).to_string(), 422, "agent id"),
        (json!({ "sender_id": "router" }).to_string(), 422, "name of the broker"),
        (json!({ "sender_id": "a", "message_type": "REQUEST" }).to_string(), 422, "REGISTER"),
        (
            json!({ "sender_id": "a", "payload": { "capabilities": [
                { "name": "x", "input_schema": schema }] } })
            .to_string(),
            422,
            "input_schema",
        ),
        ("x".repeat(70_000), 413, "at most"),
    ] {
        let (got, answer) = http(&board, "POST", "/api/register", &body).await;
        let short: String = body.chars().take(80).collect();
        assert_eq!(got, status, "{short}: {answer}");
        assert!(answer.contains(said), "{short}: {answer}");
    }
}

#[tokio::test]
async fn schemas_hold_in_both_directions_and_name_the_path() {
    let board = Board::start().await;
    let capability = json!([{
        "name": "price",
        "input_schema": { "type": "object", "properties": { "item": { "type": "string" } },
            "required": ["item"] },
        "output_schema": { "type": "object", "properties": { "price": { "type": "number" } } },
    }]);
    let mut provider = LobbyAgent::register(&board, "p", capability).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;

    asker.request("p", "1", json!({ "capability_name": "price", "item": 7 })).await;
    let refused = asker.hear("RESPONSE").await;
    let words = refused["payload"]["error"].as_str().unwrap();
    assert!(words.contains("/item") && words.contains("string"), "{words}");

    asker.request("p", "2", json!({ "capability_name": "price", "item": "hat" })).await;
    let request = provider.hear("REQUEST").await;
    provider.respond(&request, json!({ "status": "success", "price": "cheap" })).await;
    let told = provider.hear("ERROR").await;
    assert!(told["payload"]["error"].as_str().unwrap().contains("/price"), "{told}");
    let failed = asker.hear("RESPONSE").await;
    assert_eq!(
        (&failed["conversation_id"], &failed["payload"]["status"]),
        (&json!("2"), &json!("error"))
    );
    assert_eq!(failed["sender_id"], "global_lobby");
}

#[tokio::test]
async fn capabilities_change_while_connected() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["one", "two"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    provider
        .say(json!({
            "receiver_id": "global_lobby", "message_type": "CAPABILITY_UPDATE",
            "payload": { "capabilities": [{ "name": "three", "description": "new" }],
                "withdrawn": ["one"] },
        }))
        .await;
    assert_eq!(
        provider.hear("REGISTER_ACK").await["payload"]["status"],
        "success_capabilities_updated"
    );
    for (name, found) in [("one", 0), ("two", 1), ("three", 1)] {
        let services = asker.discover(json!({ "capability_name": name })).await;
        assert_eq!(services["services_found"].as_array().unwrap().len(), found, "{name}");
        assert_eq!(services["discovered_for_capability"], name);
    }
    asker.request("p", "1", json!({ "capability_name": "one" })).await;
    let refused = asker.hear("RESPONSE").await;
    assert!(
        refused["payload"]["error"].as_str().unwrap().contains("it offers two, three"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_request_that_nobody_answers_ends_in_an_error_and_a_late_answer_reaches_nobody() {
    let board = Board::with("[delivery]\ntimeout_ms = 300").await;
    let mut silent = LobbyAgent::register(&board, "silent", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    asker.request("silent", "k", json!({ "capability_name": "x" })).await;
    let request = silent.hear("REQUEST").await;
    let ended = asker.hear("RESPONSE").await;
    assert_eq!(ended["payload"]["status"], "error");
    assert_eq!(ended["payload"]["code"], "TIMEOUT");
    silent.respond(&request, json!({ "status": "success" })).await;
    let told = silent.hear("ERROR").await;
    assert_eq!(told["payload"]["code"], "NOT_FOUND", "{told}");
    assert_eq!(board.newest_in_state("refused").await["from"], "silent");
}

#[tokio::test]
async fn nobody_can_answer_for_another() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    let mut forger = LobbyAgent::register(&board, "forger", json!([])).await;
    asker.request("p", "k", json!({ "capability_name": "x" })).await;
    let request = provider.hear("REQUEST").await;
    let forged = json!({
        "receiver_id": "a", "message_type": "RESPONSE", "conversation_id": "k",
        "payload": { "status": "success", "evil": true },
    });
    forger.say(forged.clone()).await;
    assert_eq!(forger.hear("ERROR").await["payload"]["code"], "NOT_FOUND");
    let mut named = forged;
    named["sender_id"] = json!("p");
    forger.say(named).await;
    assert_eq!(forger.hear("ERROR").await["payload"]["code"], "UNAUTHORIZED");
    let mut bus = board.agent("bus-forger").await;
    let params = json!({ "topic": "agent:a", "correlation_id": "k", "payload": { "type": "t" } });
    assert_eq!(bus.refused("sendMessage", params).await.0, -32012);
    provider.respond(&request, json!({ "status": "success", "real": true })).await;
    assert_eq!(
        asker.hear("RESPONSE").await["payload"],
        json!({ "status": "success", "real": true })
    );
}

#[tokio::test]
async fn an_agent_that_goes_with_a_request_in_hand_gets_it_again() {
    let board = Board::start().await;
    let mut provider = LobbyAgent::register(&board, "p", json!(["x"])).await;
    let mut asker = LobbyAgent::register(&board, "a", json!([])).await;
    asker.request("p", "k", json!({ "capability_name": "x" })).await;
    provider.hear("REQUEST").await;
    let token = json!(provider.token);
    drop(provider);
    board.is_away("p").await;
    let mut provider = LobbyAgent::register_at(board.url(), "p", json!(["x"]), token).await;
    let request = provider.hear("REQUEST").await;
    provider.respond(&request, json!({ "status": "success" })).await;
    assert_eq!(asker.hear("RESPONSE").await["payload"]["status"], "success");
}
