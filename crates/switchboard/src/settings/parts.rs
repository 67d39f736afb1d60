//! What the settings mean for each part.

use std::time::Duration;

use switchboard_broker::{Escalation, RetryRule};
use switchboard_doors::Limits;
use switchboard_doors::aacp::AacpSettings;

use super::{Aacp, Admit, Settings};

/// The longest registration: schemas take room.
const REGISTER_BYTES: usize = 64 << 10;

impl Settings {
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
