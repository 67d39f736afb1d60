//! The discovery door: a signed token with the scope that the request needs; an agent's name with its own token.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_model::Timestamp;
use switchboard_tests::{Broker, Proof};
use switchboard_trust::SigningKey;
use switchboard_trust::jwt::OwnKey;

use super::{House, close};
use crate::source;

/// What a signed token is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Wrong,
    Unsigned,
    OtherKey,
    Expired,
    Revoked,
    AnAgents,
    TooSmall,
    Right,
}

impl Shown {
    const ALL: [Self; 9] = [
        Self::Nothing,
        Self::Wrong,
        Self::Unsigned,
        Self::OtherKey,
        Self::Expired,
        Self::Revoked,
        Self::AnAgents,
        Self::TooSmall,
        Self::Right,
    ];
}

/// What may be asked for, and the scope it needs.
fn requests() -> Vec<(&'static str, &'static str, &'static str)> {
    let rows = [
        ("GET", "/agents", "discover:read"),
        ("HEAD", "/agents", "discover:read"),
        ("POST announce", "/agents", "discover:write"),
        ("POST query", "/agents", "discover:read"),
        ("GET", "/agents/{id}", "discover:read"),
        ("HEAD", "/agents/{id}", "discover:read"),
        ("DELETE", "/agents/{id}", "discover:write"),
        ("WebSocket announce", "/ws", "discover:write"),
        ("WebSocket query", "/ws", "discover:read"),
    ];
    for route in source::routes() {
        let ours = route.path.starts_with("/agents") || route.path == "/ws";
        let method = if route.any { "WebSocket" } else { route.method };
        let known = |row: &(&str, &str, &str)| row.0.starts_with(method) && row.1 == route.path;
        assert!(!ours || rows.iter().any(known), "{route:?} has no row in this proof");
    }
    let frames = source::read("crates/doors/src/discovery/socket.rs");
    assert_eq!(frames.matches(": u8 = ").count(), 3, "a type of frame has no row in this proof");
    rows.to_vec()
}

fn own_key(folder: &Path) -> OwnKey {
    let text = std::fs::read_to_string(folder.join("jwt-key")).unwrap();
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    OwnKey::new(std::array::from_fn(byte))
}

fn now() -> Timestamp {
    switchboard_broker::now()
}

/// A token for each kind, made before and after the key was changed.
struct Tokens {
    revoked: OwnKey,
    current: OwnKey,
    agents: String,
}

