//! A door's end of a connection.

use std::sync::atomic::Ordering;

use switchboard_model::{Command, Reply};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::{Broker, Caller, Cut, Input, Outgoing};
use crate::Refusal;

/// A door's end of a connection. However the door's task ends, this goes, and the core hears of it.
pub struct Link {
    caller: Caller,
    broker: Broker,
    deliveries: mpsc::Receiver<Outgoing>,
    /// Keeps the outbox open when the core lets go of it: that the connection is over, and why, is told by the scissors.
    _outbox: mpsc::Sender<Outgoing>,
    is_cut: watch::Receiver<Option<Cut>>,
    runtime: Handle,
}

/// Tells a door that the broker has ended its connection.
#[derive(Clone)]
pub struct Scissors(watch::Receiver<Option<Cut>>);

impl Scissors {
    /// Resolves when the connection is cut; never, if that does not happen.
    pub async fn cut(&mut self) -> Cut {
        let cut = self.0.wait_for(Option::is_some).await.ok().and_then(|cut| *cut);
        match cut {
            Some(cut) => cut,
            // The core let go of it without a word, as at its own end.
            None => std::future::pending().await,
        }
    }
}

impl Link {
    /// The end of a connection that the core has been told of.
    pub(super) fn new(
        caller: Caller,
        broker: Broker,
        (outbox, deliveries): (mpsc::Sender<Outgoing>, mpsc::Receiver<Outgoing>),
        is_cut: watch::Receiver<Option<Cut>>,
    ) -> Self {
        broker.shared.live.fetch_add(1, Ordering::Relaxed);
        Self { caller, broker, deliveries, _outbox: outbox, is_cut, runtime: Handle::current() }
    }

    /// Submits a command in the name of whoever is at the other end.
    pub async fn submit(&self, command: Command) -> Result<Reply, Refusal> {
        self.broker.submit(self.caller, command).await
    }

    /// The way to submit from another task while this one waits for deliveries.
    pub fn caller(&self) -> (Broker, Caller) {
        (self.broker.clone(), self.caller)
    }

    /// Tells when the broker ends this connection.
    pub fn scissors(&self) -> Scissors {
        Scissors(self.is_cut.clone())
    }

    /// Whether the broker has ended this connection: nothing more is to be written to it.
    pub fn is_cut(&self) -> bool {
        self.is_cut.borrow().is_some()
    }

    /// The next thing to write, if there is one already.
    pub fn try_next(&mut self) -> Option<Outgoing> {
        self.deliveries.try_recv().ok()
    }

    /// The next thing to write to the other end.
    pub async fn next(&mut self) -> Option<Outgoing> {
        self.deliveries.recv().await
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.broker.shared.live.fetch_sub(1, Ordering::Relaxed);
        let Caller::Connection(id) = self.caller else { return };
        let telling = self.broker.put(Input::Gone(id));
        // Where the core has as much to do as it may, the news waits for room.
        if !telling.is_done() {
            self.runtime.spawn(telling);
        }
    }
}
