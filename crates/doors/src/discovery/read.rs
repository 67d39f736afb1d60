//! Reads messages and proves them: shape first, then the signature. Pure.

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use switchboard_model::{AgentId, Announcement, KeyView, Transport, fail_here};
use switchboard_trust::{Malformed, PublicKey, canonical, signed};
use uuid::{Uuid, Variant};

use super::fault::{Error, Fault};
use super::wire::{AgentObject, Envelope, Query, VERSION};
use crate::named;

/// The longest message.
pub(super) const LONGEST: usize = 64 << 10;
/// The longest label of a domain name.
const LABEL: usize = 63;
/// Texts that are shown to people, and capabilities.
const TEXT: usize = 1024;
const CAPABILITIES: usize = 256;
/// The longest name of a capability, at every door.
const NAME: usize = 256;
/// The longest number in a version.
const DIGITS: usize = 4;

/// A message that was read.
#[derive(Debug)]
pub(super) enum Said {
    /// An agent announces itself, and perhaps that it has a new key.
    Announce { said: Box<Announcement>, rotation_signature: Option<String> },
    /// Someone looks for agents.
    Query(Query),
}

/// Reads a message: text that is UTF-8, JSON without duplicate keys, of a version that is spoken here, of
/// the right shape, and if it is signed, signed well.
pub(super) fn read(bytes: &[u8]) -> Result<Said, Fault> {
    read_as(bytes, false)
}

/// The same for a document that was fetched: it may be one that a registry answered with.
pub(super) fn read_document(bytes: &[u8]) -> Result<Said, Fault> {
    read_as(bytes, true)
}

/// Reads a message on a thread where it keeps nobody waiting: a signature of a long key takes its time.
pub(super) async fn read_apart(bytes: Vec<u8>) -> Result<Said, Fault> {
    let reading = tokio::task::spawn_blocking(move || {
        fail_here("discovery-reader");
        read(&bytes)
    });
    reading.await.unwrap_or_else(|_| Err(Fault::new(Error::Internal, "the message was not read")))
}

fn read_as(bytes: &[u8], is_fetched: bool) -> Result<Said, Fault> {
    if bytes.len() > LONGEST {
        let words = format!("a message has at most {LONGEST} bytes");
        return Err(Fault::new(Error::TooLarge, words));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::malformed("this is not UTF-8"))?;
    // Two readers could see two messages where a key comes twice.
    canonical::python(text).map_err(|error| malformed(&error))?;
    let envelope: Envelope<'_> = named::from_slice(text.as_bytes()).map_err(Fault::malformed)?;
    check_version(envelope.protocol_version.as_deref())?;
    match (envelope.agent, envelope.query) {
        (Some(_), None) if envelope.matched.is_some() && !is_fetched => {
            Err(Fault::malformed("a Response is an answer: announce or query"))
        }
        (Some(agent), None) => {
            let said = announcement(agent, &envelope)?;
            let rotation_signature = envelope.rotation_signature;
            Ok(Said::Announce { said: Box::new(said), rotation_signature })
        }
        (None, Some(query)) => {
            let query: Query = named::from_slice(query.get().as_bytes())
                .map_err(|words| Fault::malformed(format!("query.{words}")))?;
            let agent_id = query.agent_id.or(envelope.agent_id);
            Ok(Said::Query(Query { agent_id, ..query }))
        }
        (Some(_), Some(_)) => Err(Fault::malformed("give agent or query, not both")),
        (None, None) => Err(Fault::malformed("agent is missing (to announce), or query (to ask)")),
    }
}

fn malformed(error: &Malformed) -> Fault {
    Fault::malformed(error.to_string())
}

