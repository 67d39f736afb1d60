//! The collaboration door: `register` proves who it is, and nothing else is heard before it.

use serde_json::{Value, json};
use switchboard_model::Kind;

use super::{Column, House, Verdict, Visitor, close, judge, proof};
use crate::source;

const TURNED_AWAY: [&str; 5] =
    ["UNAUTHORIZED", "NOT_REGISTERED", "ID_TAKEN", "LOCKED_OUT", "FORBIDDEN"];

fn actions() -> Vec<String> {
    source::pairs("crates/doors/src/collaboration/router.rs", "const ALL: ")
}

fn to_router(id: &str, about: &str, action: &str, parameters: &Value) -> Value {
    json!({
        "id": about, "type": "request", "from": id, "to": "router",
        "payload": { "action": action, "parameters": parameters },
    })
}

/// What is asked of the router, and what is said to others.
fn message(method: &str, visitor: &Visitor) -> Option<Value> {
    let to_other = |kind: Kind, payload: Value| {
        json!({
            "id": "tried", "type": kind.as_str(), "from": visitor.id, "to": "provider",
            "correlationId": "x", "payload": payload,
        })
    };
    if let Some(kind) = method.strip_prefix("to others: ").and_then(Kind::parse) {
        return Some(match kind {
            Kind::Request => to_other(kind, json!({ "action": "sum", "parameters": {} })),
            Kind::Response => to_other(kind, json!({ "status": "success", "result": {} })),
            Kind::Event | Kind::Broadcast => {
                to_other(kind, json!({ "topic": "news", "content": {} }))
            }
        });
    }
    let parameters = match method {
        "register" => return None,
        "subscribe" | "unsubscribe" => json!({ "topics": ["news"] }),
        "findAgents" => json!({ "requiredCapabilities": ["sum"] }),
        "heartbeat" => json!({}),
        "setStatus" => json!({ "status": "busy" }),
        "openSession" => json!({ "participants": [visitor.id], "topic": "t" }),
        "updateSession" | "closeSession" => {
            json!({ "sessionId": "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d" })
        }
        "updateCapabilities" => json!({ "capabilities": ["more"] }),
        unknown => panic!("{unknown} has no row in this proof"),
    };
    Some(to_router(&visitor.id, "tried", method, &parameters))
}

async fn attempt(house: &mut House, method: &str, visitor: &Visitor) -> Verdict {
    let mut socket = house.socket("/collab", &[]).await.unwrap();
    let mut registration = json!({ "id": visitor.id, "name": "x", "capabilities": [] });
    if let Some(token) = &visitor.token {
        registration["authToken"] = json!(token);
    }
    socket.say(&to_router(&visitor.id, "register", "register", &registration)).await;
    let tried = message(method, visitor);
    let about = if tried.is_some() { "tried" } else { "register" };
    if let Some(tried) = tried {
        socket.say(&tried).await;
    }
    // What is accepted of a message to others is answered by nothing; what comes before this is about it.
    socket.say(&to_router(&visitor.id, "probe", "no such action", &json!({}))).await;
    let heard = socket.hear_until(|one| one["correlationId"] == "probe").await;
    let answer = heard.iter().find(|one| one["correlationId"] == about);
    let code = answer.and_then(|one| one["payload"]["error"]["code"].as_str());
    match code {
        Some(code) if TURNED_AWAY.contains(&code) => Verdict::Refused(code.to_owned()),
        Some(_) | None => Verdict::Done,
    }
}

#[tokio::test]
async fn tokens_collaboration() {
    let (mut house, mut proof) = (House::open().await, proof("collaboration"));
    let kinds = Kind::ALL.map(|kind| format!("to others: {}", kind.as_str()));
    let methods: Vec<_> = actions().into_iter().chain(kinds).collect();
    for method in &methods {
        for column in Column::ALL {
            let visitor = house.visitor(column).await;
            let verdict = attempt(&mut house, method, &visitor).await;
            proof.case(format!("{method}: {visitor}"), judge(&verdict, &visitor));
        }
    }
    close(house, proof, methods.len()).await;
}
