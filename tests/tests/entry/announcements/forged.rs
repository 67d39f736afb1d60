//! Announcements that must change nothing.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use switchboard_tests::proof::{Chance, cases};
use switchboard_trust::SigningKey;

/// An agent that announces itself.
pub(super) struct Announcer {
    pub(super) key: SigningKey,
    pub(super) id: &'static str,
}

impl Announcer {
    fn new(id: &'static str) -> Self {
        Self { key: SigningKey::generate().unwrap(), id }
    }

    pub(super) fn document(&self, version: &str) -> String {
        document(self.id, &self.key.public().pem(), version)
    }

    /// Announced and signed as it should be.
    pub(super) fn message(&self, version: &str) -> String {
        let document = self.document(version);
        message(&document, &self.key.sign(&document).unwrap())
    }
}

fn document(id: &str, pem: &str, version: &str) -> String {
    json!({
        "agent_id": id, "agent_name": "worker", "capabilities": { "sum": version }, "public_key": pem,
        "transport": { "type": "tcp", "endpoint": "10.0.0.12:9000" },
    })
    .to_string()
}

fn message(document: &str, signature: &str) -> String {
    format!(r#"{{"protocol_version":"v1.0","agent":{document},"signature":"{signature}"}}"#)
}

/// Two agents that are believed, and one that nobody knows.
pub(super) struct Cast {
    pub(super) known: Announcer,
    pub(super) other: Announcer,
    stranger: SigningKey,
}

const NEW: &str = "00000000-0000-4000-8000-00000000000";

impl Cast {
    pub(super) fn new() -> Self {
        Self {
            known: Announcer::new("3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d"),
            other: Announcer::new("11111111-2222-4333-8444-555555555555"),
            stranger: SigningKey::generate().unwrap(),
        }
    }

    /// What the known one says, and what it said before that.
    pub(super) const CURRENT: &'static str = "1.1";
    pub(super) const BEFORE: &'static str = "1.0";
}

pub(super) struct Case {
    pub(super) name: String,
    pub(super) message: Vec<u8>,
}

impl Case {
    pub(super) fn all(cast: &Cast) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |name: &str, message: String| {
            all.push(Self { name: name.to_owned(), message: message.into_bytes() });
        };
        unsigned(cast, &mut add);
        signed_wrongly(cast, &mut add);
        by_another_key(cast, &mut add);
        rotated_wrongly(cast, &mut add);
        said_twice(cast, &mut add);
        of_a_wrong_id(cast, &mut add);
        of_a_wrong_shape(cast, &mut add);
        by_a_weak_algorithm(&mut add);
        add("replayed", cast.known.message(Cast::BEFORE));
        let good = cast.known.message("9");
        for (name, bytes) in [
            ("not UTF-8", [good.as_bytes(), b"\xff"].concat()),
            ("UTF-16", good.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            ("with a byte order mark", [b"\xef\xbb\xbf", good.as_bytes()].concat()),
            ("cut off", good.as_bytes()[..good.len() - 2].to_vec()),
        ] {
            all.push(Self { name: name.to_owned(), message: bytes });
        }
        all
    }
}

type Add<'a> = dyn FnMut(&str, String) + 'a;

/// What was once signed may not come unsigned.
fn unsigned(Cast { known, .. }: &Cast, add: &mut Add<'_>) {
    let document = known.document("9");
    let mut without_key: Value = serde_json::from_str(&document).unwrap();
    without_key.as_object_mut().unwrap().remove("public_key");
    for (name, agent) in [("with its key", document), ("without a key", without_key.to_string())] {
        for (how, signature) in [
            ("no signature", ""),
            ("null for a signature", r#","signature":null"#),
            ("an empty signature", r#","signature":"""#),
            ("alg none", r#","signature":"","alg":"none""#),
            ("a number for a signature", r#","signature":0"#),
        ] {
            let text = format!(r#"{{"protocol_version":"v1.0","agent":{agent}{signature}}}"#);
            add(&format!("{how}, {name}"), text);
        }
    }
}

fn signed_wrongly(Cast { known, other, stranger }: &Cast, add: &mut Add<'_>) {
    let document = known.document("9");
    let good = known.key.sign(&document).unwrap();
    let before = known.key.sign(&known.document(Cast::CURRENT)).unwrap();
    add("the signature of another document", message(&document, &before));
    add("a stranger's signature", message(&document, &stranger.sign(&document).unwrap()));
    add("another agent's signature", message(&document, &other.key.sign(&document).unwrap()));
    add("half a signature", message(&document, &good[..good.len() / 2]));
    add("a signature with more behind it", message(&document, &format!("{good}AAAA")));
    add("the key for a signature", message(&document, &known.key.public().fingerprint()));
    for (what, from, to) in [
        ("version", r#""sum":"9""#, r#""sum":"9.1""#),
        ("name", "worker", "admin"),
        ("endpoint", "10.0.0.12:9000", "10.0.0.66:9000"),
        ("transport", r#""type":"tcp""#, r#""type":"udp""#),
        ("id", known.id, other.id),
    ] {
        let changed = document.replace(from, to);
        assert_ne!(changed, document, "{what}");
        add(&format!("another {what} than was signed"), message(&changed, &good));
    }
    let mut chance = Chance::new(15);
    for _ in 0..cases(8, 200) {
        let mut bytes = good.clone().into_bytes();
        let at = usize::try_from(chance.below(bytes.len() as u64 - 4)).unwrap();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        add(&format!("a signature changed at {at}"), message(&document, &changed));
    }
}

/// A known id, with keys that are not its own.
fn by_another_key(Cast { known, other, stranger }: &Cast, add: &mut Add<'_>) {
    let sign = |key: &SigningKey, pem: &str| {
        let document = document(known.id, pem, "9");
        message(&document, &key.sign(&document).unwrap())
    };
    let (own, theirs) = (known.key.public().pem(), stranger.public().pem());
    add("an unknown key", sign(stranger, &theirs));
    add("another agent's key", sign(&other.key, &other.key.public().pem()));
    add("an unknown key shown, the known one signs", sign(&known.key, &theirs));
    add("the known key shown, an unknown one signs", sign(stranger, &own));
    add("another agent's certificate", sign(&other.key, &own));
    add("no key at all", sign(&known.key, ""));
    add(
        "a key that is none",
        sign(&known.key, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"),
    );
    add("a private key", sign(&known.key, &known.key.to_pem()));
}

fn rotated_wrongly(Cast { known, other, stranger }: &Cast, add: &mut Add<'_>) {
    let document = document(known.id, &stranger.public().pem(), "9");
    let own = stranger.sign(&document).unwrap();
    let rotated = |rotation: &str| {
        format!(
            r#"{{"protocol_version":"v1.0","agent":{document},"signature":"{own}","rotation_signature":"{rotation}"}}"#
        )
    };
    add("rotated by nobody", rotated(""));
    add("rotated by itself", rotated(&own));
    add("rotated by another agent", rotated(&other.key.sign(&document).unwrap()));
    let of_another = known.key.sign(&known.document(Cast::CURRENT)).unwrap();
    add("rotated by a signature of another document", rotated(&of_another));
}

/// Two readers could see two messages.
fn said_twice(Cast { known, other, stranger }: &Cast, add: &mut Add<'_>) {
    let document = known.document("9");
    let good = known.key.sign(&document).unwrap();
    let first =
        |key: &str, value: &str| document.replacen('{', &format!(r#"{{"{key}":"{value}","#), 1);
    let last = |key: &str, value: &str| {
        format!(r#"{},"{key}":"{value}"}}"#, &document[..document.len() - 1])
    };
    for (key, value) in [("agent_id", other.id), ("public_key", "x"), ("agent_name", "admin")] {
        // A key may be spelt with escapes and is the same key.
        let escaped = key.replace('_', "\\u005f");
        for (how, text) in [
            ("first", first(key, value)),
            ("last", last(key, value)),
            ("escaped", last(&escaped, value)),
        ] {
            add(&format!("{key} twice, the false one {how}"), message(&text, &good));
            let signed = stranger.sign(&text).unwrap_or_default();
            add(&format!("{key} twice, {how}, signed so"), message(&text, &signed));
        }
    }
    let envelope = message(&document, &good);
    for (key, value) in [("agent", other.document("9")), ("signature", r#""x""#.to_owned())] {
        let twice = envelope.replacen('{', &format!(r#"{{"{key}":{value},"#), 1);
        add(&format!("{key} twice"), twice);
    }
    add(
        "an announcement and a query",
        envelope.replacen('{', r#"{"query":{"capability":"sum"},"#, 1),
    );
    add("two messages in one", format!("{envelope}{envelope}"));
}

fn of_a_wrong_id(Cast { known, stranger, .. }: &Cast, add: &mut Add<'_>) {
    let by_stranger = |id: &str| {
        let document = document(id, &stranger.public().pem(), "9");
        message(&document, &stranger.sign(&document).unwrap())
    };
    add("the known id in capitals", by_stranger(&known.id.to_uppercase()));
    for id in [
        "",
        "worker",
        "global_lobby",
        "switchboard",
        "operator",
        "3cde1b52-1fc2-1f7b-8d8c-5e3e6f5c9c1d",
        "3cde1b521fc24f7b8d8c5e3e6f5c9c1d",
        "{3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d}",
        "urn:uuid:3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d",
        "3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d\u{0}",
        " 3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d",
        "../../3cde1b52-1fc2-4f7b-8d8c-5e3e6f5c9c1d",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ] {
        add(&format!("the id {id:?}"), by_stranger(id));
    }
}

fn of_a_wrong_shape(Cast { known, .. }: &Cast, add: &mut Add<'_>) {
    let good = known.message("9");
    for version in ["v2.0", "v0.9", "1.0", "v1", "v1.0.0", "", "v99999.0"] {
        add(&format!("version {version:?}"), good.replacen("v1.0", version, 1));
    }
    add("no version", good.replacen(r#""protocol_version":"v1.0","#, "", 1));
    add("an answer", good.replacen('{', r#"{"matched":true,"#, 1));
    let resign =
        |document: String| message(&document, &known.key.sign(&document).unwrap_or_default());
    let document = known.document("9");
    for (name, from, to) in [
        ("a name that is no label", "worker", "<b>worker"),
        ("a control character", "10.0.0.12:9000", "10.0.0.12\\u0007:9000"),
        ("no transport", r#""transport":"#, r#""transported":"#),
        ("a list of capabilities", r#"{"sum":"9"}"#, r#"["sum"]"#),
    ] {
        add(name, resign(document.replace(from, to)));
    }
    let long = "9".repeat(70_000);
    add("too long", known.message(&long));
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    add("nested too deep", resign(document.replace(r#"{"sum":"9"}"#, &deep)));
}

/// Nobody knows these agents, and whoever signs well would be believed here: only the algorithm is in the way.
fn by_a_weak_algorithm(add: &mut Add<'_>) {
    let kinds: [(&str, &[&str], &str); 5] = [
        ("RSA of 1024 bits", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], "-sha256"),
        ("RSA with SHA-1", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "-sha1"),
        ("RSA with MD5", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "-md5"),
        ("P-256 with SHA-1", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "-sha1"),
        (
            "another curve",
            &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
            "-sha256",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.pem");
    let file = file.to_str().unwrap();
    for (number, (name, kind, hash)) in kinds.into_iter().enumerate() {
        openssl(&[&["genpkey", "-out", file], kind].concat(), "");
        let pem = String::from_utf8(openssl(&["pkey", "-in", file, "-pubout"], "")).unwrap();
        let document = document(&format!("{NEW}{number}"), &pem, "1");
        let canonical = switchboard_trust::canonical::rfc8785(&document).unwrap();
        let signature = openssl(&["dgst", hash, "-sign", file], &canonical);
        add(name, message(&document, &base64(&signature)));
    }
}

fn openssl(arguments: &[&str], input: &str) -> Vec<u8> {
    let mut command = Command::new("openssl");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "openssl {arguments:?}");
    output.stdout
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { letter as char } else { '=' });
        }
    }
    text
}
