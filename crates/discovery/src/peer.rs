//! What another broker says of itself. None of it is proven: whoever is on the network may say it.

use std::net::IpAddr;
use std::time::Duration;

use mdns_sd::ResolvedService;
use switchboard_model::AgentId;

/// What a peer that does not say is believed for.
const USUAL_TTL: Duration = Duration::from_secs(10);
/// Nobody is believed for longer.
const LONGEST_TTL: u64 = 3600;

/// Another broker or agent on the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its id.
    pub id: AgentId,
    /// Its name, for people.
    pub name: String,
    /// The version of the discovery protocol that it speaks, such as `v1.0`.
    pub version: String,
    /// Where its document is.
    pub path: String,
    /// Its addresses, in order.
    pub addresses: Vec<IpAddr>,
    /// Its port.
    pub port: u16,
    /// For how long it is believed without a sign of life.
    pub ttl: Duration,
    /// Its name on the network.
    pub instance: String,
}

impl Peer {
    /// Reads an announcement; none if it lacks what nobody can do without.
    pub(crate) fn read(service: &ResolvedService) -> Option<Self> {
        let said = |key| service.get_property_val_str(key).map(str::to_owned);
        let id = AgentId::parse(service.get_property_val_str("id")?).ok()?;
        let mut addresses: Vec<IpAddr> =
            service.get_addresses().iter().map(mdns_sd::ScopedIp::to_ip_addr).collect();
        addresses.sort();
        Some(Self {
            name: said("name").unwrap_or_else(|| id.to_string()),
            id,
            version: said("v")?,
            path: said("path").unwrap_or_else(|| "/".into()),
            addresses,
            port: service.get_port(),
            ttl: ttl(service.get_property_val_str("ttl")),
            instance: service.get_fullname().to_owned(),
        })
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

    #[test]
    fn a_peer_needs_an_id_and_a_version_and_the_rest_has_defaults() {
        let peer = read(&[("id", "desk"), ("v", "v1.0")]).expect("a peer");
        assert_eq!((&*peer.name, &*peer.path, peer.port), ("desk", "/", 7892));
        assert_eq!(peer.ttl, Duration::from_secs(10));
        assert_eq!(peer.addresses, ["127.0.0.1".parse::<IpAddr>().unwrap()]);
        assert_eq!(read(&[("v", "v1.0")]), None, "without an id");
        assert_eq!(read(&[("id", "two words"), ("v", "v1.0")]), None, "with a bad id");
        assert_eq!(read(&[("id", "desk")]), None, "without a version");
    }

    #[test]
    fn nobody_is_believed_forever_or_not_at_all() {
        assert_eq!(ttl(Some("30")), Duration::from_secs(30));
        assert_eq!(ttl(Some("0")), Duration::from_secs(1));
        assert_eq!(ttl(Some("99999999999")), Duration::from_secs(LONGEST_TTL));
        assert_eq!(ttl(Some("soon")), USUAL_TTL);
    }
}
