//! The way from the broker to the writer: bounded, in order, each write with its ticket.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::record::Record;

/// Writes on their way to the writer. When full, `try_write` says so, and `write` waits.
pub(crate) const WRITES: usize = 8_192;

/// Bytes of payloads on their way. New messages are refused above this, as when the queue is full.
const BYTES: usize = 64 * 1024 * 1024;

/// The place of one write in the order of writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);

/// There is no room for more writes now, or the store is closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store cannot take more at the moment")]
pub struct QueueFull;

/// The store has been closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store is closed")]
pub struct Closed;

/// One write on its way.
pub(crate) struct Write {
    pub(crate) ticket: Ticket,
    pub(crate) records: Vec<Record>,
    bytes: Load,
}

impl Write {
    /// Whether it takes in a message, so that someone waits to hear of it.
    pub(crate) fn has_message(&self) -> bool {
        let is_message = |record: &Record| matches!(record, Record::Message(_));
        self.records.iter().any(is_message)
    }

    /// The write is in the writer's hands and no longer counts as queued.
    pub(crate) fn taken(&mut self) {
        self.bytes = Load::default();
    }
}

/// Payload bytes that count as queued until this is dropped.
#[derive(Default)]
struct Load {
    bytes: usize,
    queued: Option<Arc<AtomicUsize>>,
}

impl Drop for Load {
    fn drop(&mut self) {
        if let Some(queued) = &self.queued {
            queued.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// The broker's end.
pub(crate) struct Queue {
    /// The sender and the next ticket under one lock, so that tickets are in the order of the queue.
    end: Mutex<(Option<mpsc::Sender<Write>>, u64)>,
    queued_bytes: Arc<AtomicUsize>,
}

impl Queue {
    /// A queue and the writer's end of it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Write>) {
        let (sender, receiver) = mpsc::channel(WRITES);
        let queue = Self {
            end: Mutex::new((Some(sender), 1)),
            queued_bytes: Arc::default(),
        };
        (queue, receiver)
    }

    /// Puts a write in the queue, if there is room.
    pub(crate) fn try_write(&self, records: Vec<Record>) -> Result<Ticket, QueueFull> {
        let load = self.load(&records);
        if self.queued_bytes.load(Ordering::Relaxed) > BYTES {
            return Err(QueueFull);
        }
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(sender), next) = &mut *end else {
            return Err(QueueFull);
        };
        let ticket = Ticket(*next);
        let write = Write {
            ticket,
            records,
            bytes: load,
        };
        sender.try_send(write).map_err(|_| QueueFull)?;
        *next += 1;
        Ok(ticket)
    }

    /// Puts a write in the queue as soon as there is room.
    pub(crate) async fn write(&self, records: Vec<Record>) -> Result<Ticket, Closed> {
        let sender = {
            let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.0.clone().ok_or(Closed)?
        };
        let permit = sender.reserve().await.map_err(|_| Closed)?;
        let load = self.load(&records);
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = Ticket(end.1);
        end.1 += 1;
        permit.send(Write {
            ticket,
            records,
            bytes: load,
        });
        Ok(ticket)
    }

    /// Takes no more writes; the writer ends when it has dealt with those in the queue.
    pub(crate) fn close(&self) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.0 = None;
    }

    fn load(&self, records: &[Record]) -> Load {
        let bytes = records.iter().map(payload_bytes).sum();
        self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        Load {
            bytes,
            queued: Some(Arc::clone(&self.queued_bytes)),
        }
    }
}

fn payload_bytes(record: &Record) -> usize {
    match record {
        Record::Message(message) => message.payload.as_str().len(),
        Record::Agent(_)
        | Record::AgentSeen { .. }
        | Record::Subscribed(_)
        | Record::Unsubscribed { .. }
        | Record::Delivery(_)
        | Record::Attempt(_)
        | Record::Settled { .. }
        | Record::DeadLetter { .. }
        | Record::Audit { .. } => 0,
    }
}
