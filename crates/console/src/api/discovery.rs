//! Calls about who was announced, whom to trust, and where to look.

use serde::{Deserialize, Serialize};
use switchboard_model::{AgentId, AllowEntry, AnnouncedView, TurnedAway};
use ts_rs::TS;

/// Everyone who was announced, and how this broker looks for them.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryView {
    /// Everyone who was announced: those that wait first, then those here, then those gone.
    pub agents: Vec<AnnouncedView>,
    /// The last announcements that were turned away, newest first.
    pub turned_away: Vec<TurnedAway>,
    /// How this broker announces itself.
    pub own: OwnAnnouncement,
    /// Where and how it looks for others.
    pub looking: Looking,
}

/// How this broker announces itself.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OwnAnnouncement {
    /// Its id on the network.
    pub id: String,
    /// The fingerprint of its key.
    pub fingerprint: String,
    /// Where its signed document is.
    pub document_url: String,
}

/// Where and how this broker looks for others.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Looking {
    /// The interfaces that are chosen.
    pub interfaces: Vec<String>,
    /// The interfaces of this machine.
    pub available: Vec<NetworkInterface>,
    /// Whether multicast DNS is on.
    pub mdns: bool,
    /// Whether it works: whether this broker hears itself.
    pub mdns_works: bool,
    /// The group and port of datagrams; empty if they are off.
    pub udp: String,
    /// For how many seconds an announcement is believed.
    pub ttl_seconds: f64,
    /// `ask`, or `auto` where every signed agent is admitted.
    pub admit: String,
    /// Whether other machines can reach this broker at all.
    pub reachable: bool,
    /// The other registry that stands in while multicast DNS does not work; none if none is set.
    pub registry: Option<RegistryState>,
}

/// How it stands with the other registry.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RegistryState {
    /// Where it is.
    pub url: String,
    /// `suppressed`, `registered` or `failing`.
    pub state: String,
    /// What goes wrong, if something does.
    pub problem: Option<String>,
}

/// A network interface of this machine.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterface {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<String>,
    /// Whether it reaches only this machine.
    pub loopback: bool,
}

/// Admits an announced agent.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct AdmitAgent {
    /// Which.
    pub agent: AgentId,
    /// The fingerprint of the key that is meant; needed only to accept another key than the known one.
    #[serde(default)]
    #[ts(optional)]
    pub fingerprint: Option<String>,
}

/// Chooses where to look for others. Takes effect at once and is written to the settings file.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct LookOn {
    /// The names of interfaces; `lo` alone reaches nobody but this machine.
    pub interfaces: Vec<String>,
}

/// Who may announce themselves. An empty list lets everyone try.
#[derive(Clone, Debug, Serialize, TS)]
pub struct AllowList {
    /// In order.
    pub entries: Vec<AllowEntry>,
}

/// Changes the allow-list.
#[derive(Clone, Debug, Default, Deserialize, TS)]
#[serde(deny_unknown_fields, default)]
pub struct EditAllowList {
    /// New entries; one that is there gets the new words.
    pub add: Vec<NewAllowEntry>,
    /// The patterns of entries that go.
    pub remove: Vec<String>,
}

/// A new entry of the allow-list.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct NewAllowEntry {
    /// An id or a pattern such as `3cde*`.
    pub pattern: String,
    /// The operator's words.
    #[serde(default)]
    pub note: String,
}
