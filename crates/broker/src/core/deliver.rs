//! How a message reaches its recipients, and what follows from their answers.

use std::sync::Arc;

use switchboard_model::{
    Address, Answer, AttemptOutcome, DeliveryId, DeliveryState, Event, Message, MessageState,
    Pattern,
};
use switchboard_store::{AttemptRecord, DeliveryRecord, Record};

use super::{Core, Journey, Open};
use crate::broker::{Caller, Outgoing};
use crate::dispatch::{Dispatch, Role, Step, Verdict};
use crate::route;
use crate::subscriptions::Subscription;

impl Core {
    /// Puts a message into the line of one recipient.
    pub(super) fn ask(&mut self, seq: u64, to: Arc<Subscription>, role: Role) {
        let Some(journey) = self.journeys.get_mut(&seq) else {
            return;
        };
        journey.dispatch.asked();
        let message = journey.dispatch.message.clone();
        let delivery = DeliveryId(self.next_delivery);
        self.next_delivery += 1;
        let record = Record::Delivery(DeliveryRecord {
            id: delivery,
            message: seq,
            agent: to.agent.clone(),
            door: to.door,
            pattern: Some(to.pattern.to_string()),
            at: self.now.wall,
        });
        // With the message itself while that has not left for the disk: one fact, one write.
        if self.receipts.is_of_this_pass(seq) {
            self.accepted.push(record);
        } else {
            self.bookkeeping.push(record);
        }
        let connection = to.connection;
        let (priority, bytes) = (message.priority, message.payload.as_str().len());
        self.registry.count_received(&to.agent);
        self.deliveries.insert(delivery, Open { seq, role, to, message, started_at: None });
        if let Some(connection) = self.registry.connection_mut(connection) {
            connection.line.push(priority, delivery, bytes);
        }
        self.pump(connection);
    }

    /// Hands over what the recipient may hold.
    fn pump(&mut self, id: switchboard_model::ConnectionId) {
        let Some(connection) = self.registry.connection_mut(id) else {
            return;
        };
        let (most, most_bytes) = (self.settings.in_flight, self.settings.in_flight_bytes);
        while let Some(delivery) = connection.line.next(most, most_bytes) {
            let Some(open) = self.deliveries.get_mut(&delivery) else {
                continue;
            };
            open.started_at = Some(self.now.wall);
            self.deadlines.push(self.now.monotonic + self.settings.timeout, delivery);
            let outgoing = Outgoing::Deliver { delivery, message: open.message.clone() };
            if connection.outbox.try_send(outgoing).is_err() {
                // The door has gone; the news of that is on its way and settles this delivery.
                return;
            }
        }
    }

    /// Hears a recipient's answer. One that is late or not its own changes nothing.
    pub(super) fn hear(&mut self, caller: Caller, delivery: DeliveryId, answer: Answer) {
        let Caller::Connection(from) = caller else {
            return;
        };
        if self.deliveries.get(&delivery).is_some_and(|open| open.to.connection == from) {
            self.answered(delivery, answer);
        }
    }

    pub(super) fn recipient_gone(&mut self, delivery: DeliveryId) {
        self.answered(delivery, failed(AttemptOutcome::Disconnected, "the connection ended"));
    }

    pub(super) fn enforce_deadlines(&mut self) {
        let open = &self.deliveries;
        let due = self.deadlines.take_due(self.now.monotonic, |id| open.contains_key(&id));
        let seconds = self.settings.timeout.as_secs_f64();
        for delivery in due {
            let words = format!("no answer within {seconds} s");
            self.answered(delivery, failed(AttemptOutcome::TimedOut, words));
        }
        for message in self.parking.take_due(self.now.monotonic) {
            self.settle(&message, Verdict::nobody_came_back());
        }
    }

    fn answered(&mut self, delivery: DeliveryId, answer: Answer) {
        let Some(open) = self.deliveries.remove(&delivery) else {
            return;
        };
        if let Some(connection) = self.registry.connection_mut(open.to.connection) {
            connection.line.done(delivery);
        }
        if answer.outcome != AttemptOutcome::Disconnected {
            self.registry.touch(&open.to.agent, self.now.wall);
        }
        let processed = answer.outcome == AttemptOutcome::Processed;
        self.bookkeeping.push(Record::Attempt(AttemptRecord {
            delivery,
            number: 1,
            started_at: open.started_at.unwrap_or(self.now.wall),
            ended_at: self.now.wall,
            outcome: answer.outcome,
            message: answer.message.clone(),
            state: if processed { DeliveryState::Processed } else { DeliveryState::Failed },
        }));
        self.go_on(open.seq, Some((&open.to, open.role, answer)));
        self.pump(open.to.connection);
    }

