//! Agents: who they are, by which door they came, what they can do.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use uuid::Uuid;

use crate::{AgentId, Effect};

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

impl Door {
    /// Whether those who come by this door answer a request with a message of its own, whenever they
    /// have the answer; the others answer the delivery itself.
    pub fn answers_by_message(self) -> bool {
        match self {
            Self::Lobby | Self::Collaboration | Self::Aacp => true,
            Self::Bus | Self::Discovery | Self::Console => false,
        }
    }

    /// Whether those who come by this door may only send to agents that are known.
    pub fn knows_receivers(self) -> bool {
        self.answers_by_message()
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
    /// Known, but not connected, or not heard of for too long.
    Unavailable,
}

impl AgentStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Starting, Self::Ready, Self::Busy, Self::Stopping, Self::Unavailable];

    /// The status's name in the protocol and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Stopping => "stopping",
            Self::Unavailable => "unavailable",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
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
    /// Its version, for people.
    #[serde(default)]
    pub version: String,
    /// Who may call it, as the agent declared; none or empty is public.
    #[serde(default)]
    pub authorized_requester_ids: Option<Vec<String>>,
}

/// A capability as agents declare it: by name alone, or in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Declared {
    /// Its name.
    Name(String),
    /// All of it.
    Full(Capability),
}

impl Declared {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Full(capability) => &capability.name,
        }
    }
}

impl From<Declared> for Capability {
    fn from(declared: Declared) -> Self {
        match declared {
            Declared::Name(name) => Self::named(name),
            Declared::Full(capability) => capability,
        }
    }
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
            version: String::new(),
            authorized_requester_ids: None,
        }
    }

    /// What the declaration says of this caller, known by either of its names.
    pub fn declares(&self, caller: &AgentId) -> Effect {
        match &self.authorized_requester_ids {
            None => Effect::Allow,
            Some(listed) if listed.is_empty() => Effect::Allow,
            Some(listed) => {
                let is_alias =
                    |id: &String| Uuid::parse_str(id).is_ok_and(|id| id == caller.alias());
                let named = listed.iter().any(|id| id == caller.as_str() || is_alias(id));
                if named { Effect::Allow } else { Effect::Deny }
            }
        }
    }

    /// How many of these words it can be found by: they are among its keywords or part of its name.
    pub fn found_by(&self, words: &[String]) -> usize {
        let name = self.name.to_lowercase();
        let found = |word: &&String| {
            let word = word.trim().to_lowercase();
            !word.is_empty()
                && (name.contains(&word)
                    || self.keywords.iter().any(|keyword| keyword.to_lowercase() == word))
        };
        words.iter().filter(found).count()
    }
}
