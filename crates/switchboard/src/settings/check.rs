//! Everything that parses but cannot be.

use std::net::SocketAddr;

use super::Settings;
use crate::StartError;

/// The longest time that can be set.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Settings {
    /// What is wrong, and what would be right.
    pub(super) fn check(&self) -> Result<(), String> {
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
}
