//! How a message comes in: may it, to whom, on disk, on its way.

use std::sync::Arc;

use switchboard_model::{
    Address, AgentId, Code, ConversationId, Decision, Door, Event, Kind, Message, MessageId,
    MessageState, MessageSummary, Payload, Reply, Send, Topic, Trace, Wait, fail_here,
};
use switchboard_store::Record;

use super::letters::Replaced;
use super::permit::Said;
use super::{Core, Journey, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::dispatch::{Dispatch, Role, Verdict};
use crate::replies::ReplyTo;
use crate::route::Plan;
use crate::subscriptions::Subscription;

/// Accepted messages that may wait for the disk, and their payloads in bytes. Beyond either,
/// publishers are told to try again.
const UNWRITTEN: usize = 20_000;
const UNWRITTEN_BYTES: usize = 32 << 20;
/// As much of a refused message is kept.
const REFUSED_BYTES: usize = 4 << 10;

impl Core {
    pub(super) fn accept(&mut self, caller: Caller, mut send: Send, reply: Option<ReplyTo>) {
        fail_here("core");
        let mut origin = match self.origin(caller) {
            Ok(origin) => origin,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        self.prepare(&origin, &mut send);
        self.make_receiver(caller, &send.address);
        if let Some(seq) = self.call_answered_by(&origin.from, &send) {
            return self.answer_call(seq, origin, send, reply);
        }
        if let Err(refusal) = self.may_answer_nothing(&origin, &send) {
            return self.refuse(origin, send, refusal, reply);
        }
        match self.may_send(&mut origin, &send) {
            Ok(plan) => {
                let wait = send.wait;
                let message = self.take_in(origin, send);
                let reply = reply.map(|reply| (reply, wait));
                if self.hears_announcement(&message) && plan.is_empty() {
                    return self.set_off_settled(&message, AgentId::switchboard(), reply);
                }
                self.open_call(&message, &plan);
                self.set_off(message, plan, reply, None);
            }
            Err(refusal) => self.refuse(origin, send, refusal, reply),
        }
    }

    /// Who speaks, and by which door.
    pub(super) fn origin(&self, caller: Caller) -> Result<Origin, Refusal> {
        match caller {
            Caller::Operator => Ok(Origin::of(AgentId::operator(), Door::Console)),
            Caller::Connection(id) => {
                let connection = self.registry.connection(id).ok_or(Refusal::NotJoined)?;
                let agent = connection.agent.clone().ok_or(Refusal::NotJoined)?;
                Ok(Origin::of(agent, connection.door))
            }
        }
    }

    /// What the broker knows better than the sender: who is meant by an alias, how urgent it may be,
    /// and where it stands in its trace.
    pub(super) fn prepare(&self, origin: &Origin, send: &mut Send) {
        if let Address::Agent(id) = &send.address {
            send.address = Address::Agent(self.registry.resolve(id));
        }
        if let Some(token) = self.registry.token(&origin.from) {
            send.priority = send.priority.min(token.ceiling);
        }
        if send.kind != Kind::Response
            && let Some(context) = &mut send.context
            && context.trace.as_ref().is_none_or(|trace| !trace.is_well_formed())
        {
            Arc::make_mut(context).trace = Some(Trace::begin());
        }
    }

    /// Everything that can be refused is refused here, before anything has happened.
    fn may_send(&mut self, origin: &mut Origin, send: &Send) -> Result<Plan, Refusal> {
        self.permit(origin, send)?;
        let said = Said::new(origin, send);
        let plan = self.plan(&said);
        self.may_be_heard(&said, &plan)?;
        let topic = send.address.topic();
        if self.is_a_line_full(&plan) {
            // What came in this pass has not been handed over; perhaps there is room after all.
            self.hand_over();
        }
        self.has_room_for(&plan, &topic)?;
        Ok(plan)
    }

    /// What was tried is kept, where a rule, a schema or a name was in its way; that there is no room
    /// now is told to the sender alone.
    pub(super) fn refuse(
        &mut self,
        origin: Origin,
        send: Send,
        refusal: Refusal,
        reply: Option<ReplyTo>,
    ) {
        let is_kept = match refusal.code() {
            Code::Forbidden | Code::SchemaViolation | Code::UnknownCapability | Code::NotFound => {
                true
            }
            Code::NotJoined
            | Code::AlreadyJoined
            | Code::InvalidClient
            | Code::InvalidRequest
            | Code::UnknownMethod
            | Code::AlreadySubscribed
            | Code::NotSubscribed
            | Code::Unauthorized
            | Code::LockedOut
            | Code::Taken
            | Code::Conflict
            | Code::TooLarge
            | Code::Busy
            | Code::Stopping
            | Code::StorageFailed
            | Code::Internal => false,
        };
        if is_kept {
            let send = Send { payload: shortened(send.payload), ..send };
            let message = self.message(origin, send);
            let words = refusal.to_string();
            tracing::info!(message_id = %message.id, from = %message.from, topic = %message.address.topic(), "refused: {words}");
            self.count_decision(&message);
            self.accepted.push(Record::Refused { message: message.clone(), error: words.clone() });
            self.registry.touch(&message.from, self.now);
            self.metrics.refused();
            self.tell(Event::Refused(message, words.into()));
        }
        respond(reply, Err(refusal));
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
            let waiting = self.registry.connection(one.connection).map_or(0, |to| to.waiting());
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

    fn message(&mut self, origin: Origin, send: Send) -> Arc<Message> {
        let in_a_mailbox = send.address.agent().is_some_and(|id| self.registry.has_mailbox(id));
        let is_request = send.kind == Kind::Request;
        let waits = is_request && origin.door.answers_by_message();
        // What lies in a mailbox is given up some day, whoever asked.
        let ends = waits || (is_request && in_a_mailbox);
        // One that fetches its messages waits as long as they do.
        let patience = match origin.door {
            Door::Lobby | Door::Collaboration => self.settings.timeout,
            Door::Aacp | Door::Bus | Door::Discovery | Door::Console => self.settings.mail_patience,
        };
        let within = send.answer_within.unwrap_or(patience);
        let (seq, id) = (self.next_seq, MessageId::numbered(self.next_seq));
        self.next_seq += 1;
        // A question that somebody will answer by another message begins a conversation.
        let conversation = send.conversation.or_else(|| {
            let key = waits.then(|| send.correlation.clone().unwrap_or_else(|| id.to_string()))?;
            ConversationId::parse(&key)
        });
        Arc::new(Message {
            seq,
            id,
            from: origin.from,
            address: send.address,
            kind: send.kind,
            capability: send.capability,
            priority: send.priority,
            door: origin.door,
            correlation: send.correlation,
            conversation,
            payload: send.payload,
            dialect: send.dialect,
            context: send.context,
            decision: origin.decision,
            answer_by: ends.then(|| self.now.wall.plus(within)),
            accepted_at: self.now.wall,
            expires_at: send.expires_at,
            replay_of: origin.replaces,
        })
    }

    pub(super) fn take_in(&mut self, origin: Origin, send: Send) -> Arc<Message> {
        let message = self.message(origin, send);
        self.count_decision(&message);
        self.accepted.push(Record::Message(message.clone()));
        self.put_in_mailbox(&message);
        self.receipts.accepted(message.seq, message.payload.bytes(), self.now.monotonic);
        self.totals.accepted += 1;
        self.totals.waiting += 1;
        self.registry.count_sent(&message.from, self.now);
        self.metrics.sent(&message);
        if let Some(id) = &message.conversation {
            self.sessions.heard(id, &message.from, || summary(&message));
        }
        tracing::debug!(
            message_id = %message.id,
            conversation_id = message.conversation.as_ref().map(|id| &*id.0),
            from = %message.from,
            topic = %message.address.topic(),
            kind = message.kind.as_str(),
            door = %message.door,
            "accepted"
        );
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
        let waits_for_disk = matches!(reply, Some((_, Wait::Accepted)));
        if !waits_for_disk {
            self.receipts.waits_for_answers();
        }
        let journey = Journey {
            dispatch,
            on_disk: false,
            unanswered: !waits_for_disk,
            receipt: None,
            parked: false,
            reply,
            replaces,
            permitted_by: self.rules_version,
        };
        self.journeys.insert(seq, journey);
        for observer in plan.observers {
            self.ask(seq, observer, Role::Observer);
        }
        self.go_on(seq);
    }

    /// The message has reached the one it is for in another way than by a delivery.
    pub(super) fn set_off_settled(
        &mut self,
        message: &Arc<Message>,
        by: AgentId,
        reply: Option<(ReplyTo, Wait)>,
    ) {
        let dispatch = Dispatch::new(message.clone(), Vec::new(), true);
        let journey = Journey {
            dispatch,
            on_disk: false,
            unanswered: false,
            receipt: None,
            parked: false,
            reply,
            replaces: None,
            permitted_by: self.rules_version,
        };
        self.journeys.insert(message.seq, journey);
        self.end(message, Verdict::Processed(by));
    }

    pub(super) fn dispatch(
        &self,
        message: Arc<Message>,
        chain: Vec<Arc<Subscription>>,
        observers: &[Arc<Subscription>],
    ) -> Dispatch {
        let observers_settle = self.do_observers_settle(&message.address, observers);
        Dispatch::new(message, chain, observers_settle)
    }

    /// Observers do not stand in for an agent that is known and may come back, unless it is one of them.
    pub(super) fn do_observers_settle(
        &self,
        address: &Address,
        observers: &[Arc<Subscription>],
    ) -> bool {
        match address {
            Address::Topic(_) => true,
            Address::Agent(id) => {
                !self.registry.knows(id) || observers.iter().any(|one| one.agent == *id)
            }
        }
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
            self.calls.close(seq);
            self.parking.remove(&journey.dispatch.message);
            if let Some(replaced) = journey.replaces {
                self.reopen_replaced(replaced, seq, journey.dispatch.state());
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
        if journey.receipt.is_some() && std::mem::take(&mut journey.unanswered) {
            self.receipts.answered(seq);
        }
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

/// What was refused is kept to show what was tried; the beginning of it will do.
fn shortened(payload: Payload) -> Payload {
    if payload.bytes() <= REFUSED_BYTES {
        return payload;
    }
    let start: String = payload.as_str().chars().take(REFUSED_BYTES / 4).collect();
    Payload::of_text(&format!("{start}…"))
}

/// A message in short, for the history of its session.
fn summary(message: &Message) -> MessageSummary {
    let topic = message.address.topic();
    let to = message.address.agent().map_or(topic.as_str(), AgentId::as_str);
    MessageSummary {
        id: message.id,
        kind: message.kind,
        from: message.from.clone(),
        to: to.to_owned(),
        summary: message.capability.clone().unwrap_or_else(|| topic.as_str().to_owned()),
        timestamp: message.accepted_at,
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
    /// Whether the rules let it pass, and which.
    pub(super) decision: Option<Decision>,
}

impl Origin {
    pub(super) fn of(from: AgentId, door: Door) -> Self {
        Self { from, door, replaces: None, decision: None }
    }
}
