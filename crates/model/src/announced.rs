//! Agents that were announced: what they say of themselves, who vouches for it, how they were found.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, Timestamp};

/// A way by which an announcement reached us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// DNS service discovery over multicast.
    Mdns,
    /// A datagram.
    Udp,
    /// The registry over HTTP.
    Http,
    /// The registry over WebSocket.
    WebSocket,
    /// The discovery topic of the bus.
    Bus,
}

impl Mechanism {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Mdns, Self::Udp, Self::Http, Self::WebSocket, Self::Bus];

    /// Its name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mdns => "mdns",
            Self::Udp => "udp",
            Self::Http => "http",
            Self::WebSocket => "websocket",
            Self::Bus => "bus",
        }
    }
}

/// A public key, as far as people and trust need to know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KeyView {
    /// Hexadecimal SHA-256 of the key itself.
    pub fingerprint: String,
    /// What kind of key it is, such as `ECDSA P-256`.
    pub kind: String,
    /// The key as PEM.
    pub pem: String,
}

/// How an announced agent can be reached without the broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Transport {
    /// `tcp`, `ws`, `unix` or another word.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where.
    pub endpoint: String,
}

/// What an agent announced, read and checked: whatever signature it carries is good.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// Its id, which is a UUID.
    pub agent: AgentId,
    /// Its name, for people.
    pub name: Option<String>,
    /// What it can do, each with a version or a few words.
    pub capabilities: BTreeMap<String, String>,
    /// How it can be reached.
    pub transport: Transport,
    /// The version of the protocol that it was written in, such as `v1.0`.
    pub version: String,
    /// The `agent` object as it was sent, to the letter.
    pub document: Arc<str>,
    /// Hexadecimal SHA-256 of the canonical document: the same for the same content.
    pub digest: String,
    /// Its key, if it named one.
    pub key: Option<KeyView>,
    /// The signature by that key, in Base64, if it signed.
    pub signature: Option<String>,
    /// The fingerprint of the older key that signed it too, if one did.
    pub rotated_from: Option<String>,
}

impl Announcement {
    /// The key that signed it, if it was signed.
    pub fn signed_by(&self) -> Option<&KeyView> {
        self.key.as_ref().filter(|_| self.signature.is_some())
    }
}

/// How an announcement came.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// By what.
    pub mechanism: Mechanism,
    /// From where, for people.
    pub address: String,
    /// Whether it holds until it is taken back; else for the usual time.
    pub lasting: bool,
}

/// Whether an announced agent counts as one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The operator has not decided; nobody finds it.
    Waiting,
    /// It is found and can be called.
    Admitted,
    /// It is turned away.
    Refused,
}

impl Trust {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Admitted, Self::Refused];

    /// Its name in the database, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Admitted => "admitted",
            Self::Refused => "refused",
        }
    }

    /// The one of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trust| trust.as_str() == text)
    }
}

/// By whom an agent was admitted or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustedBy {
    /// The operator said so.
    Operator,
    /// The allow-list names it.
    AllowList,
    /// Every signed agent is admitted here.
    Everyone,
}

/// A key that an agent had before, and that still counts for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RetiredKey {
    /// The key.
    pub key: KeyView,
    /// Until when.
    pub until: Timestamp,
}

/// Someone announced a known id with another key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KeyChange {
    /// The other key.
    pub key: KeyView,
    /// When it was last tried.
    pub at: Timestamp,
    /// How.
    pub mechanism: Mechanism,
    /// From where.
    pub address: String,
}

/// One way by which an agent is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SeenBy {
    /// The way.
    pub mechanism: Mechanism,
    /// From where, at last.
    pub address: String,
    /// Since when.
    pub since: Timestamp,
    /// When it was last heard of.
    pub last_at: Timestamp,
    /// Until when it is believed; none where it says goodbye itself.
    pub until: Option<Timestamp>,
}

/// An announced agent as the operator sees it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnnouncedView {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: Option<String>,
    /// What it can do, each with a version or a few words.
    pub capabilities: BTreeMap<String, String>,
    /// How it says it can be reached.
    pub transport: Transport,
    /// The version of the protocol it speaks.
    pub protocol_version: String,
    /// Whether it counts as one of ours.
    pub trust: Trust,
    /// Who decided that; none while nobody has.
    pub trusted_by: Option<TrustedBy>,
    /// The key it is known by; none if it never signed.
    pub key: Option<KeyView>,
    /// Whether its last announcement was signed.
    pub signed: bool,
    /// Keys it had before that still count.
    pub retired_keys: Vec<RetiredKey>,
    /// Someone came with another key, and was turned away.
    pub key_change: Option<KeyChange>,
    /// The ways by which it is found now; empty if it is gone.
    pub seen_by: Vec<SeenBy>,
    /// When it was first heard of.
    pub first_seen: Timestamp,
    /// When it was last heard of.
    pub last_seen: Timestamp,
    /// The document as it was sent.
    pub document_text: String,
}

/// An announcement that was turned away.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnedAway {
    /// When.
    pub at: Timestamp,
    /// How it came.
    pub mechanism: Mechanism,
    /// From where.
    pub address: String,
    /// Who it said it was, as far as that could be read.
    pub agent: Option<AgentId>,
    /// Why, for people.
    pub message: String,
    /// How often the same happened since the entry was made.
    pub times: u32,
}

/// One entry of the allow-list: an id, or a pattern of ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AllowEntry {
    /// An id or a pattern.
    pub pattern: String,
    /// The operator's words.
    pub note: String,
    /// When it was added; none if it comes from the settings file and can only be changed there.
    pub added_at: Option<Timestamp>,
}
