//! What another broker or agent says of itself by multicast DNS. None of it is proven, and all of it
//! may be hostile: whoever is on the network may say it.

use std::net::{SocketAddr, SocketAddrV6};
use std::time::Duration;

use mdns_sd::{ResolvedService, ScopedIp};
use switchboard_model::AgentId;

/// What a peer that does not say is believed for.
const USUAL_TTL: Duration = Duration::from_secs(10);
/// Nobody is believed for longer.
const LONGEST_TTL: u64 = 3600;
/// So much of a name is shown to people.
const LONGEST_NAME: usize = 100;
/// More addresses of one peer are not tried.
const MOST_ADDRESSES: usize = 16;
/// A document that travels whole has at most so many parts; they would not fit in one datagram.
const MOST_PARTS: usize = 64;

/// Another broker or agent on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its id.
    pub id: AgentId,
    /// Its name, for people; without control characters, and not long.
    pub name: String,
    /// The version of the discovery protocol that it speaks, such as `v1.0`.
    pub version: String,
    /// Where its document is.
    pub path: String,
    /// Whether its document is served over TLS.
    pub tls: bool,
    /// The SHA-256 of its public key, as 64 hexadecimal digits in lower case.
    pub fingerprint: Option<String>,
    /// Its whole document, where that was short enough to be announced.
    pub document: Option<String>,
    /// Where it listens: its addresses with its port, in order. A link-local one names its link.
    pub addresses: Vec<SocketAddr>,
    /// For how long it is believed without a sign of life.
    pub ttl: Duration,
    /// Its name on the network.
    pub instance: String,
}

impl Peer {
    /// Reads an announcement; none if it lacks what nobody can do without.
    pub(crate) fn read(service: &ResolvedService) -> Option<Self> {
        let said = |key| service.get_property_val_str(key);
        let id = AgentId::parse(said("id")?).ok()?;
        Some(Self {
            name: name(said("name").unwrap_or_default()).unwrap_or_else(|| id.to_string()),
            id,
            version: said("v").filter(|text| is_version(text))?.to_owned(),
            path: said("path").unwrap_or("/").to_owned(),
            tls: said("tls") == Some("1"),
            fingerprint: said("fp").and_then(fingerprint),
            document: document(service),
            addresses: addresses(service),
            ttl: ttl(said("ttl")),
            instance: service.get_fullname().to_owned(),
        })
    }
}

/// What can be shown of a name, if anything.
fn name(said: &str) -> Option<String> {
    let shown: String = said.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    let shown = shown.trim();
    (!shown.is_empty()).then(|| shown.to_owned())
}

/// `v`, a number, a dot and a number.
fn is_version(text: &str) -> bool {
    let number = |text: &str| {
        (1..=4).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit())
    };
    text.strip_prefix('v')
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(major, minor)| number(major) && number(minor))
}

fn fingerprint(said: &str) -> Option<String> {
    let whole = said.len() == 64 && said.bytes().all(|digit| digit.is_ascii_hexdigit());
    whole.then(|| said.to_ascii_lowercase())
}

/// The document as `doc`, or in the parts `j0`, `j1` and so on, which may cut a character in two.
fn document(service: &ResolvedService) -> Option<String> {
    let bytes = |key: &str| service.get_property_val(key).flatten();
    if let Some(whole) = bytes("doc").filter(|whole| !whole.is_empty()) {
        return String::from_utf8(whole.to_vec()).ok();
    }
    let parts = (0..MOST_PARTS).map_while(|part| bytes(&format!("j{part}")));
    let joined = parts.collect::<Vec<_>>().concat();
    String::from_utf8(joined).ok().filter(|text| !text.is_empty())
}

fn addresses(service: &ResolvedService) -> Vec<SocketAddr> {
    let port = service.get_port();
    let usable = service.get_addresses().iter().filter(|address| is_honest(address));
    let mut addresses: Vec<SocketAddr> = usable
        .map(|address| match address {
            ScopedIp::V6(v6) => SocketAddrV6::new(*v6.addr(), port, 0, link(v6)).into(),
            other => SocketAddr::new(other.to_ip_addr(), port),
        })
        .collect();
    addresses.sort();
    addresses.truncate(MOST_ADDRESSES);
    addresses
}

