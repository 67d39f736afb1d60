//! How a message reaches its recipients.

use std::collections::HashSet;
use std::sync::Arc;

use switchboard_model::{
    AgentId, AttemptId, AttemptOutcome, ConnectionId, DeliveryId, Door, Kind, Message,
};
use switchboard_store::{DeliveryRecord, Record};
use tokio::time::Instant;

use super::answers::failed;
use super::unrouted::wrapped;
use super::{Core, Open, Phase};
use crate::broker::Outgoing;
use crate::dispatch::{Role, Step};
use crate::subscriptions::Subscription;

/// Deliveries whose messages are read from disk together.
const LOADED_AT_ONCE: usize = 64;

impl Core {
    /// Puts a message into the line of one recipient.
    pub(super) fn ask(&mut self, seq: u64, to: Arc<Subscription>, role: Role) {
        let Some(journey) = self.journeys.get_mut(&seq) else {
            return;
        };
        let delivery = DeliveryId(self.next_delivery);
        self.next_delivery += 1;
        journey.dispatch.asked(delivery, &to, role);
        let (message, permitted_by) = (journey.dispatch.message.clone(), journey.permitted_by);
        let record = Record::Delivery(DeliveryRecord {
            id: delivery,
            message: seq,
            agent: to.agent.clone(),
            door: to.door,
            pattern: Some(to.pattern.to_string()),
            observer: role == Role::Observer,
            at: self.now.wall,
        });
        // With the message itself while that has not left for the disk: one fact, one write.
        if self.receipts.is_unwritten(seq) {
            self.accepted.push(record);
        } else {
            self.bookkeeping.push(record);
        }
        let open = Open { seq, role, to, message, attempt: 1, phase: Phase::InLine, permitted_by };
        self.stand_in_line(delivery, open);
    }

    /// Moves a delivery on.
    pub(super) fn set_phase(&mut self, delivery: DeliveryId, phase: Phase) {
        let Some(open) = self.deliveries.get_mut(&delivery) else { return };
        let (agent, before) = (open.to.agent.clone(), std::mem::replace(&mut open.phase, phase));
        self.count_resting(&agent, before, phase);
    }

    /// A delivery has come to its end, or is kept elsewhere.
    pub(super) fn close(&mut self, delivery: DeliveryId) -> Option<Open> {
        let open = self.deliveries.remove(&delivery)?;
        self.count_resting(&open.to.agent.clone(), open.phase, Phase::InLine);
        Some(open)
    }

