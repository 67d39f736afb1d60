//! Every place where a text can be handed in, with someone at each who may.

use serde_json::json;
use switchboard_tests::Broker;
use switchboard_tests::mail_agent::MailAgent;
use switchboard_tests::program::Program;

use crate::doors::{DOORS, Door, Guest, http};
use crate::raw::Heard;

/// Where a text can be handed in, and what is said there to one that is not JSON, is JSON of another shape, or is well.
pub(super) struct Entrance {
    pub(super) name: &'static str,
    pub(super) no_json: &'static str,
    pub(super) no_message: &'static str,
    pub(super) well: &'static str,
    /// How a value is put into a message; none of it matters to the broker.
    pub(super) carrying: fn(&str) -> String,
}

pub(super) const ENTRANCES: [Entrance; 7] = [
    Entrance {
        name: "Bus",
        no_json: "-32700",
        no_message: "-32600",
        well: "ok",
        carrying: |value| {
            format!(
                r#"{{"jsonrpc":"2.0","id":2,"method":"sendMessage","params":{{"topic":"nobody","payload":{{"type":"t","v":{value}}}}}}}"#
            )
        },
    },
    Entrance {
        name: "Lobby",
        no_json: "INVALID_REQUEST",
        no_message: "INVALID_REQUEST",
        well: "ok",
        carrying: |value| {
            format!(
                r#"{{"sender_id":"lobby-guest","auth_token":"TOKEN","message_type":"DISCOVER_SERVICES","payload":{{"capability_name":"x","v":{value}}}}}"#
            )
        },
    },
    Entrance {
        name: "Collaboration",
        no_json: "INVALID_REQUEST",
        no_message: "INVALID_REQUEST",
        well: "ok",
        carrying: |value| {
            format!(
                r#"{{"id":"1","type":"request","to":"router","payload":{{"action":"heartbeat","parameters":{{"v":{value}}}}}}}"#
            )
        },
    },
    Entrance {
        name: "AACP",
        no_json: "400",
        no_message: "422",
        well: "201",
        carrying: |value| {
            format!(
                r#"{{"sender_agent_id":"mail","receiver_agent_id":"mail","message_type":"notification","content":{{"action":"x","input":{{"v":{value}}}}}}}"#
            )
        },
    },
    Entrance {
        name: "Lobby over HTTP",
        no_json: "400",
        no_message: "422",
        well: "200",
        carrying: |value| {
            format!(
                r#"{{"sender_id":"UNIQUE","message_type":"REGISTER","payload":{{"v":{value}}}}}"#
            )
        },
    },
    Entrance {
        name: "Discovery",
        no_json: "400",
        no_message: "400",
        well: "200",
        carrying: |value| {
            format!(r#"{{"protocol_version":"v1.0","query":{{"capability":"x","v":{value}}}}}"#)
        },
    },
    Entrance {
        name: "Console",
        no_json: "400",
        no_message: "400",
        well: "200",
        carrying: |value| format!(r#"{{"method":"dryRun","params":{{"topic":"x","v":{value}}}}}"#),
    },
];

pub(super) struct House {
    pub(super) broker: Program,
    pub(super) guests: Vec<Guest>,
    pub(super) token: String,
    pub(super) mail: String,
    pub(super) jwt: String,
    pub(super) admin: String,
    next: usize,
}

impl House {
    pub(super) async fn of(broker: Program) -> Self {
        let mail = MailAgent::issued(&broker, "mail").await.token;
        let scopes = json!({ "scopes": ["discover:read", "discover:write"], "ttlSeconds": 600 });
        let jwt = broker.call("signJwt", scopes).await["token"].as_str().unwrap().to_owned();
        let admin = std::fs::read_to_string(broker.data_dir().join("admin-token")).unwrap();
        let mut house = Self {
            broker,
            guests: Vec::new(),
            token: String::new(),
            mail,
            jwt,
            admin: admin.trim().to_owned(),
            next: 0,
        };
        for door in DOORS {
            house.let_in(door).await;
        }
        house
    }

    async fn let_in(&mut self, door: Door) {
        self.next += 1;
        let id = if door == Door::Lobby {
            "lobby-guest".to_owned()
        } else {
            format!("{door:?}-{}", self.next)
        };
        let mut guest = door.stranger(&self.broker).await;
        let mut hello = door.hello(&id, &json!([]));
        if door == Door::Lobby && !self.token.is_empty() {
            hello["auth_token"] = json!(self.token);
        }
        guest.raw.text(&hello.to_string()).await;
        let Heard::Message(message) = guest.raw.hear().await else {
            panic!("{door:?} did not let in")
        };
        if let Some(token) = message["payload"]["auth_token"].as_str() {
            token.clone_into(&mut self.token);
        }
        self.guests.retain(|one| one.door != door);
        self.guests.push(guest);
    }

    /// What is said to a text at an entrance. One that closes the connection is followed by another.
    pub(super) async fn say(&mut self, entrance: &str, text: &[u8]) -> String {
        self.next += 1;
        let text = String::from_utf8_lossy(text)
            .replace("TOKEN", &self.token)
            .replace("UNIQUE", &format!("u{}", self.next));
        let bearer = |token: &str| format!("authorization: Bearer {token}\r\n");
        let post = async |path: &str, token: &str| {
            http(&self.broker, "POST", path, &bearer(token), text.as_bytes()).await
        };
        match entrance {
            "AACP" => return post("/api/v1/protocol/messages", &self.mail).await,
            "Lobby over HTTP" => return post("/api/register", "x").await,
            "Discovery" => return post("/agents", &self.jwt).await,
            "Console" => return post("/console/call", &self.admin).await,
            _ => {}
        }
        let guest =
            self.guests.iter_mut().find(|guest| format!("{:?}", guest.door) == entrance).unwrap();
        let (door, said) = (guest.door, guest.ask(&text).await);
        if said.starts_with("closed") {
            self.let_in(door).await;
        }
        said
    }
}
