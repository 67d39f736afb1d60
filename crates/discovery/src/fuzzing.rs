//! What must hold whatever a neighbour says of itself by multicast DNS. Each function takes the bytes of one trial and
//! panics where something does not hold. `fuzz/` calls them millions of times, and the tests below with all that is kept
//! in `fuzz/corpus`.
#![allow(clippy::expect_used, reason = "to panic is how a trial tells of a fault")]

use std::time::Duration;

use mdns_sd::{ServiceInfo, TxtProperty};

use crate::peer::Peer;

/// A TXT record as it is on the wire: each string after its length. Whatever it says, a peer that is read of it can be
/// shown, and is believed for a limited time.
pub fn txt_record(bytes: &[u8]) {
    let service =
        ServiceInfo::new(crate::SERVICE, "x", "x.local.", "127.0.0.1", 7892, strings(bytes));
    let Ok(service) = service else { return };
    let Some(peer) = Peer::read(&service.as_resolved_service()) else { return };
    assert!(!peer.name.is_empty() && peer.name.chars().count() <= 128, "{:?}", peer.name);
    assert!(!peer.name.chars().any(char::is_control), "{:?}", peer.name);
    assert!((1..=3600).contains(&peer.ttl.as_secs()) && peer.ttl.subsec_nanos() == 0);
    assert!(peer.ttl >= Duration::from_secs(1));
    let is_digest = |text: &String| {
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    assert!(peer.fingerprint.as_ref().is_none_or(is_digest), "{:?}", peer.fingerprint);
    assert!(peer.addresses.len() <= 16);
    assert!(peer.document.is_none_or(|text| !text.is_empty() && text.len() <= bytes.len()));
}

/// A datagram of multicast DNS as it comes from the network. It is the library that reads it, in our process: it may not
/// panic, hang, or make more of it than there is. Questions are left out, because the library's own check expects each to be
/// kept, and it passes over those of a type that it does not know; their names are read as those of records are.
pub fn mdns_packet(bytes: &[u8]) {
    let mut packet = bytes.to_vec();
    if let Some(questions) = packet.get_mut(4..6) {
        questions.fill(0);
    }
    mdns_sd::fuzz_api::parse_packet(&packet);
}

fn strings(mut bytes: &[u8]) -> Vec<TxtProperty> {
    let mut strings = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (string, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        bytes = rest;
        let mut parts = string.splitn(2, |byte| *byte == b'=');
        let Some(Ok(key)) = parts.next().map(std::str::from_utf8) else { continue };
        strings.push(match parts.next() {
            Some(value) => TxtProperty::from((key, value)),
            None => TxtProperty::from(key),
        });
    }
    strings
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn fuzzing_txt_record() {
        replay("txt_record", super::txt_record);
    }

    #[test]
    fn fuzzing_mdns_packet() {
        replay("mdns_packet", super::mdns_packet);
    }
}
