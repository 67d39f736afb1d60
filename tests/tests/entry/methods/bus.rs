//! The bus: `initialize` proves who it is, and nothing else is heard before it.

use serde_json::{Value, json};

use super::{Column, House, Verdict, Visitor, close, judge, proof};
use crate::source;

const SESSION: &str = "crates/doors/src/bus/session.rs";
/// A token is missing or wrong; the name is another's; not initialized.
const TURNED_AWAY: [i64; 4] = [-32010, -32011, -32012, -32001];

fn methods() -> Vec<String> {
    let mut methods = source::arms(SESSION, "match method {");
    let text = source::read(SESSION);
    let send = text.split_once("const SEND: &str = \"").unwrap().1.split_once('"').unwrap().0;
    methods.push(send.to_owned());
    methods
}

fn params(method: &str) -> Value {
    match method {
        "initialize" => Value::Null,
        "subscribe" | "unsubscribe" => json!({ "topic": "some:topic" }),
        "ping" => json!({}),
        "sendMessage" => json!({ "topic": "nobody:listens", "payload": { "type": "hello" } }),
        unknown => panic!("{unknown} has no row in this proof"),
    }
}

async fn attempt(house: &mut House, method: &str, visitor: &Visitor) -> Verdict {
    let mut socket = house.socket("/", &[]).await.unwrap();
    let mut ask = async |method: &str, params: Value| {
        socket
            .say(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }))
            .await;
        let heard = socket.hear_until(|one| one["id"] == method).await;
        heard.into_iter().next_back().unwrap_or(json!({ "error": { "code": -32001 } }))
    };
    let mut hello =
        json!({ "clientId": visitor.id, "clientInfo": { "name": "x", "version": "0.2.0" } });
    if let Some(token) = &visitor.token {
        hello["authToken"] = json!(token);
    }
    let mut answer = ask("initialize", hello).await;
    if method != "initialize" {
        // Whoever did not get in asks all the same.
        answer = ask(method, params(method)).await;
    }
    match answer["error"]["code"].as_i64() {
        Some(code) if TURNED_AWAY.contains(&code) => Verdict::Refused(answer["error"].to_string()),
        Some(_) | None => Verdict::Done,
    }
}

#[tokio::test]
async fn tokens_bus() {
    let (mut house, mut proof, methods) = (House::open().await, proof("bus"), methods());
    for method in &methods {
        params(method);
        for column in Column::ALL {
            let visitor = house.visitor(column).await;
            let verdict = attempt(&mut house, method, &visitor).await;
            proof.case(format!("{method}: {visitor}"), judge(&verdict, &visitor));
        }
    }
    close(house, proof, methods.len()).await;
}
