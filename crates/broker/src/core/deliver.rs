//! How a message reaches its recipients, and what follows from their answers.

use std::collections::HashSet;
use std::sync::Arc;

use switchboard_model::{
    Address, AgentId, Answer, AttemptOutcome, ConnectionId, DeliveryId, DeliveryState, Event,
    Message, MessageState, Pattern, Topic,
};
use switchboard_store::{AttemptRecord, DeliveryRecord, Record};

use super::{Core, Open};
use crate::broker::{Caller, Outgoing};
use crate::dispatch::{Role, Step, Verdict};
use crate::route;
use crate::subscriptions::Subscription;

impl Core {
    /// Puts a message into the line of one recipient.
    pub(super) fn ask(&mut self, seq: u64, to: Arc<Subscription>, role: Role) {
        let Some(journey) = self.journeys.get_mut(&seq) else {
            return;
        };
        journey.dispatch.asked(&to, role);
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
    fn pump(&mut self, id: ConnectionId) {
        let Some(connection) = self.registry.connection_mut(id) else { return };
        let (most, most_bytes) = (self.settings.in_flight, self.settings.in_flight_bytes);
        while let Some(delivery) = connection.line.next(most, most_bytes) {
            let Some(open) = self.deliveries.get_mut(&delivery) else { continue };
            open.started_at = Some(self.now.wall);
            self.deadlines.push(self.now.monotonic + self.settings.timeout, delivery);
            let outgoing = Outgoing::Deliver { delivery, message: open.message.clone() };
            if connection.outbox.try_send(outgoing).is_err() {
                // The door has gone, or writes nothing any more and will soon be gone; the news of
                // that settles this delivery.
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
            payload: answer.payload.clone(),
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
                Step::Ask(planned) => match self.live(&planned) {
                    Some(next) if self.has_room(&next) => {
                        return self.ask(seq, next, Role::Handler);
                    }
                    Some(full) => step = self.pass_over(seq, &full),
                    // It has unsubscribed or gone since the message was planned.
                    None => match self.journeys.get_mut(&seq) {
                        Some(journey) => step = journey.dispatch.next(),
                        None => return,
                    },
                },
            }
        }
    }

    /// The subscription as it is now: its agent may have changed its policy since.
    fn live(&self, planned: &Subscription) -> Option<Arc<Subscription>> {
        let connection = self.registry.connection(planned.connection)?;
        connection.subscriptions.iter().find(|one| one.pattern == planned.pattern).cloned()
    }

    fn has_room(&self, to: &Subscription) -> bool {
        let connection = self.registry.connection(to.connection);
        connection.is_some_and(|one| one.line.waiting() < self.settings.queue)
    }

    /// Tells the sender that this one was not asked.
    fn pass_over(&mut self, seq: u64, full: &Subscription) -> Step {
        let Some(journey) = self.journeys.get_mut(&seq) else { return Step::Wait };
        journey.dispatch.asked(full, Role::Handler);
        let words = format!("{} has as much waiting as it may have", full.agent);
        let answer = failed(AttemptOutcome::QueueFull, words);
        journey.dispatch.answered(full, Role::Handler, answer)
    }

    /// Everyone has been asked. Before a message is given up for want of a recipient, whoever
    /// listens now is asked; one for an agent that is known waits for it.
    fn arrive(&mut self, seq: u64, verdict: Verdict) {
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        let message = journey.dispatch.message.clone();
        if verdict.is_for_want_of_a_recipient() {
            let now = route::plan(&self.subscriptions, &message.address.topic());
            if journey.dispatch.ask_also(now.chain) {
                journey.dispatch.reopen();
                return self.go_on(seq, None);
            }
        }
        journey.asked_once = true;
        match &message.address {
            Address::Agent(id)
                if verdict.is_for_want_of_a_recipient() && self.registry.knows(id) =>
            {
                journey.dispatch.reopen();
                self.registry.mark_changed(id);
                self.parking.park(message, None);
            }
            Address::Agent(_) | Address::Topic(_) => self.settle(&message, verdict),
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

    /// Someone has come who may take what waited. What waits for one agent is for that agent: a
    /// pattern of another that happens to match does not take it.
    pub(super) fn deliver_parked(&mut self, pattern: &Pattern, by: &AgentId) {
        let is_for = |topic: &Topic| topic.agent().is_none_or(|agent| agent == *by);
        for message in self.parking.take_matching(pattern, is_for) {
            if let Some(agent) = message.address.agent() {
                self.registry.mark_changed(agent);
            }
            let mut plan = route::plan(&self.subscriptions, &message.address.topic());
            // They have seen it.
            plan.observers.retain(|one| one.agent == *by);
            // Its sender may not have been answered yet, if it was parked a moment ago.
            let earlier = self.journeys.remove(&message.seq);
            let (on_disk, reply) = earlier.map_or((true, None), |one| (one.on_disk, one.reply));
            self.set_off(message, plan, on_disk, reply);
        }
    }

    /// Takes back what has not been handed over; what has will be answered to nobody. Those behind
    /// in the lines move up.
    pub(super) fn take_back_deliveries(&mut self, of: &HashSet<u64>) {
        let gone: Vec<(DeliveryId, ConnectionId)> = self
            .deliveries
            .iter()
            .filter(|(_, open)| of.contains(&open.seq))
            .map(|(id, open)| (*id, open.to.connection))
            .collect();
        for (delivery, connection) in &gone {
            self.deliveries.remove(delivery);
            if let Some(connection) = self.registry.connection_mut(*connection) {
                connection.line.done(*delivery);
            }
        }
        for (_, connection) in gone {
            self.pump(connection);
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