    fn count_resting(&mut self, agent: &AgentId, before: Phase, after: Phase) {
        match (before == Phase::Resting, after == Phase::Resting) {
            (false, true) => *self.resting.entry(agent.clone()).or_default() += 1,
            (true, false) => {
                if let Some(count) = self.resting.get_mut(agent) {
                    *count -= 1;
                    if *count == 0 {
                        self.resting.remove(agent);
                    }
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    pub(super) fn stand_in_line(&mut self, delivery: DeliveryId, open: Open) {
        let id = open.to.connection;
        if open.to.door.answers_by_message() {
            self.await_answer(&open.message);
        }
        self.registry.count_received(&open.to.agent);
        if let Some(connection) = self.registry.connection_mut(id) {
            let (priority, bytes) = (open.message.priority, open.message.payload.bytes());
            let (escalation, now) = (&self.settings.escalation, self.now.monotonic);
            connection.line.push(priority, delivery, bytes, escalation, now);
        }
        self.deliveries.insert(delivery, open);
        self.ready(id);
    }

    /// At the end of the pass this connection is handed what it may hold.
    pub(super) fn ready(&mut self, id: ConnectionId) {
        if self.ready.last() != Some(&id) {
            self.ready.push(id);
        }
    }

    /// Hands over what recipients may hold. Once in a pass, so that the most urgent of it goes first.
    pub(super) fn hand_over(&mut self) {
        // What is refused here is told to its sender, who may then have something to be handed, too.
        while !self.ready.is_empty() {
            let mut ready = std::mem::take(&mut self.ready);
            ready.sort_unstable();
            ready.dedup();
            for id in ready {
                self.hand_over_to(id);
            }
        }
    }

    fn hand_over_to(&mut self, id: ConnectionId) {
        let (most, most_bytes) = (self.settings.in_flight, self.settings.in_flight_bytes);
        let mut to_load = Vec::new();
        loop {
            let Some(connection) = self.registry.connection_mut(id) else { return };
            if connection.loading || to_load.len() == LOADED_AT_ONCE {
                break;
            }
            let (escalation, now) = (&self.settings.escalation, self.now.monotonic);
            let Some(delivery) = connection.line.next(most, most_bytes, escalation, now) else {
                break;
            };
            if self.is_forbidden_now(delivery) {
                let words = "a rule that was made since forbids it";
                self.answered(delivery, failed(AttemptOutcome::Forbidden, words));
                continue;
            }
            if self.hold_while_busy(id, delivery) {
                continue;
            }
            let Some(open) = self.deliveries.get_mut(&delivery) else { continue };
            // Those behind one that must be read from disk wait for it: order matters.
            if !to_load.is_empty() || open.message.payload.is_left_on_disk() {
                open.phase = Phase::Loading;
                to_load.push(delivery);
                continue;
            }
            let message = open.message.clone();
            if !self.hand(delivery, message) {
                return;
            }
        }
        if !to_load.is_empty() {
            self.load(id, to_load);
        }
    }

    /// Hands one delivery to its door. Returns whether the door takes more.
    pub(super) fn hand(&mut self, delivery: DeliveryId, message: Arc<Message>) -> bool {
        let (usual, apart) =
            (self.now.monotonic + self.settings.timeout, self.answer_due_apart(delivery));
        let Some(open) = self.deliveries.get_mut(&delivery) else { return true };
        let message = match open.role {
            Role::Handler | Role::Observer => message,
            Role::DefaultHandler => Arc::new(wrapped(&message)),
        };
        let Some(connection) = self.registry.connection_mut(open.to.connection) else {
            return false;
        };
        open.phase = Phase::Handed(self.now.wall);
        let attempt = AttemptId(delivery, open.attempt);
        match apart {
            Some(due) => self.deadlines.push_apart(due, attempt),
            None => self.deadlines.push(usual, attempt),
        }
        // When it fails, the door has gone, or writes nothing any more and will soon be gone; the
        // news of that settles this delivery.
        connection.outbox.try_send(Outgoing::Deliver { attempt, message }).is_ok()
    }

    /// When silence counts as an answer, where that is not the usual time: for a request whose asker
    /// waits, and which is answered by a message of its own, when the asker stops waiting.
    fn answer_due_apart(&self, delivery: DeliveryId) -> Option<Instant> {
        let by_message =
            |one: &&Open| one.to.door.answers_by_message() && one.message.door != Door::Aacp;
        let open = self.deliveries.get(&delivery).filter(by_message)?;
        self.calls.get(open.seq)?.deadline
    }

    /// Keeps a request from an agent that has said it is busy, until it says otherwise. What answers
    /// its own requests still reaches it.
    fn hold_while_busy(&mut self, id: ConnectionId, delivery: DeliveryId) -> bool {
        let Some(open) = self.deliveries.get(&delivery) else { return false };
        if open.message.kind != Kind::Request || !self.registry.says_busy(&open.to.agent) {
            return false;
        }
        let seq = open.seq;
        if let Some(connection) = self.registry.connection_mut(id) {
            connection.line.done(delivery);
            connection.held.push(delivery);
        }
        self.held_until.add(self.now.monotonic + self.settings.timeout, seq);
        true
    }

    /// Senders whose messages are held for as long as an attempt may take: that they wait is all that can
    /// be told.
    pub(super) fn tell_of_held(&mut self) {
        while let Some(seq) = self.held_until.take_due(self.now.monotonic) {
            if let Some(journey) = self.journeys.get_mut(&seq) {
                journey.is_asked_once();
                self.answer_sender(seq);
            }
        }
    }

    /// An agent is no longer busy: what was held back stands in line again, in its order.
    pub(super) fn let_go_of_held(&mut self, agent: &AgentId) {
        for id in self.registry.connections_of(agent) {
            let Some(connection) = self.registry.connection_mut(id) else { continue };
            for delivery in std::mem::take(&mut connection.held) {
                let Some(open) = self.deliveries.get(&delivery) else { continue };
                let (priority, bytes) = (open.message.priority, open.message.payload.bytes());
                let (escalation, now) = (&self.settings.escalation, self.now.monotonic);
                connection.line.push(priority, delivery, bytes, escalation, now);
            }
            self.ready(id);
        }
    }

    /// Takes the next step of a message.
    pub(super) fn go_on(&mut self, seq: u64) {
        if let Some(journey) = self.journeys.get_mut(&seq) {
            let step = journey.dispatch.next();
            self.follow(seq, step);
        }
    }

    /// Takes this step of a message, and those after it, until someone has to answer first.
    pub(super) fn follow(&mut self, seq: u64, mut step: Step) {
        loop {
            match step {
                Step::Wait => return self.wait(seq),
                Step::AwaitSubscriber(handler) => return self.await_subscriber(seq, handler),
                Step::Settle(verdict) => return self.arrive(seq, verdict),
                Step::Ask(planned) => {
                    let Some(journey) = self.journeys.get_mut(&seq) else { return };
                    let role = journey.dispatch.role(&planned);
                    match self.live(&planned) {
                        Some(next) if self.has_room(&next) => return self.ask(seq, next, role),
                        Some(full) => return self.pass_over(seq, &full, role),
                        // It has unsubscribed or gone since the message was planned.
                        None => match self.journeys.get_mut(&seq) {
                            Some(journey) => step = journey.dispatch.next(),
                            None => return,
                        },
                    }
                }
            }
        }
    }

    /// Somebody has to answer, or is asked again later; then the sender is told so.
    fn wait(&mut self, seq: u64) {
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        if journey.dispatch.is_round_over() {
            journey.is_asked_once();
        }
        self.answer_sender(seq);
    }

    /// The subscription as it is now: its agent may have changed its policy since.
    fn live(&self, planned: &Subscription) -> Option<Arc<Subscription>> {
        let connection = self.registry.connection(planned.connection)?;
        connection.subscriptions.iter().find(|one| one.pattern == planned.pattern).cloned()
    }

    pub(super) fn has_room(&self, to: &Subscription) -> bool {
        let connection = self.registry.connection(to.connection);
        connection.is_some_and(|one| one.waiting() < self.settings.queue)
    }

    /// Tells the sender that this one was not asked. It is a delivery all the same, so that the
    /// message's life shows it.
    fn pass_over(&mut self, seq: u64, full: &Arc<Subscription>, role: Role) {
        self.ask(seq, full.clone(), role);
        let delivery = DeliveryId(self.next_delivery - 1);
        let words = format!("{} has as much waiting as it may have", full.agent);
        self.answered(delivery, failed(AttemptOutcome::QueueFull, words));
    }

    /// Takes back what has not been handed over; what has will be answered to nobody. Those behind
    /// in the lines move up.
    pub(super) fn take_back_deliveries(&mut self, of: &HashSet<u64>) {
        let gone: Vec<DeliveryId> = self
            .deliveries
            .iter()
            .filter(|(_, open)| of.contains(&open.seq))
            .map(|(id, _)| *id)
            .collect();
        for delivery in gone {
            self.take_back(delivery);
        }
    }

    pub(super) fn take_back(&mut self, delivery: DeliveryId) {
        let Some(open) = self.close(delivery) else { return };
        if let Some(connection) = self.registry.connection_mut(open.to.connection) {
            connection.line.done(delivery);
            connection.held.retain(|one| *one != delivery);
        }
        self.ready(open.to.connection);
    }
}
