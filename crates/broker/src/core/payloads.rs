//! What messages carry is kept in memory while they move, and left on disk while they wait, once
//! there is much of it: a recipient that sleeps must not fill the memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{ConnectionId, DeliveryId, Message, Payload};

use super::{Core, Phase};
use crate::broker::Input;
use crate::numbers::ByNumber;

/// As much as messages on their way may keep in memory before those that wait are left on disk.
const HELD: usize = 8 << 20;

/// What is no larger stays in memory. To be remembered without it a message takes more room than that, and is copied; and its
/// recipient would wait until it is read.
const SMALL: usize = 512;

/// After how long what could not be read is read again.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// What the messages on their way keep in memory.
#[derive(Default)]
pub(super) struct Held {
    of: ByNumber<u64, usize>,
    bytes: usize,
}

/// What was read for one connection.
pub(crate) struct Loaded {
    connection: ConnectionId,
    /// In the order in which they are handed over.
    deliveries: Vec<DeliveryId>,
    payloads: Result<HashMap<u64, Payload>, switchboard_store::Error>,
}

impl Held {
    pub(super) fn add(&mut self, message: &Message) {
        let bytes = message.payload.as_str().len();
        if bytes > SMALL {
            self.of.insert(message.seq, bytes);
            self.bytes += bytes;
        }
    }

    pub(super) fn remove(&mut self, seq: u64) {
        self.bytes -= self.of.remove(&seq).unwrap_or(0);
    }

    fn has(&self, seq: u64) -> bool {
        self.of.contains_key(&seq)
    }

    fn is_much(&self) -> bool {
        self.bytes > HELD
    }

    /// A message from before the restart, as it is kept now.
    pub(super) fn take_up(&mut self, message: Arc<Message>) -> Arc<Message> {
        if self.is_much() && message.payload.bytes() > SMALL {
            return Arc::new(message.left_on_disk());
        }
        self.add(&message);
        message
    }
}

impl Core {
    /// Lets go of what a message carries that is on disk and has to wait, if much is held.
    pub(super) fn leave_on_disk(&mut self, seq: u64) {
        if !self.held.is_much() || !self.held.has(seq) {
            return;
        }
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        if !journey.on_disk {
            return;
        }
        let asked = journey.dispatch.undecided();
        let waits = |delivery: &DeliveryId| {
            self.deliveries
                .get(delivery)
                .is_none_or(|one| matches!(one.phase, Phase::InLine | Phase::Resting))
        };
        if !asked.iter().all(waits) {
            return;
        }
        let message = Arc::new(journey.dispatch.message.left_on_disk());
        journey.dispatch.message = message.clone();
        for delivery in asked {
            if let Some(open) = self.deliveries.get_mut(&delivery) {
                open.message = message.clone();
            }
        }
        self.calls.left_on_disk(&message);
        if let Some(parked) = self.parking.message_mut(&message) {
            *parked = message;
        }
        self.held.remove(seq);
    }

    /// Reads what these messages carry, beside the core; until then the connection gets nothing.
    pub(super) fn load(&mut self, connection: ConnectionId, deliveries: Vec<DeliveryId>) {
        let Some(inputs) = self.inputs.upgrade() else { return };
        if let Some(to) = self.registry.connection_mut(connection) {
            to.loading = true;
        }
        let open = deliveries.iter().filter_map(|delivery| self.deliveries.get(delivery));
        let seqs: Vec<u64> = open.map(|open| open.seq).collect();
        let store = self.store.clone();
        tokio::spawn(async move {
            let payloads = store.payloads(&seqs).await;
            let loaded = Loaded { connection, deliveries, payloads };
            if inputs.send(Input::Payloads(Box::new(loaded))).await.is_err() {
                tracing::debug!("the broker stopped while messages were read");
            }
        });
    }

    pub(super) fn loaded(&mut self, loaded: Loaded) {
        let Loaded { connection, deliveries, payloads } = loaded;
        if let Some(to) = self.registry.connection_mut(connection) {
            to.loading = false;
        }
        let payloads = payloads.unwrap_or_else(|error| {
            tracing::error!(%error, "messages that waited could not be read from disk");
            HashMap::new()
        });
        for delivery in deliveries {
            let Some(open) = self.deliveries.get(&delivery) else { continue };
            if open.phase != Phase::Loading || open.to.connection != connection {
                continue;
            }
            let payload = match payloads.get(&open.seq) {
                _ if !open.message.payload.is_left_on_disk() => Some(open.message.payload.clone()),
                payload => payload.cloned(),
            };
            match payload {
                Some(payload) => {
                    let message = Message { payload, ..Message::clone(&open.message) };
                    self.hand(delivery, Arc::new(message));
                }
                None => self.put_off(delivery),
            }
        }
        self.ready(connection);
    }

    /// What it carries could not be read. That is no fault of the recipient's, so it is no attempt.
    fn put_off(&mut self, delivery: DeliveryId) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let (seq, connection) = (open.seq, open.to.connection);
        if let Some(to) = self.registry.connection_mut(connection) {
            to.line.done(delivery);
        }
        if let Some(journey) = self.journeys.get_mut(&seq) {
            journey.dispatch.put_off(delivery, self.now.wall.plus(READ_AGAIN));
        }
        self.rest(delivery, READ_AGAIN);
    }
}
