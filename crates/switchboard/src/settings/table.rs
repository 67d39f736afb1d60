//! Every setting, described once: its name in the file, its name for people, what it does, what may be given, and
//! whether a change holds at once. `check` takes its bounds from here, and the Settings screen its words.

use switchboard_console::api::SettingKind;

/// The longest time that can be set.
const DAY_MS: f64 = 86_400_000.0;
const MILLION: f64 = 1_000_000.0;
const LARGEST_MESSAGE: f64 = 268_435_456.0;
const TERA: f64 = 1_099_511_627_776.0;

/// Settings that belong together.
pub(super) struct Section {
    /// Its name in the file; empty for those outside of any.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) explanation: &'static str,
    pub(super) entries: &'static [Entry],
}

/// One setting.
pub(crate) struct Entry {
    /// Its name in the file with its section.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) explanation: &'static str,
    pub(super) kind: Kind,
    /// Whether a change holds at once; else after a restart.
    pub(super) at_once: bool,
}

/// What may be given.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Switch,
    /// A whole number.
    Number {
        min: f64,
        max: f64,
        unit: &'static str,
    },
    /// A number that may have a fraction.
    Fraction {
        min: f64,
        max: f64,
    },
    Choice(&'static [&'static str]),
    /// What it looks like.
    Text(&'static str),
    /// What one of them looks like.
    List(&'static str),
    /// Edited in the file itself.
    File,
}

/// A number from 1 on.
const fn up_to(max: f64, unit: &'static str) -> Kind {
    Kind::Number { min: 1.0, max, unit }
}

const fn ms() -> Kind {
    up_to(DAY_MS, "ms")
}

const fn now(
    key: &'static str,
    title: &'static str,
    kind: Kind,
    explanation: &'static str,
) -> Entry {
    Entry { key, title, explanation, kind, at_once: true }
}

const fn later(
    key: &'static str,
    title: &'static str,
    kind: Kind,
    explanation: &'static str,
) -> Entry {
    Entry { key, title, explanation, kind, at_once: false }
}

/// In the order of docs/SETTINGS.md.
pub(super) const SECTIONS: &[Section] = &[
    Section {
        name: "",
        title: "General",
        explanation: "Where this broker is reached.",
        entries: &[later(
            "listen",
            "Address",
            Kind::Text("127.0.0.1:7892"),
            "Where agents connect, and where a browser finds the console. Port 0 picks a free one. An address that other \
             machines can reach needs a certificate (TLS) and tokens on the bus.",
        )],
    },
    Section {
        name: "durability",
        title: "Durability",
        explanation: "How safely messages are kept.",
        entries: &[later(
            "durability.synchronous",
            "What an acknowledgement means",
            Kind::Choice(&["full", "normal"]),
            "full: what was acknowledged survives loss of power. normal: faster on slow disks; it survives the end of the \
             program, but the last moments may be lost with the power.",
        )],
    },
    Section {
        name: "delivery",
        title: "Delivery",
        explanation: "How often recipients are asked, and who is served first.",
        entries: &[
            now(
                "delivery.timeout_ms",
                "Time to answer",
                ms(),
                "How long a recipient may take to answer a delivery. Deliveries under way keep the time they were given.",
            ),
            now(
                "delivery.attempts",
                "Attempts",
                up_to(1000.0, ""),
                "How often a recipient is asked before the message is a dead letter.",
            ),
            now(
                "delivery.backoff_ms",
                "Wait before the next attempt",
                ms(),
                "After how long a recipient is asked again, if it does not say. Up to a quarter more is left to chance.",
            ),
            now(
                "delivery.backoff_multiplier",
                "Growth of that wait",
                Kind::Fraction { min: 1.0, max: 100.0 },
                "By how much each such wait is longer than the one before.",
            ),
            now(
                "delivery.escalate_high_ms",
                "Normal becomes high after",
                ms(),
                "After how long in a queue a message of normal priority is served as one of high priority.",
            ),
            now(
                "delivery.escalate_urgent_ms",
                "High becomes urgent after",
                ms(),
                "After how much longer one of high priority is served as urgent. One of low priority counts as normal when \
                 it has waited for both these times.",
            ),
        ],
    },
    Section {
        name: "bus",
        title: "Bus",
        explanation: "The door for agents that speak JSON-RPC over a WebSocket.",
        entries: &[
            now(
                "bus.policy",
                "When a chain of subscribers stops",
                Kind::Choice(&[
                    "stopPropagationOnProcessed",
                    "stopPropagationOnStop",
                    "continueAll",
                ]),
                "Holds for new subscriptions that do not say it themselves.",
            ),
            now(
                "bus.require_token",
                "Everyone needs a token",
                Kind::Switch,
                "Whether everyone who joins by this door must show a token. Otherwise, on this machine, a name that has no \
                 token is anyone's. Those who are here already stay.",
            ),
        ],
    },
    Section {
        name: "heartbeat",
        title: "Heartbeat",
        explanation: "For agents of the collaboration door, which promise to be heard of.",
        entries: &[
            now(
                "heartbeat.interval_ms",
                "How often",
                ms(),
                "How often an agent is to be heard of. Any message is a heartbeat.",
            ),
            now(
                "heartbeat.misses",
                "Misses",
                up_to(1000.0, ""),
                "After so many intervals without a word an agent counts as unavailable, until its next message.",
            ),
        ],
    },
    Section {
        name: "telemetry",
        title: "Telemetry",
        explanation: "What others can watch. Figures for Prometheus are always at /metrics.",
        entries: &[later(
            "telemetry.otlp",
            "Collector of traces",
            Kind::Text("http://127.0.0.1:4318"),
            "Where a span for each message is sent, by OTLP over HTTP. Nowhere if empty. No message waits for it.",
        )],
    },
    Section {
        name: "default_handler",
        title: "Default handler",
        explanation: "What is done with a message on a topic that nobody listens to.",
        entries: &[
            later(
                "default_handler.command",
                "Program",
                Kind::List("python3"),
                "The program that is started for such a topic, then its arguments, one a line. Without one such a message \
                 is a dead letter.",
            ),
            later(
                "default_handler.max_children",
                "How many run at once",
                up_to(1000.0, ""),
                "A message for which none can be started waits its turn, and is tried again like any other.",
            ),
        ],
    },
    Section {
        name: "aacp",
        title: "AACP",
        explanation: "The door for agents that speak by requests over HTTP.",
        entries: &[
            now(
                "aacp.open",
                "Open without tokens",
                Kind::Switch,
                "Whether agents of this door need no token, on this machine. Whoever names a UUID is believed then, and \
                 unknown ones get a mailbox. An id that owns a token still needs it.",
            ),
            now(
                "aacp.rate_per_second",
                "Messages a second",
                up_to(MILLION, ""),
                "How many messages one agent may send a second.",
            ),
            now("aacp.burst", "At once", up_to(MILLION, ""), "How many of them at once."),
        ],
    },
    Section {
        name: "discovery",
        title: "Discovery",
        explanation: "How this broker finds others, and who may be found.",
        entries: &[
            now(
                "discovery.interfaces",
                "Interfaces",
                Kind::List("lo"),
                "The network interfaces on which the broker announces itself and looks for others. lo is this machine \
                 alone.",
            ),
            now(
                "discovery.mdns",
                "Multicast DNS",
                Kind::Switch,
                "Whether it does so by multicast DNS.",
            ),
            now(
                "discovery.udp",
                "Datagrams",
                Kind::Text("239.255.78.92:7893"),
                "The group or broadcast address and the port of datagrams. None if empty.",
            ),
            now(
                "discovery.ttl_ms",
                "An announcement is believed for",
                ms(),
                "Whoever is not announced again by then counts as gone.",
            ),
            now(
                "discovery.allow_list",
                "Allow-list",
                Kind::List("3cde*"),
                "The ids and patterns of those that may announce themselves; they are admitted at once, and all others \
                 refused. Everyone may try if it is empty. The screen Discovery adds to it.",
            ),
            now(
                "discovery.admit",
                "Signed agents that nobody knows",
                Kind::Choice(&["ask", "auto"]),
                "ask: they wait for you. auto: they are admitted.",
            ),
            now(
                "discovery.registry",
                "Another registry",
                Kind::Text("https://registry.example.com"),
                "Where the broker announces itself while multicast DNS does not work. None if empty.",
            ),
            now(
                "discovery.registry_token",
                "File with the token for it",
                Kind::Text("registry-token"),
                "Only the name of the file; the token itself is never shown.",
            ),
            now(
                "discovery.registry_ca",
                "File with its authority",
                Kind::Text("registry-ca.pem"),
                "The authority of its certificate; without one, those that the system trusts count.",
            ),
        ],
    },
    Section {
        name: "jwt",
        title: "Signed tokens",
        explanation: "Keys by which signed tokens are checked, beside this broker's own.",
        entries: &[later(
            "jwt.keys",
            "Keys of others",
            Kind::File,
            "Each has a file, the one algorithm that it counts for, and if the tokens name it, a kid. The files are read \
             again when they change.",
        )],
    },
    Section {
        name: "tls",
        title: "TLS",
        explanation: "What protects the port. Paths begin in the data folder; empty is off. What changes in the files \
                      themselves is in force without a restart.",
        entries: &[
            later(
                "tls.cert",
                "Certificate",
                Kind::Text("tls/server.pem"),
                "The certificate of this port. With it the port speaks TLS 1.3 and nothing else, also on this machine.",
            ),
            later(
                "tls.key",
                "Private key",
                Kind::Text("tls/server-key.pem"),
                "The certificate's key.",
            ),
            later(
                "tls.client_ca",
                "Authorities of clients",
                Kind::Text("tls/ca.pem"),
                "With it every connection needs a certificate that one of them has signed.",
            ),
            later(
                "tls.crl",
                "Revoked certificates",
                Kind::Text("tls/crl.pem"),
                "A revoked certificate is refused, and connections that use it are cut when the file changes.",
            ),
        ],
    },
    Section {
        name: "limits",
        title: "Limits",
        explanation: "How much of everything. What goes beyond is refused by name, never dropped in silence.",
        entries: &[
            later(
                "limits.connections",
                "Connections",
                up_to(MILLION, ""),
                "Connections at the same time. A new one gets 503.",
            ),
            now(
                "limits.subscriptions",
                "Subscriptions on one connection",
                up_to(MILLION, ""),
                "One more is refused: busy.",
            ),
            later(
                "limits.message_bytes",
                "Longest message",
                up_to(LARGEST_MESSAGE, "bytes"),
                "A longer one is refused; far beyond, the connection ends.",
            ),
            later(
                "limits.in_flight",
                "Unanswered deliveries to one recipient",
                up_to(MILLION, ""),
                "The rest wait in its queue.",
            ),
            now(
                "limits.in_flight_bytes",
                "Their payloads",
                up_to(TERA, "bytes"),
                "The rest wait in its queue.",
            ),
            now(
                "limits.queue",
                "Waiting for one recipient",
                up_to(10.0 * MILLION, ""),
                "When a queue is full, publishers are refused: busy.",
            ),
            later(
                "limits.write_ms",
                "Time to write",
                ms(),
                "How long writing to a connection may take before it ends. Its messages stay.",
            ),
            later(
                "limits.preauth_bytes",
                "Longest message of a stranger",
                up_to(LARGEST_MESSAGE, "bytes"),
                "From someone who has not said who they are. A registration with its schemas may have 65,536 bytes.",
            ),
            later("limits.preauth_ms", "Time to say who one is", ms(), "Then the connection ends."),
            now(
                "limits.disk_free_mb",
                "Room kept free on the disk",
                Kind::Number { min: 0.0, max: TERA, unit: "MB" },
                "With less than this free, new messages are refused until there is room.",
            ),
        ],
    },
    Section {
        name: "retention",
        title: "Retention",
        explanation: "How long history is kept. Messages that wait and dead letters that nobody has looked at are never \
                      deleted.",
        entries: &[
            now(
                "retention.days",
                "Keep for",
                up_to(36_500.0, "days"),
                "Settled messages older than this are deleted.",
            ),
            now(
                "retention.max_mb",
                "Keep at most",
                up_to(TERA, "MB"),
                "The oldest settled messages are deleted while the database is larger than this.",
            ),
        ],
    },
];

/// Every setting, in order.
pub(super) fn entries() -> impl Iterator<Item = &'static Entry> {
    SECTIONS.iter().flat_map(|section| section.entries)
}

/// The setting of this name.
pub(super) fn entry(key: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.key == key)
}

impl Kind {
    /// Between what a number must be.
    pub(super) fn bounds(self) -> Option<(f64, f64)> {
        match self {
            Self::Number { min, max, .. } | Self::Fraction { min, max } => Some((min, max)),
            Self::Switch | Self::Choice(_) | Self::Text(_) | Self::List(_) | Self::File => None,
        }
    }
}

impl From<Kind> for SettingKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Switch => Self::Switch,
            Kind::Number { min, max, unit } => {
                Self::Number { min, max, fraction: false, unit: unit.to_owned() }
            }
            Kind::Fraction { min, max } => {
                Self::Number { min, max, fraction: true, unit: String::new() }
            }
            Kind::Choice(words) => {
                Self::Choice { options: words.iter().copied().map(str::to_owned).collect() }
            }
            Kind::Text(example) => Self::Text { example: example.to_owned() },
            Kind::List(example) => Self::List { example: example.to_owned() },
            Kind::File => Self::File,
        }
    }
}
