//! An agent at the collaboration door.

use serde_json::{Value, json};

use crate::Broker;
use crate::socket::Socket;

pub struct CollabAgent {
    pub socket: Socket,
    pub id: String,
    pub token: String,
    next_id: u64,
}

impl CollabAgent {
    pub async fn register(broker: &impl Broker, id: &str, capabilities: Value) -> Self {
        Self::register_at(broker.url(), id, capabilities, Value::Null).await
    }

    /// The same at an address, with a token that it has already.
    pub async fn register_at(url: &str, id: &str, capabilities: Value, token: Value) -> Self {
        let socket = Socket::connect(&format!("{url}/collab")).await;
        let mut agent = Self { socket, id: id.to_owned(), token: String::new(), next_id: 1 };
        let registration = json!({
            "id": id, "name": id, "capabilities": capabilities, "status": "ready",
            "metadata": { "version": "1", "startedAt": "2026-11-16T00:00:00Z" }, "authToken": token,
        });
        let told = agent.router("register", registration).await.unwrap();
        agent.token = told["authToken"].as_str().unwrap().to_owned();
        agent
    }

    pub async fn say(&mut self, mut message: Value) {
        let fields = message.as_object_mut().unwrap();
        fields.entry("from").or_insert_with(|| json!(self.id));
        self.socket.say(message.to_string()).await;
    }

    /// Sends a request and returns its id.
    pub async fn ask(&mut self, to: &str, action: &str, parameters: Value) -> String {
        let id = format!("{}-{}", self.id, self.next_id);
        self.next_id += 1;
        let payload = json!({ "action": action, "parameters": parameters });
        self.say(json!({ "id": id, "type": "request", "to": to, "payload": payload })).await;
        id
    }

    /// The answer to a request: its payload.
    pub async fn answer_to(&mut self, id: &str) -> Value {
        let answer = self
            .socket
            .hear_where(|heard| heard["type"] == "response" && heard["correlationId"] == id)
            .await;
        answer["payload"].clone()
    }

    /// Asks the broker itself: the result, or the error.
    pub async fn router(&mut self, action: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.ask("router", action, parameters).await;
        let payload = self.answer_to(&id).await;
        match payload["status"].as_str() {
            Some("success") => Ok(payload["result"].clone()),
            _ => Err(payload["error"].clone()),
        }
    }

    pub async fn hear(&mut self, kind: &str) -> Value {
        self.socket.hear_where(|heard| heard["type"] == kind).await
    }

    /// Answers a request that it heard.
    pub async fn respond(&mut self, request: &Value, payload: Value) {
        self.say(json!({
            "type": "response", "to": request["from"], "correlationId": request["id"],
            "payload": payload,
        }))
        .await;
    }
}
