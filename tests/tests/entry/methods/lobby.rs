//! The lobby: every message carries the token; or the connection is opened with it.

use serde_json::{Value, json};

use super::{Column, House, Verdict, Visitor, close, judge, proof};
use crate::source;

const TURNED_AWAY: [&str; 5] =
    ["UNAUTHORIZED", "NOT_REGISTERED", "ID_TAKEN", "LOCKED_OUT", "FORBIDDEN"];

fn types() -> Vec<String> {
    let mut types = source::arms("crates/doors/src/lobby/session.rs", "match kind {");
    types.push("REGISTER".to_owned());
    types
}

fn message(kind: &str, visitor: &Visitor) -> Value {
    let (receiver, payload) = match kind {
        "REGISTER" => ("global_lobby", json!({ "capabilities": [] })),
        "DISCOVER_SERVICES" => ("global_lobby", json!({ "capability_name": "sum" })),
        "REQUEST" => ("provider", json!({ "capability_name": "sum" })),
        "RESPONSE" => ("provider", json!({ "status": "success" })),
        "ERROR" => ("provider", json!({ "error": "no" })),
        "CAPABILITY_UPDATE" => ("global_lobby", json!({ "capabilities": [{ "name": "more" }] })),
        "UNREGISTER" => ("global_lobby", json!({})),
        unknown => panic!("{unknown} has no row in this proof"),
    };
    let mut message = json!({
        "sender_id": visitor.id, "receiver_id": receiver, "message_type": kind,
        "payload": payload, "conversation_id": format!("of {}", visitor.id),
    });
    if let Some(token) = &visitor.token {
        message["auth_token"] = json!(token);
    }
    message
}

fn turned_away(message: &Value) -> Option<String> {
    let code = message["payload"]["code"].as_str()?;
    TURNED_AWAY.contains(&code).then(|| message["payload"].to_string())
}

/// Says one thing, and then something that is answered in any case: what came before that answer is about the first.
async fn attempt(house: &mut House, kind: &str, visitor: &Visitor) -> Verdict {
    let mut socket = house.socket("/lobby", &[]).await.unwrap();
    socket.say(&message(kind, visitor)).await;
    socket.say(&json!({ "message_type": "no such thing", "sender_id": visitor.id })).await;
    let about_probe = |one: &Value| one["payload"]["original_message_type"] == "no such thing";
    let mut heard = socket.hear_until(about_probe).await;
    // One that leaves is not there for the second.
    if heard.last().is_some_and(about_probe) {
        heard.pop();
    }
    heard.iter().find_map(turned_away).map_or(Verdict::Done, Verdict::Refused)
}

#[tokio::test]
async fn tokens_lobby() {
    let (mut house, mut proof, types) = (House::open().await, proof("lobby"), types());
    for kind in &types {
        for column in Column::ALL {
            let visitor = house.visitor(column).await;
            let verdict = attempt(&mut house, kind, &visitor).await;
            proof.case(format!("{kind}: {visitor}"), judge(&verdict, &visitor));
        }
    }
    for column in Column::ALL {
        let visitor = house.visitor(column).await;
        let body = message("REGISTER", &visitor).to_string();
        let answer = house.request("POST", "/api/register", None, &body).await;
        let verdict = match answer.status {
            200 => Verdict::Done,
            401 | 403 | 409 => Verdict::Refused(answer.body),
            other => panic!("{other}: {}", answer.body),
        };
        proof.case(format!("POST /api/register: {visitor}"), judge(&verdict, &visitor));

        let visitor = house.visitor(column).await;
        let query =
            visitor.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default();
        let opened = house.socket(&format!("/ws/{}{query}", visitor.id), &[]).await;
        let verdict =
            opened.map_or_else(|status| Verdict::Refused(status.to_string()), |_| Verdict::Done);
        proof.case(format!("/ws/{{id}}: {visitor}"), judge(&verdict, &visitor));
    }
    close(house, proof, types.len() + 2).await;
}
