//! A live connection, and what it holds.

use std::net::IpAddr;
use std::sync::Arc;

use switchboard_model::{AgentId, DeliveryId, Door};
use tokio::sync::{mpsc, watch};

use crate::broker::{Cut, Outgoing};
use crate::queue::Line;
use crate::subscriptions::Subscription;

/// A live connection.
pub(crate) struct Connection {
    pub(crate) door: Door,
    /// Where the other end is; none if it is in this program.
    pub(crate) from: Option<IpAddr>,
    pub(crate) agent: Option<AgentId>,
    /// It speaks for its agent, which counts as no more connected than before.
    pub(crate) visiting: bool,
    pub(crate) outbox: mpsc::Sender<Outgoing>,
    pub(super) cut: watch::Sender<Option<Cut>>,
    pub(crate) subscriptions: Vec<Arc<Subscription>>,
    pub(crate) line: Line,
    /// What it gets next is being read from disk.
    pub(crate) loading: bool,
    /// Requests that wait until it is no longer busy, in their order.
    pub(crate) held: Vec<DeliveryId>,
}

impl Connection {
    /// Deliveries that wait for their turn here.
    pub(crate) fn waiting(&self) -> usize {
        self.line.waiting() + self.held.len()
    }

    /// Everything that is in its line, in its hands, or held back.
    pub(crate) fn all(&self) -> Vec<DeliveryId> {
        let mut all = self.line.all();
        all.extend(&self.held);
        all.sort_unstable();
        all
    }
}