/// The link of a link-local address; others are the same on every link.
fn link(address: &mdns_sd::ScopedIpV6) -> u32 {
    if address.addr().is_unicast_link_local() { address.scope_id().index } else { 0 }
}

/// Whether an address can be what it says. One that means this machine must have been heard on this
/// machine: from the network it would send us to our own doors.
fn is_honest(address: &ScopedIp) -> bool {
    if !address.is_loopback() {
        return true;
    }
    let own = |id: &mdns_sd::InterfaceId| id.get_addrs().iter().any(|ip| ip.is_loopback());
    match address {
        ScopedIp::V4(v4) => v4.interface_ids().iter().all(own),
        ScopedIp::V6(v6) => v6.scope_id().index == 0 || own(v6.scope_id()),
        _ => false,
    }
}

fn ttl(said: Option<&str>) -> Duration {
    let seconds = said.and_then(|text| text.parse::<u64>().ok());
    seconds.map_or(USUAL_TTL, |seconds| Duration::from_secs(seconds.clamp(1, LONGEST_TTL)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdns_sd::ServiceInfo;

    fn read(txt: &[(&str, &str)]) -> Option<Peer> {
        let info = ServiceInfo::new(crate::SERVICE, "x", "x.local.", "127.0.0.1", 7892, txt);
        Peer::read(&info.unwrap().as_resolved_service())
    }

    fn read_with(more: &[(&str, &str)]) -> Peer {
        read(&[&[("id", "desk"), ("v", "v1.0")], more].concat()).expect("a peer")
    }

    #[test]
    fn a_peer_needs_an_id_and_a_version_and_the_rest_has_defaults() {
        let peer = read_with(&[]);
        assert_eq!((&*peer.name, &*peer.path), ("desk", "/"));
        assert_eq!((peer.tls, peer.fingerprint, peer.document), (false, None, None));
        assert_eq!(peer.ttl, Duration::from_secs(10));
        assert_eq!(peer.addresses, ["127.0.0.1:7892".parse().unwrap()]);
        assert_eq!(read(&[("v", "v1.0")]), None, "without an id");
        assert_eq!(read(&[("id", "two words"), ("v", "v1.0")]), None, "with a bad id");
        assert_eq!(read(&[("id", "desk")]), None, "without a version");
        assert_eq!(read(&[("id", "desk"), ("v", "one")]), None, "with no version at all");
    }

    #[test]
    fn a_name_is_shown_without_what_could_harm_a_screen() {
        assert_eq!(read_with(&[("name", "Desk\u{1b}[2J\n two")]).name, "Desk[2J two");
        assert_eq!(read_with(&[("name", &"x".repeat(200))]).name.len(), LONGEST_NAME);
        assert_eq!(read_with(&[("name", "\u{7}")]).name, "desk", "nothing is left of it");
    }

    #[test]
    fn a_fingerprint_is_64_hexadecimal_digits_or_none() {
        let of = |text: &str| read_with(&[("fp", text)]).fingerprint;
        assert_eq!(of(&"AB".repeat(32)), Some("ab".repeat(32)));
        assert_eq!(of("ab"), None);
        assert_eq!(of(&"xy".repeat(32)), None);
        assert!(read_with(&[("tls", "1")]).tls && !read_with(&[("tls", "0")]).tls);
    }

    #[test]
    fn a_document_comes_whole_or_in_parts() {
        let of = |txt: &[(&str, &str)]| read_with(txt).document;
        assert_eq!(of(&[("doc", "{}")]).as_deref(), Some("{}"));
        let parts = [("j1", "\"a\":"), ("j0", "{"), ("j2", "1}"), ("j4", "after a gap")];
        assert_eq!(of(&parts).as_deref(), Some("{\"a\":1}"));
        assert_eq!(of(&[("j1", "without its beginning")]), None);
        assert_eq!(of(&[("doc", "")]), None, "an empty one is fetched like any other");
    }

    #[test]
    fn nobody_is_believed_forever_or_not_at_all() {
        assert_eq!(ttl(Some("30")), Duration::from_secs(30));
        assert_eq!(ttl(Some("0")), Duration::from_secs(1));
        assert_eq!(ttl(Some("99999999999")), Duration::from_secs(LONGEST_TTL));
        assert_eq!(ttl(Some("soon")), USUAL_TTL);
    }
}
