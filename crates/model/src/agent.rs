//! Agents: who they are, by which door they came, what they can do.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A way into the broker, one for each published protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Door {
    /// JSON-RPC 2.0 over WebSocket at `/`.
    Bus,
    /// One JSON message a frame at `/lobby`.
    Lobby,
    /// One JSON message a frame at `/collab`.
    Collaboration,
    /// HTTP at `/api/v1/protocol`.
    Aacp,
    /// HTTP, WebSocket, mDNS and UDP announcements.
    Discovery,
    /// The operator at the console. Not a protocol, but messages come in here too.
    Console,
}

impl Door {
    /// Every door.
    pub const ALL: [Self; 6] =
        [Self::Bus, Self::Lobby, Self::Collaboration, Self::Aacp, Self::Discovery, Self::Console];

    /// The door's name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bus => "bus",
            Self::Lobby => "lobby",
            Self::Collaboration => "collaboration",
            Self::Aacp => "aacp",
            Self::Discovery => "discovery",
            Self::Console => "console",
        }
    }

    /// The door of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.as_str() == text)
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What happened to an agent, as other agents are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// Its first connection joined.
    Connected,
    /// Its last connection ended.
    Disconnected,
    /// The default handler started it.
    Spawned,
    /// It was started by the default handler, and ended well.
    Completed,
    /// It was started by the default handler, and failed.
    Error,
}

impl Lifecycle {
    /// Everything that can happen.
    pub const ALL: [Self; 5] =
        [Self::Connected, Self::Disconnected, Self::Spawned, Self::Completed, Self::Error];

    /// What happened, in the last word of the topic and in the event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Spawned => "spawned",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }
}

/// Whether an agent can take messages now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum AgentStatus {
    /// Connected, not ready yet.
    Starting,
    /// Connected and taking messages.
    Ready,
    /// Connected, with as much in flight as it may have.
    Busy,
    /// Saying goodbye.
    Stopping,
    /// Known, but not connected.
    Unavailable,
}

/// Something an agent can be asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Capability {
    /// The name callers use.
    pub name: String,
    /// What it does, for people.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the input; `{}` accepts all.
    #[serde(default = "any_schema")]
    #[ts(type = "unknown")]
    pub input_schema: serde_json::Value,
    /// JSON Schema of the output; `{}` accepts all.
    #[serde(default = "any_schema")]
    #[ts(type = "unknown")]
    pub output_schema: serde_json::Value,
    /// Words to find it by.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Who may call it, as the agent declared; none or empty is public.
    #[serde(default)]
    pub authorized_requester_ids: Option<Vec<String>>,
}

fn any_schema() -> serde_json::Value {
    serde_json::Value::Object(serde_json::Map::new())
}

impl Capability {
    /// A capability known by name alone.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            input_schema: any_schema(),
            output_schema: any_schema(),
            keywords: Vec::new(),
            authorized_requester_ids: None,
        }
    }
}
