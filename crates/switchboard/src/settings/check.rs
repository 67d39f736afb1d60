//! Everything that parses but cannot be.

use std::net::SocketAddr;

use serde_json::Value;

use super::values::Values;
use super::{Settings, table};
use crate::StartError;

impl Settings {
    /// What is wrong, and what would be right.
    pub(super) fn check(&self) -> Result<(), String> {
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
        let values = Values::of(self);
        for entry in table::entries() {
            let Some((min, max)) = entry.kind.bounds() else { continue };
            let value = values.get(entry.key);
            if !value.as_f64().is_some_and(|number| (min..=max).contains(&number)) {
                return Err(out_of_bounds(entry.key, value, (min, max)));
            }
        }
        Ok(())
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

/// The same words for a file and for the operator.
pub(super) fn out_of_bounds(key: &str, value: &Value, (min, max): (f64, f64)) -> String {
    format!("{key} is {value}: give {min} to {max}")
}
