//! Dead letters that come from elsewhere: they are here as if they had died here.

use std::sync::Arc;

use switchboard_model::{
    DeadMessage, DeliveryId, DeliveryState, Event, Message, MessageState, Reply,
};
use switchboard_store::{AttemptRecord, DeliveryRecord, Record, Ticket};

use super::letters::state_of;
use super::{Core, operator_only, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::replies::ReplyTo;

/// Imports on their way to the disk. They count when they are there.
#[derive(Default)]
pub(super) struct Imports {
    unwritten: Vec<(Vec<Record>, Import)>,
    written: Vec<(Ticket, Import)>,
}

struct Import {
    letters: Vec<(Arc<Message>, MessageState)>,
    reply: Option<ReplyTo>,
}

impl Core {
    pub(super) fn import(
        &mut self,
        caller: Caller,
        letters: Vec<DeadMessage>,
        reply: Option<ReplyTo>,
    ) {
        if let Err(refusal) = operator_only(caller) {
            return respond(reply, Err(refusal));
        }
        let mut records = Vec::new();
        let mut taken = Vec::new();
        for letter in letters {
            let state = state_of(letter.letter.reason);
            taken.push((self.record_letter(letter, &mut records), state));
        }
        self.imports.unwritten.push((records, Import { letters: taken, reply }));
    }

    fn record_letter(&mut self, letter: DeadMessage, records: &mut Vec<Record>) -> Arc<Message> {
        let message = Arc::new(Message { seq: self.next_seq, ..letter.message });
        self.next_seq += 1;
        let seq = message.seq;
        records.push(Record::Message(message.clone()));
        for view in letter.deliveries {
            let id = DeliveryId(self.next_delivery);
            self.next_delivery += 1;
            records.push(Record::Delivery(DeliveryRecord {
                id,
                message: seq,
                agent: view.agent,
                door: view.door,
                pattern: view.pattern,
                observer: view.observer,
                at: message.accepted_at,
            }));
            let processed = view.state == DeliveryState::Processed && !view.attempts.is_empty();
            for attempt in view.attempts {
                let given = attempt.payload_text.as_deref();
                records.push(Record::Attempt(AttemptRecord {
                    delivery: id,
                    number: attempt.number,
                    started_at: attempt.started_at,
                    ended_at: attempt.ended_at,
                    outcome: attempt.outcome,
                    message: attempt.message,
                    payload: given.and_then(|text| switchboard_model::Payload::parse(text).ok()),
                    state: view.state,
                    due_at: None,
                }));
            }
            if !processed {
                // Whatever it waited for elsewhere, nobody is asked here until it is sent again.
                records.push(Record::DeliveryEnded(id));
            }
        }
        let (reason, died_at) = (letter.letter.reason, letter.letter.died_at);
        records.push(Record::Settled {
            message: seq,
            from: MessageState::Waiting,
            state: state_of(reason),
            at: died_at,
            to: None,
            error: letter.error,
        });
        records.push(Record::DeadLetter { message: seq, reason, at: died_at });
        message
    }

    pub(super) fn write_imports(&mut self) {
        for (records, import) in std::mem::take(&mut self.imports.unwritten) {
            match self.store.try_write(records) {
                Ok(ticket) => self.imports.written.push((ticket, import)),
                Err(_full) => respond(import.reply, Err(Refusal::DiskBusy)),
            }
        }
    }

    /// Imports up to this ticket are on disk.
    pub(super) fn imported(&mut self, up_to: Ticket) {
        let (done, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.imports.written)
            .into_iter()
            .partition(|(ticket, _)| *ticket <= up_to);
        self.imports.written = rest;
        for (_, import) in done {
            for (message, state) in &import.letters {
                self.totals.accepted += 1;
                if *state == MessageState::Expired {
                    self.totals.expired += 1;
                } else {
                    self.totals.dead += 1;
                }
                self.letters.insert(message.seq);
                let (seq, state) = (message.seq, *state);
                self.tell(Event::Accepted(message.clone()));
                let (to, took_micros, error, retry_at) = (None, None, None, None);
                self.tell(Event::Moved {
                    seq,
                    state,
                    to,
                    last_asked: None,
                    took_micros,
                    error,
                    retry_at,
                });
            }
            respond(import.reply, Ok(Reply::Imported(import.letters.len())));
        }
    }

    /// The disk did not take these.
    pub(super) fn import_failed(&mut self, tickets: &[Ticket]) {
        let (failed, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.imports.written)
            .into_iter()
            .partition(|(ticket, _)| tickets.contains(ticket));
        self.imports.written = rest;
        for (_, import) in failed {
            respond(import.reply, Err(Refusal::StorageFailed));
        }
    }
}
