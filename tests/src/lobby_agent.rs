//! An agent at the lobby door.

use serde_json::{Value, json};

use crate::Broker;
use crate::socket::Socket;

pub struct LobbyAgent {
    pub socket: Socket,
    pub id: String,
    pub token: String,
}

impl LobbyAgent {
    /// Registers in band, with these capabilities.
    pub async fn register(broker: &impl Broker, id: &str, capabilities: Value) -> Self {
        Self::register_at(broker.url(), id, capabilities, Value::Null).await
    }

    /// The same at an address, with a token that it has already.
    pub async fn register_at(url: &str, id: &str, capabilities: Value, token: Value) -> Self {
        let mut socket = Socket::connect(&format!("{url}/lobby")).await;
        let register = json!({
            "sender_id": id, "receiver_id": "global_lobby", "message_type": "REGISTER",
            "payload": { "capabilities": capabilities }, "auth_token": token,
        });
        socket.say(register.to_string()).await;
        let ack = socket.hear().await.unwrap();
        assert_eq!(ack["message_type"], "REGISTER_ACK", "{ack}");
        let token = ack["payload"]["auth_token"].as_str().unwrap().to_owned();
        Self { socket, id: id.to_owned(), token }
    }

    /// A message with the agent's own id and token, unless it says otherwise.
    pub async fn say(&mut self, mut message: Value) {
        let fields = message.as_object_mut().unwrap();
        fields.entry("sender_id").or_insert_with(|| json!(self.id));
        fields.entry("auth_token").or_insert_with(|| json!(self.token));
        self.socket.say(message.to_string()).await;
    }

    pub async fn hear(&mut self, message_type: &str) -> Value {
        self.socket.hear_where(|heard| heard["message_type"] == message_type).await
    }

    /// Asks another agent, under this conversation.
    pub async fn request(&mut self, to: &str, conversation: &str, payload: Value) {
        self.say(json!({
            "receiver_id": to, "message_type": "REQUEST",
            "payload": payload, "conversation_id": conversation,
        }))
        .await;
    }

    /// Answers a request that it heard.
    pub async fn respond(&mut self, request: &Value, payload: Value) {
        self.say(json!({
            "receiver_id": request["sender_id"], "message_type": "RESPONSE",
            "payload": payload, "conversation_id": request["conversation_id"],
        }))
        .await;
    }

    pub async fn discover(&mut self, payload: Value) -> Value {
        self.say(json!({
            "receiver_id": "global_lobby", "message_type": "DISCOVER_SERVICES", "payload": payload,
        }))
        .await;
        self.hear("SERVICES_AVAILABLE").await["payload"].clone()
    }
}
