//! Those at the other doors.

use std::time::Duration;

use bub::Console;
use serde_json::{Value, json};
use switchboard_trust::SigningKey;

use super::{Life, issue};
use crate::wire::{Wire, ask};

/// Requests between two acknowledgements at doors that do not acknowledge requests.
const TOGETHER: u64 = 5;

impl Life {
    /// At the lobby nobody is told that a request was accepted; but what was said before a registration that was
    /// acknowledged was accepted before it.
    pub(super) async fn ask_at_the_lobby(&self) -> Option<()> {
        let id = self.key("lobby", 0);
        let mut wire = Wire::connect(&format!("{}/lobby", self.url)).await?;
        wire.say(&json!({
            "sender_id": id, "receiver_id": "global_lobby", "message_type": "REGISTER",
            "payload": { "capabilities": [] },
        }))
        .await?;
        let ack = wire.hear(|heard| heard["message_type"] == "REGISTER_ACK").await?;
        let token = ack["payload"]["auth_token"].as_str().unwrap().to_owned();
        self.promised.tokens.lock().unwrap().push((id.clone(), token.clone()));
        for number in 1.. {
            let key = self.key("lobby", number);
            wire.say(&json!({
                "sender_id": id, "receiver_id": "answerer", "message_type": "REQUEST",
                "payload": { "capability_name": "do", "key": key }, "conversation_id": key,
                "auth_token": token,
            }))
            .await?;
            let answer = |heard: &Value| heard["conversation_id"] == key.as_str();
            let heard = wire.hear(answer).await?;
            if heard["payload"]["status"] == "success" {
                self.answered(key);
            }
            if number % TOGETHER == 0 {
                wire.say(&json!({
                    "sender_id": id, "receiver_id": "global_lobby", "auth_token": token,
                    "message_type": "CAPABILITY_UPDATE", "payload": { "capabilities": [] },
                }))
                .await?;
                wire.hear(|heard| heard["message_type"] == "REGISTER_ACK").await?;
                self.accepted(&id);
            }
        }
        None
    }

    /// So it is in collaboration.
    pub(super) async fn ask_in_collaboration(&self) -> Option<()> {
        let (id, mut wire) = self.collaborate("collab").await?;
        for number in 1.. {
            let key = self.key("collab", number);
            let payload = json!({ "action": "do", "parameters": { "key": key } });
            let request = json!({ "id": key, "type": "request", "from": id, "to": "answerer", "payload": payload });
            wire.say(&request).await?;
            let heard = wire.hear(|heard| heard["correlationId"] == key.as_str()).await?;
            if heard["payload"]["status"] == "success" {
                self.answered(key);
            }
            if number % TOGETHER == 0 {
                let nothing = json!({ "capabilities": [] });
                to_router(&mut wire, &id, &format!("u{number}"), "updateCapabilities", &nothing)
                    .await?;
                self.accepted(&id);
            }
        }
        None
    }

    /// What is shared in a session, and was acknowledged, stays shared.
    pub(super) async fn share(&self) -> Option<()> {
        let (id, mut wire) = self.collaborate("share").await?;
        let session = self.key("session", 0);
        for number in 1.. {
            let state = json!({ "n": number });
            let (action, parameters) = match number {
                1 => ("openSession", json!({ "id": session, "context": { "sharedState": state } })),
                _ => ("updateSession", json!({ "sessionId": session, "sharedState": state })),
            };
            let told =
                to_router(&mut wire, &id, &format!("s{number}"), action, &parameters).await?;
            assert_eq!(told["status"], "success", "{told}");
            *self.promised.session.lock().unwrap() = Some((session.clone(), number));
        }
        None
    }

    async fn collaborate(&self, who: &str) -> Option<(String, Wire)> {
        let id = self.key(who, 0);
        let mut wire = Wire::connect(&format!("{}/collab", self.url)).await?;
        let registration = json!({
            "id": id, "name": id, "capabilities": [], "status": "ready",
            "metadata": { "version": "1", "startedAt": "2026-11-16T00:00:00Z" },
        });
        let told = to_router(&mut wire, &id, "r", "register", &registration).await?;
        let token = told["result"]["authToken"].as_str().unwrap().to_owned();
        self.promised.tokens.lock().unwrap().push((id.clone(), token));
        Some((id, wire))
    }

    /// At the AACP door 201 means: on disk.
    pub(super) async fn send_mail(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        let token = issue(&console, "mailer").await?;
        for number in 0.. {
            let key = self.key("mail", number);
            let to = ["absent", "answerer"][number as usize % 2];
            let message = json!({
                "sender_agent_id": "mailer", "receiver_agent_id": to, "message_type": "request",
                "content": { "action": "do", "input": { "key": key } },
            });
            let path = "/api/v1/protocol/messages";
            let body = message.to_string();
            let (status, answer) = ask(self.address(), "POST", path, &token, &body).await?;
            assert!(matches!(status, 201 | 404 | 429 | 503), "{status} {answer}");
            // Who has not come yet is not known (404).
            if status == 201 {
                self.acknowledged(key);
            }
        }
        None
    }

    /// Who was announced and admitted stays so.
    pub(super) async fn announce(&self) -> Option<()> {
        let console = Console::open(&self.folder).ok()?;
        let scopes = json!({ "scopes": ["discover:read", "discover:write"] });
        let signed: Value = console.call("signJwt", scopes).await.ok()?;
        let token = signed["token"].as_str().unwrap();
        for _ in 0.. {
            let (key, id) = (SigningKey::generate().unwrap(), uuid::Uuid::new_v4().to_string());
            let document = json!({
                "agent_id": id, "agent_name": "announced", "capabilities": { "sum": "1" },
                "public_key": key.public().pem(),
                "transport": { "type": "tcp", "endpoint": "10.0.0.12:9000" },
            });
            let signature = key.sign(&document.to_string()).unwrap();
            let body =
                json!({ "protocol_version": "v1.0", "agent": document, "signature": signature });
            let body = body.to_string();
            let (status, answer) = ask(self.address(), "POST", "/agents", token, &body).await?;
            assert!(matches!(status, 200 | 201), "{status} {answer}");
            self.promised.announced.lock().unwrap().push(id);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        None
    }
}

async fn to_router(
    wire: &mut Wire,
    from: &str,
    id: &str,
    action: &str,
    parameters: &Value,
) -> Option<Value> {
    let payload = json!({ "action": action, "parameters": parameters });
    wire.say(
        &json!({ "id": id, "type": "request", "from": from, "to": "router", "payload": payload }),
    )
    .await?;
    let heard = wire.hear(|heard| heard["correlationId"] == id).await?;
    Some(heard["payload"].clone())
}
