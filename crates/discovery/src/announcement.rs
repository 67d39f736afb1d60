//! What we say of ourselves.

use mdns_sd::{IfKind, ServiceInfo};

use crate::{Error, PROTOCOL_VERSION, SERVICE, Settings};

/// The longest label of a DNS name, in bytes.
const LABEL: usize = 63;
/// So much of an id tells two brokers of the same name apart: the last part of a UUID has this
/// length. A clash would be noticed and solved by probing.
const ID_PART: usize = 12;

/// The service record of a broker.
pub(crate) fn of(settings: &Settings) -> Result<ServiceInfo, Error> {
    if settings.interfaces.is_empty() {
        return Err(Error::NoInterface);
    }
    let ttl = settings.ttl.as_secs().max(1).to_string();
    let mut txt = vec![
        ("v", PROTOCOL_VERSION),
        ("id", settings.id.as_str()),
        ("name", &settings.name),
        ("path", &settings.path),
        ("ttl", &ttl),
    ];
    if !settings.fingerprint.is_empty() {
        txt.push(("fp", &settings.fingerprint));
    }
    if settings.tls {
        // The protocol has no word for it; whoever does not know this one tries both.
        txt.push(("tls", "1"));
    }
    let listen = settings.listen;
    let everywhere = listen.ip().is_unspecified();
    let address = if everywhere { String::new() } else { listen.ip().to_string() };
    let mut info = ServiceInfo::new(
        SERVICE,
        &instance(settings),
        &host(settings),
        address,
        listen.port(),
        txt.as_slice(),
    )
    .map_err(|error| Error::Announcement(error.to_string()))?;
    info.set_interfaces(interfaces(settings));
    Ok(if everywhere { info.enable_addr_auto() } else { info })
}

/// The interfaces we speak on.
pub(crate) fn interfaces(settings: &Settings) -> Vec<IfKind> {
    settings.interfaces.iter().map(IfKind::from).collect()
}

/// The broker's name, with enough of its id to tell two of the same name apart.
fn instance(settings: &Settings) -> String {
    let id = settings.id.as_str();
    let last_part = id.rsplit_once('-').map_or(id, |(_, last)| last);
    let suffix = format!(" {}", beginning(last_part, ID_PART));
    // A dot would have to be escaped in every name that is made of this one.
    let name = settings.name.replace('.', "-");
    format!("{}{suffix}", beginning(&name, LABEL - suffix.len()))
}

/// A host name of our own: the machine's belongs to the system's own responder.
fn host(settings: &Settings) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
    };
    let id: String = beginning(settings.id.as_str(), 48).chars().map(plain).collect();
    format!("switchboard-{id}.local.")
}

/// As many whole characters as fit into so many bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use switchboard_model::AgentId;

    fn settings(name: &str) -> Settings {
        Settings {
            interfaces: vec!["lo".into()],
            mdns_port: crate::MDNS_PORT,
            id: AgentId::parse("0199d2f4-7c1b-7000-8000-1234567890ab").unwrap(),
            name: name.into(),
            listen: "127.0.0.1:7892".parse().unwrap(),
            path: "/agents/0199d2f4".into(),
            fingerprint: "ab".repeat(32),
            tls: false,
            ttl: Duration::from_secs(10),
        }
    }

    #[test]
    fn an_announcement_carries_what_the_protocol_asks_for() {
        let info = of(&settings("Desk")).unwrap();
        let said = |key| info.get_property_val_str(key);
        assert_eq!(said("v"), Some("v1.0"));
        assert_eq!(said("id"), Some("0199d2f4-7c1b-7000-8000-1234567890ab"));
        assert_eq!(said("name"), Some("Desk"));
        assert_eq!(said("path"), Some("/agents/0199d2f4"));
        assert_eq!(said("ttl"), Some("10"));
        assert_eq!(said("fp"), Some("ab".repeat(32).as_str()));
        assert_eq!(said("tls"), None);
        assert_eq!(info.get_fullname(), "Desk 1234567890ab._agentsc._tcp.local.");
        assert_eq!(info.get_hostname(), "switchboard-0199d2f4-7c1b-7000-8000-1234567890ab.local.");
    }

    #[test]
    fn a_broker_without_a_key_has_no_fingerprint_and_one_with_tls_says_so() {
        let settings = Settings { fingerprint: String::new(), tls: true, ..settings("Desk") };
        let info = of(&settings).unwrap();
        assert_eq!(info.get_property_val_str("fp"), None);
        assert_eq!(info.get_property_val_str("tls"), Some("1"));
    }

    #[test]
    fn a_long_name_is_cut_to_a_label_between_characters() {
        let name = instance(&settings(&"é".repeat(60)));
        assert!(name.len() <= LABEL, "{} bytes", name.len());
        assert!(name.ends_with(" 1234567890ab"), "{name}");
        of(&settings(&"é".repeat(60))).unwrap();
    }

    #[test]
    fn what_does_not_fit_and_nowhere_to_speak_are_refused_with_a_reason() {
        let mut too_long = settings("Desk");
        too_long.path = "x".repeat(300);
        let error = of(&too_long).unwrap_err().to_string();
        assert!(error.contains("255"), "{error}");

        let mut nowhere = settings("Desk");
        nowhere.interfaces.clear();
        assert!(matches!(of(&nowhere), Err(Error::NoInterface)));
    }
}
