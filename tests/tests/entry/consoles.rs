//! Line 14: the operator's calls and feed × every kind of token.

use serde_json::json;
use switchboard_tests::program::Program;
use switchboard_tests::{Broker, Proof};

use crate::ask::{Answer, Line};
use crate::source;

/// The methods as the console itself lists them, when it is asked for one that it does not have.
async fn methods(line: &mut Line, address: &str, token: &str) -> Vec<String> {
    let answer = call(line, address, Some(token), "no such method").await;
    let list = answer.body.split_once("expected one of ").expect(&answer.body).1;
    let methods: Vec<_> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let declared = source::read("crates/console/src/api/calls.rs");
    let declared = declared.split_once("\ncalls! {").unwrap().1.split_once("\n}").unwrap().0;
    assert_eq!(methods.len(), declared.matches(") -> ").count(), "{methods:?}");
    methods
}

async fn call(line: &mut Line, address: &str, token: Option<&str>, method: &str) -> Answer {
    let bearer = token.map(|token| format!("\r\nAuthorization: Bearer {token}"));
    let head = format!(
        "POST /console/call HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json{}",
        bearer.unwrap_or_default()
    );
    line.ask(&head, &json!({ "method": method, "params": {} }).to_string()).await
}

async fn feed(line: &mut Line, address: &str, token: Option<&str>) -> Answer {
    let protocols = match token {
        Some(token) => format!("switchboard, token.{token}"),
        None => "switchboard".to_owned(),
    };
    let head = format!(
        "GET /console/feed HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: {protocols}"
    );
    line.ask(&head, "").await
}

#[tokio::test]
async fn tokens_console() {
    let folder = tempfile::tempdir().unwrap();
    let read =
        || std::fs::read_to_string(folder.path().join("admin-token")).unwrap().trim().to_owned();
    let broker = Program::start(folder.path()).await;
    let before = read();
    assert_eq!(broker.terminate().await, 0);
    // Whoever takes the file away takes the token back.
    std::fs::remove_file(folder.path().join("admin-token")).unwrap();
    let broker = Program::start(folder.path()).await;
    let right = read();
    assert_ne!(right, before);
    let agents = broker.call("issueToken", json!({ "agent": "somebody" })).await;
    let signed = broker.call("signJwt", json!({ "scopes": ["discover:write"] })).await;
    let text = |made: &serde_json::Value| Some(made["token"].as_str().unwrap().to_owned());
    let columns = [
        ("nothing", None),
        ("an empty one", Some(String::new())),
        ("a wrong one", Some("0".repeat(right.len()))),
        ("half of it", Some(right[..right.len() / 2].to_owned())),
        ("more than it", Some(format!("{right}0"))),
        ("a revoked one", Some(before)),
        ("an agent's", text(&agents)),
        ("a signed one", text(&signed)),
        ("the right one", Some(right.clone())),
    ];
    let address = broker.address().to_owned();
    let mut line = Line::to(&address);
    let mut methods = methods(&mut line, &address, &right).await;
    // What starts the broker anew comes last.
    methods.sort_by_key(|method| method == "restart");
    let mut proof = Proof::new(
        14,
        "tokens-console",
        "the console answers who has the operator's token, and nobody else",
    )
    .how("every call that the console itself lists, and the feed × 9 kinds of token");
    for (kind, token) in &columns {
        let answer = feed(&mut line, &address, token.as_deref()).await;
        let fits = if *kind == "the right one" { 101 } else { 401 };
        proof.check(format!("the feed with {kind}: {}", answer.status), answer.status == fits);
    }
    for method in &methods {
        for (kind, token) in &columns {
            let answer = call(&mut line, &address, token.as_deref(), method).await;
            // With the right token it is another matter what the call, which says nothing, comes to.
            let fits = (answer.status == 401) != (*kind == "the right one");
            let says_nothing = answer.status != 401 || !answer.body.contains(&right);
            proof.check(format!("{method} with {kind}: {}", answer.status), fits && says_nothing);
        }
    }
    let cells = proof.passed() + proof.failed();
    proof.close(format!("{cells} cells of {} calls and the feed, 100 % asserted", methods.len()));
}
