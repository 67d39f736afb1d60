//! Traces, exported by OTLP over HTTP where the settings name a collector: a span for each message, from
//! its acceptance to its end.
//!
//! Made of the events that anyone may watch, so that a slow collector slows no message: what cannot be
//! sent in time is dropped, and that is said.

mod otlp;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use switchboard_broker::Broker;
use switchboard_model::{Event, Events, Message, MessageState};
use tokio::net::TcpStream;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use otlp::Span;

/// Spans sent at once, and how long the first of them waits for more.
const BATCH: usize = 512;
const WAIT: Duration = Duration::from_secs(1);
/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Messages on their way that are followed. Beyond it the oldest are not told of.
const FOLLOWED: usize = 50_000;

/// The exporter; does nothing where no collector is named.
pub(crate) struct Traces(Option<(CancellationToken, JoinHandle<()>)>);

/// Where spans are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Collector {
    authority: String,
    path: String,
}

impl Collector {
    /// Reads an address like `http://127.0.0.1:4318`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error| format!("{text:?} is no address: {error}"))?;
        if uri.scheme_str() != Some("http") {
            return Err(format!("{text:?} must begin with http://, as in http://127.0.0.1:4318"));
        }
        let authority = uri.authority().ok_or_else(|| format!("{text:?} names no host"))?;
        let authority = match authority.port() {
            Some(_) => authority.to_string(),
            None => format!("{authority}:4318"),
        };
        let path = match uri.path() {
            "" | "/" => "/v1/traces".to_owned(),
            path => path.to_owned(),
        };
        Ok(Self { authority, path })
    }

    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        let socket =
            TcpStream::connect(&self.authority).await.map_err(|error| error.to_string())?;
        let request = Request::post(&self.path)
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        let exchange = async {
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
            // Ends by itself once the one answer is read.
            tokio::spawn(connection);
            sender.send_request(request).await
        };
        let response = exchange.await.map_err(|error: hyper::Error| error.to_string())?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(format!("the collector answered {status}")),
        }
    }
}

impl Traces {
    /// Begins to export, if the settings name a collector.
    pub(crate) fn start(collector: &str, broker: &Broker) -> Self {
        let Some(collector) = Collector::parse(collector).ok() else { return Self(None) };
        let stop = CancellationToken::new();
        let exporter = Exporter {
            collector,
            events: broker.events(),
            followed: BTreeMap::new(),
            spans: Vec::new(),
            failing: false,
        };
        let task = tokio::spawn(exporter.run(stop.clone()));
        Self(Some((stop, task)))
    }

    /// Sends what is left.
    pub(crate) async fn stop(self) {
        let Some((stop, task)) = self.0 else { return };
        stop.cancel();
        if let Err(error) = task.await {
            tracing::error!(%error, "the export of traces ended badly");
        }
    }
}

struct Exporter {
    collector: Collector,
    events: Receiver<Events>,
    /// Messages on their way, by their seqs.
    followed: BTreeMap<u64, Arc<Message>>,
    spans: Vec<Span>,
    failing: bool,
}

impl Exporter {
    async fn run(mut self, stop: CancellationToken) {
        let mut flush = tokio::time::interval(WAIT);
        loop {
            tokio::select! {
                () = stop.cancelled() => return self.flush().await,
                events = self.events.recv() => match events {
                    Ok(events) => events.iter().for_each(|event| self.take(event.clone())),
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "traces are incomplete: events came too fast");
                        self.followed.clear();
                    }
                    Err(RecvError::Closed) => return self.flush().await,
                },
                _ = flush.tick() => self.flush().await,
            }
            if self.spans.len() >= BATCH {
                self.flush().await;
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Accepted(message) => {
                self.followed.insert(message.seq, message);
                if self.followed.len() > FOLLOWED {
                    self.followed.pop_first();
                }
            }
            Event::Moved { state: MessageState::Waiting, .. } => {}
            Event::Moved { seq, state, took_micros, error, .. } => {
                if let Some(message) = self.followed.remove(&seq) {
                    let took = took_micros.unwrap_or_default();
                    self.spans.push(otlp::span(&message, state, took, error.as_deref()));
                }
            }
            Event::Refused(message, error) => {
                let state = MessageState::Refused;
                self.spans.push(otlp::span(&message, state, 0, Some(&error)));
            }
            Event::Withdrawn { seq } => drop(self.followed.remove(&seq)),
            Event::Agent(_)
            | Event::Job(_)
            | Event::DiedAgain { .. }
            | Event::Sessions
            | Event::Rules
            | Event::Discovery => {}
        }
    }

    async fn flush(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let count = spans.len();
        let sending = self.collector.send(otlp::request(spans));
        let sent = match tokio::time::timeout(PATIENCE, sending).await {
            Ok(sent) => sent,
            Err(_) => Err("the collector did not answer in time".to_owned()),
        };
        match sent {
            Ok(()) => self.failing = false,
            // Once is enough, until it works again.
            Err(_) if self.failing => {}
            Err(error) => {
                tracing::warn!(%error, count, "traces could not be exported and are dropped");
                self.failing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_named_by_its_address() {
        let at = |text: &str| Collector::parse(text).map(|one| (one.authority, one.path));
        assert_eq!(at("http://h:1").unwrap(), ("h:1".to_owned(), "/v1/traces".to_owned()));
        assert_eq!(at("http://h/x").unwrap(), ("h:4318".to_owned(), "/x".to_owned()));
        for bad in ["", "h:1", "https://h:1", "http://"] {
            assert!(at(bad).is_err(), "{bad}");
        }
    }
}
