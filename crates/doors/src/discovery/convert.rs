//! Agents as this protocol describes them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use switchboard_broker::Listed;
use switchboard_model::{Announcement, Transport};

use super::read;
use super::wire::{Announce, Described, Response, VERSION};

/// An announcement as it was believed.
pub(super) fn announce(said: &Announcement) -> Option<String> {
    let agent: &RawValue = serde_json::from_str(&said.document).ok()?;
    let signature = said.signature.as_deref();
    serde_json::to_string(&Announce { protocol_version: &said.version, agent, signature }).ok()
}

/// An agent that was found. One that came by another door is described as reached through the broker.
pub(super) fn found(one: &Listed, broker: &Transport, broker_key: &str) -> Option<String> {
    if let Some(said) = &one.announcement {
        return response(&said.document, true, said.signature.as_deref());
    }
    let capabilities: BTreeMap<&str, &str> = one
        .capabilities
        .iter()
        .map(|capability| {
            let texts = [&capability.version, &capability.description];
            let text = texts.into_iter().find(|text| !text.is_empty());
            (capability.name.as_str(), text.map_or("1.0", String::as_str))
        })
        .collect();
    let described = Described {
        agent_id: one.alias.to_string(),
        agent_name: Some(one.name.as_str()).filter(|name| read::is_label(name)),
        capabilities,
        public_key: broker_key,
        transport: broker,
        metadata: BTreeMap::from([("switchboard_id", one.agent.as_str())]),
    };
    response(&serde_json::to_string(&described).ok()?, true, None)
}

/// A Response about this document.
pub(super) fn response(document: &str, matched: bool, signature: Option<&str>) -> Option<String> {
    let agent: &RawValue = serde_json::from_str(document).ok()?;
    let (protocol_version, error) = (VERSION, None);
    let response = Response { protocol_version, agent, matched, signature, error };
    serde_json::to_string(&response).ok()
}