/// Messages of another major version are not for us; of another minor version they are.
fn check_version(version: Option<&str>) -> Result<(), Fault> {
    let Some(version) = version else {
        return Err(Fault::malformed(format!("protocol_version is missing: send {VERSION:?}")));
    };
    let digits = |text: &str| {
        (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts = version.strip_prefix('v').and_then(|rest| rest.split_once('.'));
    let Some((major, _)) = parts.filter(|(major, minor)| digits(major) && digits(minor)) else {
        return Err(Fault::malformed(format!("protocol_version is not like {VERSION:?}")));
    };
    if major.trim_start_matches('0') != "1" {
        let words = format!("version {version} is not spoken here: this is {VERSION}");
        return Err(Fault::new(Error::OtherVersion, words));
    }
    Ok(())
}

fn announcement(agent: &RawValue, envelope: &Envelope<'_>) -> Result<Announcement, Fault> {
    let object: AgentObject<'_> = named::from_slice(agent.get().as_bytes())
        .map_err(|words| Fault::malformed(format!("agent.{words}")))?;
    let id = agent_id(&object.agent_id)?;
    let transport: Transport = named::from_slice(object.transport.get().as_bytes())
        .map_err(|words| Fault::malformed(format!("agent.transport.{words}")))?;
    check(&object, &transport)?;
    let canonical = canonical::rfc8785(agent.get()).map_err(|error| malformed(&error))?;
    let key = match &object.public_key {
        Some(text) => Some(
            PublicKey::parse(text)
                .map_err(|error| Fault::malformed(format!("agent.public_key: {error}")))?,
        ),
        None if envelope.signature.is_some() => {
            return Err(Fault::malformed("agent.public_key is missing: the signature needs it"));
        }
        None => None,
    };
    if let (Some(signature), Some(key)) = (&envelope.signature, &key) {
        signed::check(agent.get(), key, signature)
            .map_err(|error| Fault::new(Error::Auth, format!("signature: {error}")))?;
    }
    let version = envelope.protocol_version.clone().unwrap_or_default();
    if version != VERSION {
        tracing::warn!(agent = %id, version, ours = VERSION, "an announcement of another minor version");
    }
    Ok(Announcement {
        agent: id,
        name: object.agent_name,
        capabilities: object.capabilities,
        transport,
        version,
        document: agent.get().into(),
        digest: Sha256::digest(&canonical).iter().map(|byte| format!("{byte:02x}")).collect(),
        key: key.as_ref().map(key_view),
        signature: envelope.signature.clone(),
        rotated_from: None,
    })
}

fn key_view(key: &PublicKey) -> KeyView {
    let (fingerprint, kind) = (key.fingerprint(), key.kind().to_string());
    KeyView { fingerprint, kind, pem: key.pem() }
}

/// An id of this protocol is a UUID of version 4; one of version 5 stands for an agent of another door.
pub(super) fn agent_id(text: &str) -> Result<AgentId, Fault> {
    let bad = || Fault::malformed(format!("agent_id {text:?} is not a UUID of version 4"));
    let uuid = Uuid::parse_str(text).map_err(|_| bad())?;
    let is_ours = uuid.get_variant() == Variant::RFC4122
        && matches!(uuid.get_version_num(), 4 | 5)
        && text.len() == 36;
    if !is_ours {
        return Err(bad());
    }
    AgentId::parse(&uuid.to_string()).map_err(|_| bad())
}

/// Whether a name can be a label of a domain name.
pub(super) fn is_label(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=LABEL).contains(&name.len())
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn check(object: &AgentObject<'_>, transport: &Transport) -> Result<(), Fault> {
    if object.agent_name.as_ref().is_some_and(|name| !is_label(name)) {
        let words = "agent.agent_name must be a DNS label: 1 to 63 letters, digits and hyphens";
        return Err(Fault::malformed(words));
    }
    if object.capabilities.len() > CAPABILITIES {
        let words = format!("agent.capabilities has more than {CAPABILITIES} entries");
        return Err(Fault::malformed(words));
    }
    let shown = object.capabilities.iter().flat_map(|(name, text)| [name, text]);
    let shown = shown.chain([&transport.kind, &transport.endpoint]);
    if shown.clone().any(|text| text.len() > TEXT || text.chars().any(char::is_control)) {
        let words = format!("texts have at most {TEXT} bytes and no control characters");
        return Err(Fault::malformed(words));
    }
    if object.capabilities.keys().any(|name| name.is_empty() || name.len() > NAME) {
        let words = format!("agent.capabilities: a name has 1 to {NAME} bytes");
        return Err(Fault::malformed(words));
    }
    if transport.kind.is_empty() || transport.endpoint.is_empty() {
        return Err(Fault::malformed("agent.transport needs a type and an endpoint"));
    }
    let reserved = ["__mcp_version", "__os", "__arch"];
    let unknown = |key: &&String| key.starts_with("__") && !reserved.contains(&key.as_str());
    if let Some(key) = object.metadata.iter().flat_map(|all| all.keys()).find(unknown) {
        tracing::debug!(key, "an announcement uses a reserved key that nobody knows");
    }
    Ok(())
}

/// Who a message says it is about, as far as that can be read.
pub(super) fn who(bytes: &[u8]) -> Option<AgentId> {
    #[derive(serde::Deserialize)]
    struct Named {
        agent_id: String,
    }
    #[derive(serde::Deserialize)]
    struct Message {
        agent: Named,
    }
    let message: Message = serde_json::from_slice(bytes).ok()?;
    agent_id(&message.agent.agent_id).ok()
}

/// Whether an older key vouches for this announcement. Returns its fingerprint.
pub(super) fn check_rotation(
    said: &Announcement,
    signature: &str,
    older: &str,
) -> Result<String, Fault> {
    let bad = |why: String| Fault::new(Error::Auth, format!("rotation_signature: {why}"));
    let older = PublicKey::parse(older).map_err(|error| bad(error.to_string()))?;
    signed::check(&said.document, &older, signature).map_err(|error| bad(error.to_string()))?;
    Ok(older.fingerprint())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use switchboard_trust::SigningKey;

    const AGENT: &str = r#"{"agent_id":"3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d","capabilities":{"metrics":"2.0"},"transport":{"type":"tcp","endpoint":"10.0.0.12:9000"}}"#;

    fn message(agent: &str) -> String {
        format!(r#"{{"protocol_version":"v1.0","agent":{agent}}}"#)
    }

    fn fault(text: &str) -> Fault {
        read(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn an_announcement_keeps_its_document_to_the_letter() {
        let Said::Announce { said, .. } = read(message(AGENT).as_bytes()).unwrap() else {
            panic!("an announcement");
        };
        assert_eq!(&*said.document, AGENT);
        assert_eq!(said.capabilities["metrics"], "2.0");
        assert_eq!((said.key, said.signature), (None, None));
    }

    #[test]
    fn what_is_signed_well_is_read_and_what_is_not_is_not() {
        let key = SigningKey::generate().unwrap();
        let pem = serde_json::to_string(&key.public().pem()).unwrap();
        let agent = AGENT.replacen('{', &format!(r#"{{"public_key":{pem},"#), 1);
        let signature = key.sign(&agent).unwrap();
        let signed = |agent: &str, signature: &str| {
            format!(r#"{{"protocol_version":"v1.1","agent":{agent},"signature":"{signature}"}}"#)
        };
        let Ok(Said::Announce { said, .. }) = read(signed(&agent, &signature).as_bytes()) else {
            panic!("an announcement");
        };
        assert_eq!(said.signed_by().unwrap().fingerprint, key.public().fingerprint());
        let changed = agent.replace("2.0", "2.1");
        assert_eq!(fault(&signed(&changed, &signature)).error, Error::Auth);
        assert_eq!(fault(&signed(AGENT, &signature)).error, Error::Malformed, "no key");
    }

    #[test]
    fn what_has_another_shape_is_named() {
        let changed = |from: &str, to: &str| message(&AGENT.replace(from, to));
        for (text, said) in [
            ("{".to_owned(), "line"),
            (message(AGENT).replace("v1.0", "1.0"), "protocol_version"),
            (message(AGENT).replace(r#""protocol_version":"v1.0","#, ""), "protocol_version"),
            (r#"{"protocol_version":"v1.0"}"#.to_owned(), "agent is missing"),
            (changed(r#""capabilities":{"metrics":"2.0"},"#, ""), "capabilities"),
            (changed(r#"{"metrics":"2.0"}"#, r#"["metrics"]"#), "agent"),
            (changed(r#""2.0""#, "2"), "agent"),
            (changed("3cde1b52-1fc2-4f7b", "3cde1b52-1fc2-1f7b"), "version 4"),
            (changed("3cde1b52", "zzde1b52"), "agent_id"),
            (changed(r#"{"agent_id""#, r#"{"agent_name":"two words","agent_id""#), "DNS label"),
            (changed(r#""type":"tcp","#, ""), "type"),
            (changed(r#"{"agent_id""#, r#"{"public_key":"no key","agent_id""#), "public_key"),
            (changed(r#"{"agent_id""#, r#"{"metadata":[],"agent_id""#), "agent"),
            (changed(r#""type":"tcp""#, r#""type":"tcp","type":"ws""#), "type"),
            (r#"{"protocol_version":"v1.0","query":{"agent_id":"x"}}"#.to_owned(), "capability"),
        ] {
            let fault = fault(&text);
            assert_eq!(fault.error, Error::Malformed, "{text}");
            assert!(fault.words.contains(said), "{text}: {}", fault.words);
        }
    }

    #[test]
    fn another_major_version_is_told_ours_and_another_minor_one_is_read() {
        let other = fault(&message(AGENT).replace("v1.0", "v2.0"));
        assert_eq!(other.error, Error::OtherVersion);
        assert_eq!(other.problem().protocol_version, "v1.0");
        assert!(read(message(AGENT).replace("v1.0", "v1.7").as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            drop(read(&bytes));
        }

        #[test]
        fn no_document_breaks_the_reader(rest in r#"[\{\}\[\]":,a-z0-9\\ ]{0,80}"#) {
            drop(read(message(&rest).as_bytes()));
            drop(read(message(&AGENT.replace("\"2.0\"", &rest)).as_bytes()));
        }
    }
}
