//! The way from the broker to the writer: bounded, in order, each write with its ticket.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::hand::Hand;
use crate::record::Record;

/// Writes on their way to the writer. When full, `try_write` says so, and `write` waits.
pub(crate) const WRITES: usize = 8_192;

/// Bytes of payloads on their way. When there are more, it is as if the queue were full.
const BYTES: u32 = 64 * 1024 * 1024;

/// The ticket of the first write.
const FIRST: u64 = 1;

/// The place of one write in the order of writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);

impl Ticket {
    /// As if there had been one before the first.
    pub(crate) const NONE: Self = Self(FIRST - 1);
}

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
    /// Its share of the bytes, given back when it is taken from the queue.
    share: Option<OwnedSemaphorePermit>,
}

impl Write {
    /// Whether it takes in a message, so that someone waits to hear of it.
    pub(crate) fn has_message(&self) -> bool {
        let is_message =
            |record: &Record| matches!(record, Record::Message(_) | Record::Refused { .. });
        self.records.iter().any(is_message)
    }

    /// The write is in the writer's hands and no longer counts as queued.
    pub(crate) fn taken(&mut self) {
        self.share = None;
    }
}

/// Writes that come together, so that the writer cannot take one and leave the other for later.
pub(crate) type Together = (Write, Option<Write>);

/// The broker's end.
pub(crate) struct Queue {
    /// The sender and the next ticket under one lock, so that tickets are in the order of the queue.
    end: Mutex<(Option<mpsc::Sender<Together>>, u64)>,
    bytes: Arc<Semaphore>,
    /// Where a commit need not wait for the disk, who brings a few records writes them without waking anybody.
    hand: Option<Weak<Mutex<Hand>>>,
}

impl Queue {
    /// A queue and the writer's end of it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Together>) {
        let (sender, receiver) = mpsc::channel(WRITES);
        let queue = Self {
            end: Mutex::new((Some(sender), FIRST)),
            bytes: Arc::new(Semaphore::new(BYTES as usize)),
            hand: None,
        };
        (queue, receiver)
    }

    /// From now on who brings a few records writes them with this hand, if nobody else holds it.
    pub(crate) fn write_at_once_with(&mut self, hand: Weak<Mutex<Hand>>) {
        self.hand = Some(hand);
    }

    /// Puts a write in the queue, if there is room.
    pub(crate) fn try_write(&self, records: Vec<Record>) -> Result<Ticket, QueueFull> {
        self.try_write_with(records, &mut Vec::new()).map(|(ticket, _)| ticket)
    }

    /// Puts a write in the queue, if there is room, and with it another one, if there is one, which is
    /// left where it is if there is none.
    pub(crate) fn try_write_with(
        &self,
        records: Vec<Record>,
        others: &mut Vec<Record>,
    ) -> Result<(Ticket, Option<Ticket>), QueueFull> {
        let bytes = payload_bytes(&records).saturating_add(payload_bytes(others)).min(BYTES);
        let share = Arc::clone(&self.bytes).try_acquire_many_owned(bytes);
        let share = Some(share.map_err(|_| QueueFull)?);
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(sender), next) = &mut *end else {
            return Err(QueueFull);
        };
        let permit = sender.try_reserve().map_err(|_| QueueFull)?;
        let ticket = Ticket(*next);
        *next += 1;
        let first = Write { ticket, records, share };
        let second = (!others.is_empty()).then(|| {
            let ticket = Ticket(*next);
            *next += 1;
            Write { ticket, records: std::mem::take(others), share: None }
        });
        let others = second.as_ref().map(|write| write.ticket);
        if let Err(left) = self.write_at_once((first, second)) {
            permit.send(left);
        }
        Ok((ticket, others))
    }

    /// Gives back what has to go through the queue.
    fn write_at_once(&self, few: Together) -> Result<(), Together> {
        let Some(hand) = self.hand.as_ref().and_then(Weak::upgrade) else { return Err(few) };
        match hand.try_lock() {
            Ok(mut hand) => hand.write_at_once(few),
            Err(_) => Err(few),
        }
    }

    /// Puts a write in the queue as soon as there is room.
    pub(crate) async fn write(&self, records: Vec<Record>) -> Result<Ticket, Closed> {
        let sender = {
            let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            end.0.clone().ok_or(Closed)?
        };
        let bytes = Arc::clone(&self.bytes);
        let share = bytes.acquire_many_owned(payload_bytes(&records)).await;
        let share = Some(share.map_err(|_| Closed)?);
        let permit = sender.reserve().await.map_err(|_| Closed)?;
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = Ticket(end.1);
        end.1 += 1;
        permit.send((Write { ticket, records, share }, None));
        Ok(ticket)
    }

    /// Takes no more writes; the writer ends when it has dealt with those in the queue.
    pub(crate) fn close(&self) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.0 = None;
    }
}

/// The payload bytes of a write; more than the queue holds count as all of it.
fn payload_bytes(records: &[Record]) -> u32 {
    let bytes = records.iter().map(|record| match record {
        Record::Message(message) | Record::Refused { message, .. } => message.payload.bytes(),
        Record::Attempt(attempt) => attempt.payload.as_ref().map_or(0, |payload| payload.bytes()),
        Record::Agent(_)
        | Record::AgentSeen { .. }
        | Record::Presence(_)
        | Record::Running(_)
        | Record::Subscribed(_)
        | Record::Unsubscribed { .. }
        | Record::Delivery(_)
        | Record::Settled { .. }
        | Record::DeliveryEnded(_)
        | Record::DeadLetter { .. }
        | Record::Letter(_)
        | Record::Job(_)
        | Record::Token(_)
        | Record::Rules(_)
        | Record::Session(_)
        | Record::Mail(_)
        | Record::Trust(_)
        | Record::Figures(_)
        | Record::Saved(_)
        | Record::Audit { .. } => 0,
    });
    u32::try_from(bytes.sum::<usize>()).map_or(BYTES, |bytes| bytes.min(BYTES))
}
