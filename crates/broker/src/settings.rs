//! What an operator can set about delivery.

use std::time::Duration;

use switchboard_model::Policy;

use crate::{Escalation, RetryRule};

/// Limits and times of the delivery engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a recipient may take to answer.
    pub timeout: Duration,
    /// How often and how soon a recipient is asked again.
    pub retry: RetryRule,
    /// How long a delivery waits before it is served as one of the next higher priority.
    pub escalation: Escalation,
    /// How long a message that a default handler takes care of waits for a subscriber.
    pub unrouted: Duration,
    /// When a chain of subscribers stops, for subscriptions that do not say.
    pub policy: Policy,
    /// Subscriptions on one connection.
    pub subscriptions: usize,
    /// Deliveries handed to one recipient and not answered yet.
    pub in_flight: usize,
    /// Their payloads, in bytes.
    pub in_flight_bytes: usize,
    /// Deliveries waiting for one recipient. When full, publishers are told to try again later.
    pub queue: usize,
    /// How long a stopping broker waits for answers.
    pub drain: Duration,
    /// How long one that fetches its answers waits for them.
    pub mail_patience: Duration,
    /// Whether those who fetch their messages are taken at their word, without tokens.
    pub aacp_open: bool,
    /// Whom to believe that was announced.
    pub discovery: DiscoveryRules,
    /// Whether those on other machines get tokens from the operator alone, not by registering.
    pub strangers_need_token: bool,
    /// Whether everyone who joins by the bus must show a token.
    pub bus_needs_token: bool,
    /// How often those who promise it are to be heard of, and how often they may fail to.
    pub heartbeat: Duration,
    /// After so many misses they count as unavailable.
    pub heartbeat_misses: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            retry: RetryRule::default(),
            escalation: Escalation::default(),
            unrouted: Duration::from_secs(10),
            policy: Policy::default(),
            subscriptions: 256,
            in_flight: 1000,
            in_flight_bytes: 8 << 20,
            queue: 10_000,
            drain: Duration::from_secs(5),
            mail_patience: Duration::from_secs(7 * 24 * 60 * 60),
            aacp_open: false,
            discovery: DiscoveryRules::default(),
            strangers_need_token: true,
            bus_needs_token: false,
            heartbeat: Duration::from_secs(10),
            heartbeat_misses: 3,
        }
    }
}

/// Whom to believe that was announced, and for how long.
#[derive(Clone, Debug)]
pub struct DiscoveryRules {
    /// For how long an announcement is believed.
    pub ttl: Duration,
    /// For how long a key counts after a newer one has taken its place.
    pub grace: Duration,
    /// Whether every signed agent is admitted at once.
    pub admit_everyone: bool,
    /// Ids and patterns that may announce themselves, beside those the operator adds.
    pub allow_list: Vec<String>,
}

impl Default for DiscoveryRules {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(10),
            grace: Duration::from_secs(24 * 60 * 60),
            admit_everyone: false,
            allow_list: Vec::new(),
        }
    }
}
