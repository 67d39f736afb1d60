//! Every setting has a default and a line in docs/SETTINGS.md. `table` describes each, `values` finds one by its name,
//! `file` reads and writes `switchboard.toml`, `check` refuses what cannot be, `edit` changes some, `in_force` knows
//! what holds now, `parts` says what the settings mean for each part.

mod check;
mod edit;
mod file;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod in_force;
mod parts;
mod table;
mod values;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use switchboard_model::Policy;
use switchboard_store::Synchronous;

pub(crate) use in_force::{Edited, InForce, Origin};
pub(crate) use values::Values;

/// Everything an operator can set.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Where agents connect.
    pub listen: String,
    /// How messages are kept.
    pub durability: Durability,
    /// How messages are delivered.
    pub delivery: Delivery,
    /// The bus door.
    pub bus: Bus,
    /// What is done with messages that nobody listens for.
    pub default_handler: DefaultHandler,
    /// How often agents that promise it are to be heard of.
    pub heartbeat: Heartbeat,
    /// Where traces go.
    pub telemetry: Telemetry,
    /// The AACP door.
    pub aacp: Aacp,
    /// How others find this broker.
    pub discovery: Discovery,
    /// The keys of signed tokens.
    pub jwt: Jwt,
    /// What protects the port.
    pub tls: TlsSettings,
    /// How much of everything.
    pub limits: LimitSettings,
    /// How long history is kept.
    pub retention: Retention,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7892".to_owned(),
            durability: Durability::default(),
            delivery: Delivery::default(),
            bus: Bus::default(),
            default_handler: DefaultHandler::default(),
            heartbeat: Heartbeat::default(),
            telemetry: Telemetry::default(),
            aacp: Aacp::default(),
            discovery: Discovery::default(),
            jwt: Jwt::default(),
            tls: TlsSettings::default(),
            limits: LimitSettings::default(),
            retention: Retention::default(),
        }
    }
}

/// `[durability]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Durability {
    /// `full` survives loss of power; `normal` may lose the last moments.
    pub synchronous: Sync,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// The disk.
    #[default]
    Full,
    /// The operating system.
    Normal,
}

impl From<Sync> for Synchronous {
    fn from(sync: Sync) -> Self {
        match sync {
            Sync::Full => Self::Full,
            Sync::Normal => Self::Normal,
        }
    }
}

/// `[delivery]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Delivery {
    /// How often a recipient is asked.
    pub attempts: u32,
    /// After how long it is asked again, if it does not say.
    pub backoff_ms: u64,
    /// By how much each such wait is longer than the one before.
    pub backoff_multiplier: f64,
    /// How long a recipient may take to answer.
    pub timeout_ms: u64,
    /// After how long in a queue a normal message counts as high.
    pub escalate_high_ms: u64,
    /// After how much longer a high message counts as urgent.
    pub escalate_urgent_ms: u64,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            attempts: 3,
            backoff_ms: 1000,
            backoff_multiplier: 2.0,
            timeout_ms: 30_000,
            escalate_high_ms: 10_000,
            escalate_urgent_ms: 30_000,
        }
    }
}

/// `[default_handler]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DefaultHandler {
    /// The program that is started for a topic that nobody listens to, with its arguments.
    pub command: Vec<String>,
    /// How many such programs run at the same time.
    pub max_children: usize,
}

impl Default for DefaultHandler {
    fn default() -> Self {
        Self { command: Vec::new(), max_children: 8 }
    }
}

/// `[bus]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// When a chain of subscribers stops, for subscriptions that do not say.
    pub policy: Policy,
    /// Whether everyone who joins by this door must show a token.
    pub require_token: bool,
}

/// `[heartbeat]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Heartbeat {
    /// How often an agent of the collaboration door is to be heard of.
    pub interval_ms: u64,
    /// After so many misses it counts as unavailable.
    pub misses: u32,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { interval_ms: 10_000, misses: 3 }
    }
}

/// `[telemetry]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// Where traces are sent by OTLP over HTTP; nowhere if empty.
    pub otlp: String,
}

/// `[discovery]`
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Discovery {
    /// The network interfaces on which the broker announces itself and looks for others.
    pub interfaces: Vec<String>,
    /// Whether it does so by multicast DNS.
    pub mdns: bool,
    /// The group or broadcast address and the port of datagrams; none if empty.
    pub udp: String,
    /// For how long an announcement is believed.
    pub ttl_ms: u64,
    /// The ids and patterns that may announce themselves; everyone may try if there are none.
    pub allow_list: Vec<String>,
    /// Whether the operator is asked about agents that nobody knows.
    pub admit: Admit,
    /// Another registry, where this broker announces itself while multicast DNS does not work.
    pub registry: String,
    /// The file with the token for that registry.
    pub registry_token: String,
    /// The file with the authority of that registry's certificate.
    pub registry_ca: String,
}

/// What is done with signed agents that nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Admit {
    /// They wait for the operator.
    #[default]
    Ask,
    /// They are admitted.
    Auto,
}

impl Default for Discovery {
    fn default() -> Self {
        Self {
            interfaces: vec!["lo".to_owned()],
            mdns: true,
            udp: String::new(),
            ttl_ms: 10_000,
            allow_list: Vec::new(),
            admit: Admit::default(),
            registry: String::new(),
            registry_token: String::new(),
            registry_ca: String::new(),
        }
    }
}

