//! What can be said at each door, exactly as long as wanted, and what its answers mean in a word.

use serde_json::{Value, json};
use switchboard_tests::Broker;
use switchboard_tests::program::Program;

use crate::raw::{Heard, Raw};

/// A door where a frame is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Bus,
    Lobby,
    Collaboration,
}

pub(crate) const DOORS: [Door; 3] = [Door::Bus, Door::Lobby, Door::Collaboration];

/// Someone at such a door.
pub(crate) struct Guest {
    pub(crate) door: Door,
    pub(crate) raw: Raw,
    id: String,
    token: Value,
}

impl Door {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Bus => "/",
            Self::Lobby => "/lobby",
            Self::Collaboration => "/collab",
        }
    }

    /// How this door says that something is too large.
    pub(crate) fn too_large(self) -> &'static str {
        match self {
            Self::Bus => "-32013",
            Self::Lobby | Self::Collaboration => "TOO_LARGE",
        }
    }

    pub(crate) async fn stranger(self, broker: &Program) -> Guest {
        let raw = Raw::open(broker.address(), self.path(), "").await;
        Guest { door: self, raw, id: String::new(), token: Value::Null }
    }

    pub(crate) async fn guest(self, broker: &Program, id: &str) -> Guest {
        let mut guest = self.stranger(broker).await;
        let said = guest.join(id, &json!([])).await;
        assert_eq!(said, "ok", "{self:?} {id}");
        guest
    }

    /// The words by which an agent joins, with what it can do.
    pub(crate) fn hello(self, id: &str, capabilities: &Value) -> Value {
        match self {
            Self::Bus => {
                let info = json!({ "name": "n", "version": "0.2.0" });
                let params =
                    json!({ "clientId": id, "clientInfo": info, "capabilities": capabilities });
                json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
            }
            Self::Lobby => {
                let payload = json!({ "capabilities": capabilities });
                json!({ "sender_id": id, "message_type": "REGISTER", "payload": payload })
            }
            Self::Collaboration => {
                let given = json!({ "id": id, "name": id, "capabilities": capabilities });
                self.to_router("register", &given)
            }
        }
    }

    /// What a stranger may not ask, but may be heard with.
    pub(crate) fn early_question(self) -> Value {
        match self {
            Self::Bus => json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": {} }),
            Self::Lobby => {
                json!({ "sender_id": "x", "message_type": "DISCOVER_SERVICES", "payload": { "capability_name": "x" } })
            }
            Self::Collaboration => {
                json!({ "id": "1", "type": "event", "payload": { "topic": "t" } })
            }
        }
    }

    pub(crate) fn to_router(self, action: &str, parameters: &Value) -> Value {
        let payload = json!({ "action": action, "parameters": parameters });
        json!({ "id": "1", "type": "request", "to": "router", "payload": payload })
    }
}

impl Guest {
    /// Joins; how that was answered.
    pub(crate) async fn join(&mut self, id: &str, capabilities: &Value) -> String {
        let hello = self.door.hello(id, capabilities).to_string();
        self.raw.text(&hello).await;
        let heard = self.raw.hear().await;
        if let Heard::Message(message) = &heard {
            id.clone_into(&mut self.id);
            self.token = message["payload"]["auth_token"].clone();
        }
        self.word(&heard)
    }

    /// A question that is answered at once, to which anything can be added.
    pub(crate) fn question(&self) -> Value {
        match self.door {
            Door::Bus => {
                let params = json!({ "topic": "nobody", "payload": { "type": "t" } });
                json!({ "jsonrpc": "2.0", "id": 2, "method": "sendMessage", "params": params })
            }
            Door::Lobby => self.lobby("DISCOVER_SERVICES", &json!({ "capability_name": "x" })),
            Door::Collaboration => self.door.to_router("heartbeat", &json!({})),
        }
    }

    pub(crate) fn lobby(&self, kind: &str, payload: &Value) -> Value {
        json!({
            "sender_id": self.id, "auth_token": self.token, "message_type": kind,
            "receiver_id": "nobody", "conversation_id": "c", "payload": payload,
        })
    }

    /// Says something, and hears what is made of it.
    pub(crate) async fn ask(&mut self, text: &str) -> String {
        if !self.raw.text(text).await {
            return "closed".to_owned();
        }
        let heard = self.raw.hear().await;
        self.word(&heard)
    }

    pub(crate) fn word(&self, heard: &Heard) -> String {
        word(Some(self.door), heard)
    }
}

/// An answer in a word: `ok`, the code of an error, the status of an answer over HTTP, or how the connection ended.
pub(crate) fn word(door: Option<Door>, heard: &Heard) -> String {
    match heard {
        Heard::Silence => "silence".to_owned(),
        Heard::Closed(Some(code)) => format!("closed {code}"),
        Heard::Closed(None) => "closed".to_owned(),
        Heard::Http(status, _) => status.to_string(),
        // The answers of a batch: the first of them.
        Heard::Message(Value::Array(all)) => word(door, &Heard::Message(all[0].clone())),
        Heard::Message(message) => {
            let (payload, text) =
                (&message["payload"], |value: &Value| value.as_str().map(str::to_owned));
            let code = match door {
                Some(Door::Bus) => message["error"]["code"].as_i64().map(|code| code.to_string()),
                Some(Door::Lobby) => text(&payload["code"]),
                Some(Door::Collaboration) => text(&payload["error"]["code"]),
                None => text(&message["error"]["code"]),
            };
            code.unwrap_or_else(|| "ok".to_owned())
        }
    }
}

/// A message with so much in a field of its own that it has exactly so many bytes.
pub(crate) fn sized(message: &Value, bytes: usize) -> String {
    let text = message.to_string();
    let inner = text.strip_prefix('{').unwrap();
    let filler =
        bytes.checked_sub(text.len() + r#""pad":"","#.len()).expect("it is longer already");
    let sized = format!(r#"{{"pad":"{}",{inner}"#, "x".repeat(filler));
    assert_eq!(sized.len(), bytes);
    sized
}

/// A request over HTTP, and its answer in a word.
pub(crate) async fn http(
    broker: &Program,
    method: &str,
    path: &str,
    lines: &str,
    body: &[u8],
) -> String {
    word(None, &http_answer(broker, method, path, lines, body).await)
}

/// A request over HTTP, and its answer.
pub(crate) async fn http_answer(
    broker: &Program,
    method: &str,
    path: &str,
    lines: &str,
    body: &[u8],
) -> Heard {
    let mut raw = Raw::connect(broker.address()).await;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{lines}content-length: {}\r\n\r\n",
        broker.address(),
        body.len()
    );
    if raw.send(head.as_bytes()).await {
        raw.send(body).await;
    }
    raw.answer().await
}
