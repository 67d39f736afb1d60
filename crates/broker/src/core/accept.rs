//! How a message comes in: may it, to whom, on disk, on its way.

use std::sync::Arc;

use switchboard_model::{
    Address, AgentId, Door, Event, Message, MessageId, MessageState, Reply, Send, Topic, Wait,
};
use switchboard_store::Record;
use uuid::Uuid;

use super::letters::Replaced;
use super::{Core, Journey, respond};
use crate::Refusal;
use crate::broker::{Caller, ReplyTo};
use crate::dispatch::{Dispatch, Role};
use crate::route::{self, Plan};
use crate::subscriptions::Subscription;

/// Accepted messages that may wait for the disk, and their payloads in bytes. Beyond either,
/// publishers are told to try again.
const UNWRITTEN: usize = 20_000;
const UNWRITTEN_BYTES: usize = 32 << 20;

impl Core {
    pub(super) fn accept(&mut self, caller: Caller, send: Send, reply: Option<ReplyTo>) {
        let topic = send.address.topic();
        let plan = route::plan(&self.subscriptions, &topic);
        if self.is_a_line_full(&plan) {
            // What came in this pass has not been handed over; perhaps there is room after all.
            self.hand_over();
        }
        let (from, door) = match self.may_send(caller, &plan, &topic) {
            Ok(sender) => sender,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        let wait = send.wait;
        let message = self.take_in(Origin { from, door, replaces: None }, send);
        self.set_off(message, plan, reply.map(|reply| (reply, wait)), None);
    }

    /// Everything that can be refused is refused here, before anything has happened.
    fn may_send(
        &self,
        caller: Caller,
        plan: &Plan,
        topic: &Topic,
    ) -> Result<(AgentId, Door), Refusal> {
        let sender = match caller {
            Caller::Operator => (AgentId::operator(), Door::Console),
            Caller::Connection(id) => {
                let connection = self.registry.connection(id).ok_or(Refusal::NotJoined)?;
                (connection.agent.clone().ok_or(Refusal::NotJoined)?, connection.door)
            }
        };
        self.has_room_for(plan, topic)?;
        Ok(sender)
    }

    /// Whether one more message can be taken in on this topic.
    pub(super) fn has_room_for(&self, plan: &Plan, topic: &Topic) -> Result<(), Refusal> {
        if self.stop_by.is_some() {
            return Err(Refusal::Stopping);
        }
        let unwritten = (self.receipts.outstanding(), self.receipts.outstanding_bytes());
        if unwritten.0 >= UNWRITTEN || unwritten.1 >= UNWRITTEN_BYTES {
            return Err(Refusal::DiskBusy);
        }
        // Those further down the chain may never be asked; a full line passes them over then.
        for one in plan.observers.iter().chain(plan.chain.first()) {
            let waiting =
                self.registry.connection(one.connection).map_or(0, |to| to.line.waiting());
            self.check_queue(&one.agent, waiting + self.resting_for(&one.agent))?;
        }
        match topic.agent() {
            Some(agent) if plan.chain.is_empty() => {
                self.check_queue(&agent, self.parking.count(topic) + self.resting_for(&agent))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn is_a_line_full(&self, plan: &Plan) -> bool {
        plan.observers.iter().chain(plan.chain.first()).any(|one| !self.has_room(one))
    }

    /// Deliveries to this agent that are to be tried again: they are a queue, too.
    fn resting_for(&self, agent: &AgentId) -> usize {
        self.resting.get(agent).copied().unwrap_or(0)
    }

    fn check_queue(&self, agent: &AgentId, waiting: usize) -> Result<(), Refusal> {
        if waiting >= self.settings.queue {
            return Err(Refusal::QueueFull { agent: agent.clone(), waiting });
        }
        Ok(())
    }

    pub(super) fn take_in(&mut self, origin: Origin, send: Send) -> Arc<Message> {
        let message = Arc::new(Message {
            seq: self.next_seq,
            id: MessageId(Uuid::now_v7()),
            from: origin.from,
            address: send.address,
            kind: send.kind,
            capability: send.capability,
            priority: send.priority,
            door: origin.door,
            correlation: send.correlation,
            conversation: send.conversation,
            payload: send.payload,
            accepted_at: self.now.wall,
            expires_at: send.expires_at,
            replay_of: origin.replaces,
        });
        self.next_seq += 1;
        self.accepted.push(Record::Message(message.clone()));
        self.receipts.accepted(message.seq, message.payload.bytes());
        self.totals.accepted += 1;
        self.totals.waiting += 1;
        self.registry.count_sent(&message.from, self.now.wall);
        self.tell(Event::Accepted(message.clone()));
        self.mind_expiry(&message);
        self.held.add(&message);
        message
    }

    /// Sends a message on its way: asks the first of the chain and every observer.
    pub(super) fn set_off(
        &mut self,
        message: Arc<Message>,
        plan: Plan,
        reply: Option<(ReplyTo, Wait)>,
        replaces: Option<Replaced>,
    ) {
        let seq = message.seq;
        let dispatch = self.dispatch(message, plan.chain, &plan.observers);
        let (on_disk, receipt, parked) = (false, None, false);
        let journey = Journey { dispatch, on_disk, receipt, parked, reply, replaces };
        self.journeys.insert(seq, journey);
        for observer in plan.observers {
            self.ask(seq, observer, Role::Observer);
        }
        self.go_on(seq);
    }

    /// Observers do not stand in for an agent that is known and may come back.
    pub(super) fn dispatch(
        &self,
        message: Arc<Message>,
        chain: Vec<Arc<Subscription>>,
        observers: &[Arc<Subscription>],
    ) -> Dispatch {
        let observers_settle = match &message.address {
            Address::Topic(_) => true,
            Address::Agent(id) => {
                !self.registry.knows(id) || observers.iter().any(|one| one.agent == *id)
            }
        };
        Dispatch::new(message, chain, observers_settle)
    }

    /// The disk did not take these messages: they were never accepted.
    pub(super) fn withdraw(&mut self, refused: Vec<u64>, why: &Refusal) {
        if refused.is_empty() {
            return;
        }
        self.take_back_deliveries(&refused.iter().copied().collect());
        for seq in refused {
            let Some(journey) = self.journeys.remove(&seq) else { continue };
            self.totals.accepted -= 1;
            match journey.dispatch.state() {
                MessageState::Processed => self.totals.processed -= 1,
                MessageState::Dead => self.totals.dead -= 1,
                MessageState::Expired => self.totals.expired -= 1,
                MessageState::Waiting | MessageState::Discarded | MessageState::Refused => {
                    self.totals.waiting -= 1;
                }
            }
            self.letters.remove(&seq);
            self.held.remove(seq);
            self.parking.remove(&journey.dispatch.message);
            if let Some(replaced) = journey.replaces {
                self.reopen_replaced(replaced);
            }
            self.tell(Event::Withdrawn { seq });
            respond(journey.reply.map(|(reply, _)| reply), Err(why.clone()));
        }
    }

    /// Tells the sender, once the message is on disk and as far as the sender wants to wait, and
    /// forgets what nobody waits for.
    pub(super) fn answer_sender(&mut self, seq: u64) {
        let Some(journey) = self.journeys.get_mut(&seq) else {
            return;
        };
        if !journey.on_disk {
            return;
        }
        let receipt = match &journey.reply {
            Some((_, Wait::Accepted)) => Some(journey.dispatch.receipt()),
            Some((_, Wait::FirstAttempts)) => journey.receipt.take(),
            None => None,
        };
        if let Some(receipt) = receipt {
            respond(journey.reply.take().map(|(reply, _)| reply), Ok(Reply::Sent(receipt)));
        }
        let settled = journey.dispatch.state() != MessageState::Waiting;
        if journey.reply.is_none() && journey.dispatch.is_idle() && (settled || journey.parked) {
            self.journeys.remove(&seq);
        }
    }
}

/// Where a message comes from.
pub(super) struct Origin {
    /// Who sent it.
    pub(super) from: AgentId,
    /// The door it came in by.
    pub(super) door: Door,
    /// The dead letter in whose place it is sent.
    pub(super) replaces: Option<MessageId>,
}
