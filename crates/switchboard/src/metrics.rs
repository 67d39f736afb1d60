//! `/metrics`, in Prometheus' text format. Labels are from closed lists, but for agents, of which only so
//! many are named.

use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use subtle::ConstantTimeEq;
use switchboard_broker::{Broker, now};
use switchboard_doors::listener::Seat;
use switchboard_model::{AgentStatus, AgentView, Timestamp};
use switchboard_store::Store;

/// Agents that have figures of their own; the others are put together under one name.
const AGENTS: usize = 200;
const OTHERS: &str = "(others)";

#[derive(Clone)]
struct Source {
    broker: Broker,
    store: Store,
    started_at: Timestamp,
    token: Arc<str>,
}

/// Serves the figures: on this machine to everyone, elsewhere to who has the operator's token.
pub(crate) fn router(broker: Broker, store: Store, token: &str) -> Router {
    let source = Source { broker, store, started_at: now(), token: token.into() };
    Router::new().route("/metrics", get(show)).with_state(source)
}

async fn show(
    State(source): State<Source>,
    Extension(seat): Extension<Seat>,
    headers: HeaderMap,
) -> Response {
    if !may_see(&headers, seat.address, &source.token) {
        let why = "from another machine the figures need the operator's token: send \
                   Authorization: Bearer with what is in the file admin-token in the data folder\n";
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], why)
            .into_response();
    }
    let mut page = Page::default();
    page.messages(&source.broker);
    page.agents(&source.broker.agents().await);
    page.broker(&source.broker);
    let bytes = source.store.size_bytes().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the size of the database is not known");
        0
    });
    page.single("switchboard_database_bytes", "gauge", "The database and its log on disk.", bytes);
    let micros = now().micros_since(source.started_at);
    let help = "Since the broker started.";
    page.single("switchboard_uptime_seconds", "gauge", help, micros / 1_000_000);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page.0).into_response()
}

fn may_see(headers: &HeaderMap, from: IpAddr, token: &str) -> bool {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    from.is_loopback() || shown.as_bytes().ct_eq(token.as_bytes()).into()
}

#[derive(Default)]
struct Page(String);

impl Page {
    /// Begins a family of figures.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        writeln!(self.0, "{line}").unwrap_or_default();
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.family(name, kind, help);
        self.line(format_args!("{name} {value}"));
    }

    fn messages(&mut self, broker: &Broker) {
        let metrics = broker.metrics();
        let name = "messages_sent_total";
        self.family(name, "counter", "Messages accepted.");
        for (kind, priority, door, count) in metrics.messages_sent() {
            let (kind, priority) = (kind.as_str(), priority.as_str());
            self.line(format_args!(
                "{name}{{type=\"{kind}\",priority=\"{priority}\",door=\"{door}\"}} {count}"
            ));
        }
        let name = "message_latency_ms";
        self.family(
            name,
            "histogram",
            "From a request's acceptance to its answer, by the caller's door.",
        );
        for (door, histogram) in metrics.latency() {
            for (bound, count) in &histogram.buckets {
                self.line(format_args!("{name}_bucket{{door=\"{door}\",le=\"{bound}\"}} {count}"));
            }
            let (count, sum) = (histogram.count, histogram.sum_ms);
            self.line(format_args!("{name}_bucket{{door=\"{door}\",le=\"+Inf\"}} {count}"));
            self.line(format_args!("{name}_sum{{door=\"{door}\"}} {sum}"));
            self.line(format_args!("{name}_count{{door=\"{door}\"}} {count}"));
        }
        let name = "switchboard_decisions_total";
        self.family(name, "counter", "Requests that the rules let pass or not.");
        for (effect, count) in metrics.decisions() {
            self.line(format_args!("{name}{{effect=\"{}\"}} {count}", effect.as_str()));
        }
        let help = "Messages not accepted because of a rule, a schema or an unknown name.";
        self.single(
            "switchboard_messages_refused_total",
            "counter",
            help,
            metrics.messages_refused(),
        );
    }

    fn agents(&mut self, agents: &[AgentView]) {
        let (named, others) = agents.split_at(agents.len().min(AGENTS));
        let available = |agent: &AgentView| agent.status != AgentStatus::Unavailable;
        let name = "agent_availability";
        self.family(name, "gauge", "1 if the agent can be reached; for the others, how many can.");
        for agent in named {
            let up = u8::from(available(agent));
            self.line(format_args!("{name}{{agent=\"{}\"}} {up}", escaped(agent.id.as_str())));
        }
        if !others.is_empty() {
            let up = others.iter().filter(|agent| available(agent)).count();
            self.line(format_args!("{name}{{agent=\"{OTHERS}\"}} {up}"));
        }
        let name = "queue_depth";
        self.family(name, "gauge", "Messages pending delivery to the agent.");
        for agent in named {
            let (id, queued) = (escaped(agent.id.as_str()), agent.queued);
            self.line(format_args!("{name}{{agent=\"{id}\"}} {queued}"));
        }
        if !others.is_empty() {
            let queued: u64 = others.iter().map(|agent| agent.queued).sum();
            self.line(format_args!("{name}{{agent=\"{OTHERS}\"}} {queued}"));
        }
        let known = agents.len() as u64;
        self.single("switchboard_agents", "gauge", "Agents that are known.", known);
    }

    fn broker(&mut self, broker: &Broker) {
        let name = "switchboard_messages";
        self.family(name, "gauge", "Messages ever accepted, by where they are now.");
        let totals = broker.totals();
        for (state, count) in [
            ("waiting", totals.waiting),
            ("processed", totals.processed),
            ("dead", totals.dead),
            ("discarded", totals.discarded),
            ("expired", totals.expired),
        ] {
            self.line(format_args!("{name}{{state=\"{state}\"}} {count}"));
        }
        let metrics = broker.metrics();
        let letters = "Dead letters that nobody has dealt with.";
        self.single("switchboard_dead_letters_open", "gauge", letters, broker.open_letters());
        let connections = u64::from(broker.connections());
        self.single("switchboard_connections", "gauge", "Live connections.", connections);
        let deliveries = "Deliveries that wait, are in an agent's hands or are tried again.";
        self.single("switchboard_deliveries_open", "gauge", deliveries, metrics.open_deliveries());
        let calls = "Requests that wait for an answer.";
        self.single("switchboard_requests_open", "gauge", calls, metrics.open_calls());
    }
}

/// A label's value as the format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_another_machine_only_the_operator_sees_the_figures() {
        let may = |from: &str, shown: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(shown) = shown {
                headers.insert(header::AUTHORIZATION, shown.parse().unwrap());
            }
            may_see(&headers, from.parse().unwrap(), "secret")
        };
        assert!(may("127.0.0.1", None) && may("::1", None));
        assert!(may("192.0.2.1", Some("Bearer secret")));
        for wrong in [None, Some("Bearer "), Some("Bearer secre"), Some("secret")] {
            assert!(!may("192.0.2.1", wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_name_cannot_break_out_of_its_label() {
        assert_eq!(escaped("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }
}