/// `[aacp]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aacp {
    /// Whether agents need no token, and unknown ones get a mailbox.
    pub open: bool,
    /// How many messages one agent may send a second.
    pub rate_per_second: u32,
    /// How many of them at once.
    pub burst: u32,
}

impl Default for Aacp {
    fn default() -> Self {
        Self { open: false, rate_per_second: 50, burst: 100 }
    }
}

/// `[jwt]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Jwt {
    /// Keys by which signed tokens are checked, beside this broker's own.
    pub keys: Vec<JwtKeyFile>,
}

/// One of `[jwt] keys`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct JwtKeyFile {
    /// The file: a public key as PEM, or for HS256 and its like a secret of at least 32 bytes.
    pub file: String,
    /// The one algorithm that it counts for, such as `RS256`.
    pub algorithm: String,
    /// The key's name in the tokens' headers, if it has one.
    #[serde(default)]
    pub kid: String,
}

/// `[tls]`
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsSettings {
    /// The certificate of the port.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authorities whose clients may connect.
    pub client_ca: PathBuf,
    /// Which of their certificates have been revoked.
    pub crl: PathBuf,
}

/// `[limits]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Connections at the same time.
    pub connections: usize,
    /// Subscriptions on one connection.
    pub subscriptions: usize,
    /// The longest message.
    pub message_bytes: usize,
    /// Deliveries to one recipient that are not answered yet.
    pub in_flight: usize,
    /// Their payloads.
    pub in_flight_bytes: usize,
    /// Deliveries waiting for one recipient.
    pub queue: usize,
    /// How long writing to a connection may take.
    pub write_ms: u64,
    /// The longest message from someone who has not said who they are.
    pub preauth_bytes: usize,
    /// How long someone may take to say who they are.
    pub preauth_ms: u64,
    /// Below this much free disk new messages are refused.
    pub disk_free_mb: u64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            connections: 1024,
            subscriptions: 256,
            message_bytes: 1 << 20,
            in_flight: 1000,
            in_flight_bytes: 8 << 20,
            queue: 10_000,
            write_ms: 10_000,
            preauth_bytes: 8 << 10,
            preauth_ms: 5000,
            disk_free_mb: 200,
        }
    }
}

/// `[retention]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Settled messages older than this are deleted.
    pub days: u32,
    /// The oldest settled messages are deleted while the database is larger than this.
    pub max_mb: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { days: 7, max_mb: 2048 }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::StartError;

    fn read(text: &str) -> Result<Settings, StartError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("switchboard.toml");
        std::fs::write(&path, text).unwrap();
        Settings::read(&path, true)
    }

    #[test]
    fn a_wrong_settings_file_is_refused_with_the_place_and_the_reason() {
        for (text, said) in [
            ("listne = \"x\"", "listne"),
            ("[limits]\nqueue = -1", "queue"),
            ("[limits]\nqueue = 0", "limits.queue is 0"),
            ("[limits]\nin_flight = 9000000000000000000", "limits.in_flight"),
            ("[bus]\npolicy = \"sometimes\"", "sometimes"),
            ("[delivery]\nattempts = 0", "delivery.attempts is 0"),
            ("[delivery]\nbackoff_multiplier = 0.5", "backoff_multiplier is 0.5"),
            ("[default_handler]\ncommand = [\"\"]", "name a program"),
            ("[durability]\nsynchronous = \"off\"", "off"),
            ("[tls]\ncert = \"a.pem\"", "tls.key"),
            ("[tls]\nclient_ca = \"a.pem\"", "tls.cert"),
            ("[tls]\ncert = \"a\"\nkey = \"b\"\ncrl = \"c\"", "tls.client_ca"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        let settings = read("[limits]\nqueue = 5").unwrap();
        assert_eq!(settings.limits.queue, 5);
        assert_eq!(settings.limits.connections, 1024);
        assert_eq!(settings.listen, "127.0.0.1:7892");
    }

    #[test]
    fn an_address_that_others_can_reach_is_refused_unless_it_is_protected() {
        let at =
            |listen: &str| Settings { listen: listen.to_owned(), ..Settings::default() }.address();
        assert!(at("127.0.0.1:0").is_ok());
        assert!(at("localhost:7892").is_ok());
        assert!(at("[::1]:7892").is_ok());
        assert!(matches!(at("0.0.0.0:7892"), Err(StartError::Unprotected { .. })));
        assert!(matches!(at("7892"), Err(StartError::ArgumentWrong(_))));
    }

    #[test]
    fn every_setting_has_a_line_in_the_documentation() {
        let page = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SETTINGS.md"),
        )
        .unwrap();
        let source = include_str!("settings.rs");
        let declared = source.split("#[cfg(test)]").next().unwrap();
        let fields = declared
            .lines()
            .filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "))
            .map(|(name, _)| name);
        for name in fields {
            assert!(
                page.contains(&format!("`{name}`")) || page.contains(&format!("[{name}]")),
                "docs/SETTINGS.md says nothing of {name}"
            );
        }
    }
}
