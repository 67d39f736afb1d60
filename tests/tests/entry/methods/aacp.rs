//! The AACP door: every request carries the token, and an agent's mailbox is its own.

use serde_json::{Value, json};

use super::{Column, House, Verdict, close, judge, proof};
use crate::source::{self, Route};

const PREFIX: &str = "/api/v1/protocol";

/// Who gets what by a request.
enum Row {
    /// For everyone, or for no one: the status is the same whatever is shown.
    Same(u16),
    /// For whoever shows a token that is anybody's.
    Anyones,
    /// For the agent that it is about.
    Own { path: String, body: Value },
}

fn row(route: &Route, id: &str, message: &str) -> Row {
    let path = route.path.strip_prefix(PREFIX).unwrap();
    match (route.method, path) {
        ("GET" | "HEAD", "/version" | "/spec") => Row::Anyones,
        ("GET" | "HEAD", "/openapi.json") => Row::Same(200),
        (_, "/nothing/here") => Row::Same(404),
        ("HEAD", "/messages/{id}") => Row::Same(405),
        ("POST", "/messages") => Row::Own {
            path: route.path.clone(),
            body: json!({
                "sender_agent_id": id, "receiver_agent_id": "provider", "message_type": "request",
                "content": { "action": "sum", "input": {} },
            }),
        },
        ("GET", "/messages/{id}") => {
            Row::Own { path: format!("{PREFIX}/messages/{id}"), body: Value::Null }
        }
        ("POST", "/messages/{id}/status") => Row::Own {
            path: format!("{PREFIX}/messages/{message}/status"),
            body: json!({ "status": "processed" }),
        },
        _ => panic!("{route:?} has no row in this proof"),
    }
}

#[tokio::test]
async fn tokens_aacp() {
    let (mut house, mut proof) = (House::open().await, proof("aacp"));
    let routes: Vec<_> =
        source::routes().into_iter().filter(|route| route.path.starts_with(PREFIX)).collect();
    for route in &routes {
        for column in Column::ALL {
            let visitor = house.visitor(column).await;
            let message = mail_for(&mut house, &visitor.id).await;
            let row = row(route, &visitor.id, &message);
            let (path, body) = match &row {
                Row::Own { path, body } => (path.as_str(), body.clone()),
                Row::Same(_) | Row::Anyones => (route.path.as_str(), Value::Null),
            };
            let body = if body.is_null() { String::new() } else { body.to_string() };
            let token = visitor.token.as_deref();
            let answer = house.request(route.method, path, token, &body).await;
            let name = format!("{} {}: {visitor}", route.method, route.path);
            let verdict = match answer.status {
                200 | 201 => Verdict::Done,
                401 | 403 => Verdict::Refused(answer.body.clone()),
                // Another's message is none that it knows of.
                404 if path.ends_with("/status") => Verdict::Refused(answer.body.clone()),
                other => Verdict::Refused(format!("{other}")),
            };
            match row {
                Row::Same(status) => {
                    proof.check(format!("{name}: {}", answer.status), answer.status == status)
                }
                Row::Anyones if column == Column::Others => {
                    proof.check(name, verdict == Verdict::Done)
                }
                Row::Anyones | Row::Own { .. } => proof.case(name, judge(&verdict, &visitor)),
            }
        }
    }
    close(house, proof, routes.len()).await;
}

/// The other one writes to it; returns the id of the message.
async fn mail_for(house: &mut House, id: &str) -> String {
    let body = json!({
        "sender_agent_id": "other", "receiver_agent_id": id, "message_type": "notification",
        "content": { "action": "hello" },
    });
    let token = house.other.clone();
    let path = format!("{PREFIX}/messages");
    let answer = house.request("POST", &path, Some(&token), &body.to_string()).await;
    let sent: Value = serde_json::from_str(&answer.body).unwrap();
    sent["id"].as_str().unwrap_or_else(|| panic!("{sent}")).to_owned()
}