impl Tokens {
    fn make(&self, shown: Shown, scope: &str) -> Option<String> {
        let hour = Duration::from_secs(3600);
        let other = if scope == "discover:read" { "discover:write" } else { "discover:read" };
        let sign = |key: &OwnKey, scope: &str, at: Timestamp| {
            Some(key.sign(&[scope.to_owned()], hour, at).unwrap().0)
        };
        match shown {
            Shown::Nothing => None,
            Shown::Wrong => Some("not.a.token".to_owned()),
            Shown::Unsigned => {
                let good = sign(&self.current, scope, now())?;
                let claims = good.split('.').nth(1)?;
                // {"alg":"none","typ":"JWT"}
                Some(format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{claims}."))
            }
            Shown::OtherKey => sign(&OwnKey::new([7; 32]), scope, now()),
            Shown::Expired => sign(&self.current, scope, Timestamp(now().0 - 2 * 3_600_000_000)),
            Shown::Revoked => sign(&self.revoked, scope, now()),
            Shown::AnAgents => Some(self.agents.clone()),
            Shown::TooSmall => sign(&self.current, other, now()),
            Shown::Right => sign(&self.current, scope, now()),
        }
    }
}

fn announcement(id: &str) -> String {
    let key = SigningKey::generate().unwrap();
    let document = json!({
        "agent_id": id, "agent_name": "x", "capabilities": { "sum": "1" }, "public_key": key.public().pem(),
        "transport": { "type": "tcp", "endpoint": "10.0.0.12:9000" },
    })
    .to_string();
    let signature = key.sign(&document).unwrap();
    format!(r#"{{"protocol_version":"v1.0","agent":{document},"signature":"{signature}"}}"#)
}

/// The status by which it was answered, or what would be one at a WebSocket.
async fn attempt(
    house: &mut House,
    method: &str,
    path: &str,
    id: &str,
    token: Option<&str>,
) -> u16 {
    let (verb, what) = method.split_once(' ').unwrap_or((method, ""));
    let body = match what {
        "announce" => announcement(id),
        "query" => {
            json!({ "protocol_version": "v1.0", "query": { "capability": "sum" } }).to_string()
        }
        _ => String::new(),
    };
    if verb != "WebSocket" {
        return house.request(verb, &path.replace("{id}", id), token, &body).await.status;
    }
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut lines = vec![("sec-websocket-protocol", "agent-discovery")];
    lines.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    let mut socket = match house.socket(path, &lines).await {
        Ok(socket) => socket,
        Err(status) => return status,
    };
    let kind = if what == "announce" { 1 } else { 2 };
    socket.say_bytes([&[kind], body.as_bytes()].concat()).await;
    let heard: Value = socket.hear().await.expect("an answer");
    match heard["error"]["code"].as_str() {
        None => 200,
        Some("ErrForbidden") => 403,
        Some(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn tokens_discovery() {
    let mut house = House::open().await;
    let revoked = own_key(house.folder.path());
    // The key before counts for another day; the one before that does not.
    for _ in 0..2 {
        house.program.call("rotateJwtKey", json!({})).await;
    }
    let current = own_key(house.folder.path());
    let tokens = Tokens { revoked, current, agents: house.other.clone() };
    let mut proof = Proof::new(
        14,
        "tokens-discovery",
        "discovery door: whoever shows a signed token with the scope is let in, and nobody else is",
    )
    .how(
        "every route and frame that the sources know × {none, wrong, alg none, another key's, expired, of a \
         replaced key, an agent's own, another scope's, right}; then names that own a token",
    );
    let requests = requests();
    for (number, (method, path, scope)) in requests.iter().enumerate() {
        for shown in Shown::ALL {
            let id = format!("3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c{number:02}{:02}", shown as u8);
            if path.contains("{id}") {
                let token = tokens.make(Shown::Right, "discover:write");
                let status =
                    attempt(&mut house, "POST announce", "/agents", &id, token.as_deref()).await;
                assert_eq!(status, 202);
                house.program.call("admitAgent", json!({ "agent": id })).await;
            }
            let token = tokens.make(shown, scope);
            let status = attempt(&mut house, method, path, &id, token.as_deref()).await;
            let expected: &[u16] = match shown {
                Shown::TooSmall => &[403],
                Shown::Right => &[200, 202],
                _ => &[401],
            };
            proof.check(
                format!("{method} {path} with {shown:?}: {status}"),
                expected.contains(&status),
            );
        }
    }
    names_that_own_a_token(&mut house, &tokens, &mut proof).await;
    close(house, proof, requests.len()).await;
}

/// An announcement of a name that owns a token must come with that token.
async fn names_that_own_a_token(house: &mut House, tokens: &Tokens, proof: &mut Proof) {
    for (number, column) in super::Column::ALL.into_iter().enumerate() {
        let id = format!("7cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c{number:02}");
        let own = house.issue(&id).await;
        let shown = match column {
            super::Column::Nothing => None,
            super::Column::Wrong => Some("0".repeat(own.len())),
            super::Column::Revoked => {
                house.program.call("revokeToken", json!({ "agent": id })).await;
                Some(own)
            }
            super::Column::Replaced => {
                house.issue(&id).await;
                Some(own)
            }
            super::Column::Others => Some(house.other.clone()),
            super::Column::Right => Some(own),
        };
        let jwt = tokens.make(Shown::Right, "discover:write").unwrap();
        let own = shown.map(|token| format!("\r\nX-Agent-Token: {token}")).unwrap_or_default();
        let lines = format!("\r\nAuthorization: Bearer {jwt}{own}");
        let address = house.program.address().to_owned();
        let body = announcement(&id);
        let answer = house.addresses.request(&address, "POST", "/agents", &lines, &body).await;
        let let_in = matches!(answer.status, 200 | 202);
        let name = format!("announce {id} with {column:?}: {}", answer.status);
        proof.check(name, let_in == (column == super::Column::Right));
    }
}