    /// Takes the next step of a message, and those after it, until someone has to answer first.
    pub(super) fn go_on(&mut self, seq: u64, answer: Option<(&Subscription, Role, Answer)>) {
        let Some(journey) = self.journeys.get_mut(&seq) else {
            return;
        };
        let mut step = match answer {
            Some((by, role, answer)) => journey.dispatch.answered(by, role, answer),
            None => journey.dispatch.next(),
        };
        loop {
            match step {
                Step::Wait => return,
                Step::Settle(verdict) => return self.arrive(seq, verdict),
                Step::Ask(next) if self.is_live(&next) => {
                    return self.ask(seq, next, Role::Handler);
                }
                // It has unsubscribed or gone since the message was planned.
                Step::Ask(_) => match self.journeys.get_mut(&seq) {
                    Some(journey) => step = journey.dispatch.next(),
                    None => return,
                },
            }
        }
    }

    fn is_live(&self, subscription: &Subscription) -> bool {
        let connection = self.registry.connection(subscription.connection);
        connection
            .is_some_and(|one| one.subscriptions.iter().any(|live| live.id == subscription.id))
    }

    /// Everyone has been asked. A message for one agent that has gone meanwhile waits for it.
    fn arrive(&mut self, seq: u64, verdict: Verdict) {
        let Some(journey) = self.journeys.get_mut(&seq) else {
            return;
        };
        journey.asked_once = true;
        let message = journey.dispatch.message.clone();
        let away = match &message.address {
            Address::Agent(id) => verdict.is_agent_gone() && self.registry.knows(id),
            Address::Topic(_) => false,
        };
        if away {
            journey.dispatch.reopen();
            self.parking.park(message, None);
        } else {
            self.settle(&message, verdict);
        }
        self.answer_sender(seq);
    }

    fn settle(&mut self, message: &Message, verdict: Verdict) {
        self.totals.waiting -= 1;
        let (state, to, error) = match verdict {
            Verdict::Processed(agent) => {
                self.totals.processed += 1;
                (MessageState::Processed, Some(agent), None)
            }
            Verdict::Dead { reason, error } => {
                self.totals.dead += 1;
                let (message, at) = (message.seq, self.now.wall);
                self.bookkeeping.push(Record::DeadLetter { message, reason, at });
                (MessageState::Dead, None, Some(error))
            }
        };
        self.tell(Event::Moved {
            seq: message.seq,
            state,
            to: to.clone(),
            took_micros: self.now.wall.micros_since(message.accepted_at),
            error: error.as_deref().map(Into::into),
        });
        self.bookkeeping.push(Record::Settled {
            message: message.seq,
            from: MessageState::Waiting,
            state,
            at: self.now.wall,
            to,
            error,
        });
    }

    /// Someone has come who may take what waited.
    pub(super) fn deliver_parked(&mut self, pattern: &Pattern) {
        for message in self.parking.take_matching(pattern) {
            let plan = route::plan(&self.subscriptions, &message.address.topic());
            let (dispatch, observers) = Dispatch::of_plan(message.clone(), plan);
            match self.journeys.get_mut(&message.seq) {
                // Parked in this very moment, and its sender not answered yet.
                Some(journey) => {
                    journey.dispatch = dispatch;
                    journey.asked_once = false;
                }
                None => {
                    let journey =
                        Journey { dispatch, on_disk: true, asked_once: false, reply: None };
                    self.journeys.insert(message.seq, journey);
                }
            }
            self.set_off(message.seq, observers);
        }
    }

    /// Takes back what has not been handed over; what has will be answered to nobody.
    pub(super) fn forget_deliveries_of(&mut self, seq: u64) {
        let gone: Vec<DeliveryId> =
            self.deliveries.iter().filter(|(_, open)| open.seq == seq).map(|(id, _)| *id).collect();
        for delivery in gone {
            let Some(open) = self.deliveries.remove(&delivery) else {
                continue;
            };
            if let Some(connection) = self.registry.connection_mut(open.to.connection) {
                connection.line.done(delivery);
            }
        }
    }
}

fn failed(outcome: AttemptOutcome, words: impl Into<String>) -> Answer {
    Answer {
        outcome,
        stop: false,
        stops_only_on_request: false,
        message: Some(words.into()),
        payload: None,
    }
}
