//! `switchboard.toml`: every setting has a default and a line in docs/SETTINGS.md.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use switchboard_broker::{Escalation, RetryRule};
use switchboard_doors::Limits;
use switchboard_doors::aacp::AacpSettings;
use switchboard_model::Policy;
use switchboard_store::Synchronous;

use crate::StartError;

/// The longest registration: schemas take room.
const REGISTER_BYTES: usize = 64 << 10;
/// The longest time that can be set.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Everything an operator can set.
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Durability {
    /// `full` survives loss of power; `normal` may lose the last moments.
    pub synchronous: Sync,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// When a chain of subscribers stops, for subscriptions that do not say.
    pub policy: Policy,
    /// Whether everyone who joins by this door must show a token.
    pub require_token: bool,
}

/// `[heartbeat]`
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// Where traces are sent by OTLP over HTTP; nowhere if empty.
    pub otlp: String,
}

/// `[discovery]`
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Jwt {
    /// Keys by which signed tokens are checked, beside this broker's own.
    pub keys: Vec<JwtKeyFile>,
}

/// One of `[jwt] keys`.
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Default, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
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

impl Settings {
    /// Reads a settings file. One that is not there is all defaults, unless it was asked for.
    pub fn read(path: &Path, must_exist: bool) -> Result<Self, StartError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {
                return Ok(Self::default());
            }
            Err(source) => {
                return Err(StartError::SettingsUnreadable { path: path.to_owned(), source });
            }
        };
        let wrong = |reason| StartError::SettingsWrong { path: path.to_owned(), reason };
        let settings: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        settings.check().map_err(wrong)?;
        Ok(settings)
    }

    /// Everything that parses but cannot be.
    fn check(&self) -> Result<(), String> {
        let (limits, delivery) = (&self.limits, &self.delivery);
        if !(1.0..=100.0).contains(&delivery.backoff_multiplier) {
            let given = delivery.backoff_multiplier;
            return Err(format!("delivery.backoff_multiplier is {given}: give 1 to 100"));
        }
        if self.default_handler.command.first().is_some_and(String::is_empty) {
            return Err("default_handler.command begins with nothing: name a program".to_owned());
        }
        if !self.discovery.udp.is_empty() {
            switchboard_discovery::parse_group(&self.discovery.udp)
                .map_err(|why| format!("discovery.udp: {why}"))?;
        }
        if !self.discovery.registry.is_empty() {
            switchboard_discovery::check_registry(&self.discovery.registry)
                .map_err(|why| format!("discovery.registry: {why}"))?;
        }
        if let Some(wrong) = self
            .discovery
            .allow_list
            .iter()
            .find(|text| text.is_empty() || switchboard_model::RulePart::parse(text).is_err())
        {
            return Err(format!("discovery.allow_list: {wrong:?} is no id and no pattern of ids"));
        }
        if !self.telemetry.otlp.is_empty() {
            crate::traces::Collector::parse(&self.telemetry.otlp)
                .map_err(|why| format!("telemetry.otlp: {why}"))?;
        }
        crate::tls::check(&self.tls)?;
        let ranges = [
            ("delivery.attempts", u64::from(delivery.attempts), 1000),
            ("delivery.backoff_ms", delivery.backoff_ms, DAY_MS),
            ("delivery.timeout_ms", delivery.timeout_ms, DAY_MS),
            ("delivery.escalate_high_ms", delivery.escalate_high_ms, DAY_MS),
            ("delivery.escalate_urgent_ms", delivery.escalate_urgent_ms, DAY_MS),
            ("default_handler.max_children", self.default_handler.max_children as u64, 1000),
            ("aacp.rate_per_second", u64::from(self.aacp.rate_per_second), 1_000_000),
            ("aacp.burst", u64::from(self.aacp.burst), 1_000_000),
            ("discovery.ttl_ms", self.discovery.ttl_ms, DAY_MS),
            ("heartbeat.interval_ms", self.heartbeat.interval_ms, DAY_MS),
            ("heartbeat.misses", u64::from(self.heartbeat.misses), 1000),
            ("limits.connections", limits.connections as u64, 1_000_000),
            ("limits.subscriptions", limits.subscriptions as u64, 1_000_000),
            ("limits.message_bytes", limits.message_bytes as u64, 256 << 20),
            ("limits.in_flight", limits.in_flight as u64, 1_000_000),
            ("limits.in_flight_bytes", limits.in_flight_bytes as u64, 1 << 40),
            ("limits.queue", limits.queue as u64, 10_000_000),
            ("limits.write_ms", limits.write_ms, DAY_MS),
            ("limits.preauth_bytes", limits.preauth_bytes as u64, 256 << 20),
            ("limits.preauth_ms", limits.preauth_ms, DAY_MS),
            ("retention.days", u64::from(self.retention.days), 36_500),
            ("retention.max_mb", self.retention.max_mb, 1 << 40),
        ];
        match ranges.iter().find(|(_, value, most)| !(1..=*most).contains(value)) {
            Some((name, value, most)) => Err(format!("{name} is {value}: give 1 to {most}")),
            None => Ok(()),
        }
    }

    /// The address to listen on: one that others can reach only if it is protected.
    pub(crate) fn address(&self) -> Result<SocketAddr, StartError> {
        let text = self.listen.replacen("localhost:", "127.0.0.1:", 1);
        let address: SocketAddr = text.parse().map_err(|_| {
            let given = &self.listen;
            StartError::ArgumentWrong(format!(
                "{given:?} is not an address to listen on: give one like 127.0.0.1:7892"
            ))
        })?;
        if !address.ip().is_loopback() {
            crate::tls::check_protection(self, address)?;
        }
        Ok(address)
    }

    pub(crate) fn store(&self) -> switchboard_store::Options {
        switchboard_store::Options {
            synchronous: self.durability.synchronous.into(),
            retention_days: self.retention.days,
            retention_max_mb: self.retention.max_mb,
            disk_free_mb: self.limits.disk_free_mb,
        }
    }

    pub(crate) fn broker(&self) -> switchboard_broker::Settings {
        switchboard_broker::Settings {
            timeout: Duration::from_millis(self.delivery.timeout_ms),
            retry: RetryRule {
                attempts: self.delivery.attempts,
                backoff: Duration::from_millis(self.delivery.backoff_ms),
                multiplier: self.delivery.backoff_multiplier,
            },
            escalation: Escalation {
                to_high: Duration::from_millis(self.delivery.escalate_high_ms),
                to_urgent: Duration::from_millis(self.delivery.escalate_urgent_ms),
            },
            policy: self.bus.policy,
            subscriptions: self.limits.subscriptions,
            in_flight: self.limits.in_flight,
            in_flight_bytes: self.limits.in_flight_bytes,
            queue: self.limits.queue,
            aacp_open: self.aacp.open,
            discovery: switchboard_broker::DiscoveryRules {
                ttl: Duration::from_millis(self.discovery.ttl_ms),
                admit_everyone: self.discovery.admit == Admit::Auto,
                allow_list: self.discovery.allow_list.clone(),
                ..switchboard_broker::DiscoveryRules::default()
            },
            // Where every client needs a certificate, those who have one are no strangers.
            strangers_need_token: self.tls.client_ca.as_os_str().is_empty(),
            bus_needs_token: self.bus.require_token,
            heartbeat: Duration::from_millis(self.heartbeat.interval_ms),
            heartbeat_misses: self.heartbeat.misses,
            ..switchboard_broker::Settings::default()
        }
    }

    pub(crate) fn aacp(&self) -> AacpSettings {
        let Aacp { open, rate_per_second, burst } = self.aacp;
        AacpSettings { open, rate_per_second, burst }
    }

    pub(crate) fn door_limits(&self) -> Limits {
        Limits {
            connections: self.limits.connections,
            message_bytes: self.limits.message_bytes,
            preauth_bytes: self.limits.preauth_bytes,
            register_bytes: REGISTER_BYTES.max(self.limits.preauth_bytes),
            preauth: Duration::from_millis(self.limits.preauth_ms),
            write: Duration::from_millis(self.limits.write_ms),
        }
    }
}

/// Writes where to look for others into the settings file, and leaves the rest of it as it is.
pub(crate) fn write_interfaces(path: &Path, interfaces: &[String]) -> Result<(), String> {
    let failed = |why: String| format!("cannot change {}: {why}", path.display());
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| failed(error.to_string()))?;
    let list: toml_edit::Array = interfaces.iter().map(String::as_str).collect();
    document["discovery"]["interfaces"] = toml_edit::value(list);
    // Written aside and moved, so that nobody reads half of it.
    let aside = path.with_extension("toml.new");
    std::fs::write(&aside, document.to_string()).map_err(|error| failed(error.to_string()))?;
    std::fs::rename(&aside, path).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let declared = source.split("impl Settings {").next().unwrap();
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
