//! Agents that only make requests: they speak for themselves one request at a time, and fetch what came
//! for them.

use std::collections::VecDeque;

use switchboard_model::{
    Address, AgentId, Answer, AttemptOutcome, ConnectionId, DeadReason, Door, Join, Joined, Kind,
    Mark, Message, Pattern, Policy, Reply, SubscriptionId, Topic, Visit,
};
use switchboard_store::{MailChange, Record, Ticket};
use uuid::Uuid;

use super::members::connection_of;
use super::permit::Said;
use super::{Core, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::dispatch::Verdict;
use crate::replies::ReplyTo;
use crate::subscriptions::Subscription;

/// Agents whose mail is on its way to the disk, by the write that it waits for.
#[derive(Default)]
pub(super) struct Bells {
    unwritten: Vec<AgentId>,
    written: VecDeque<(Ticket, AgentId)>,
}

/// Mailboxes of agents that own no token. In the open setting anybody on this machine makes them.
const MADE: usize = 10_000;

impl Core {
    /// Makes a connection speak for the agent whose token it shows.
    pub(super) fn visit(&mut self, caller: Caller, visit: Visit, reply: Option<ReplyTo>) {
        match self.try_visit(caller, visit) {
            Ok((agent, opened)) => {
                let joined = Joined { server: AgentId::switchboard(), agent, token: None };
                let joined = Ok(Reply::Joined(joined));
                // What lies in a new mailbox must be on disk before it is looked at.
                if opened { self.promise(reply, joined) } else { respond(reply, joined) }
            }
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    fn try_visit(&mut self, caller: Caller, visit: Visit) -> Result<(AgentId, bool), Refusal> {
        let id = connection_of(caller)?;
        let door = self.registry.connection(id).ok_or(Refusal::NotJoined)?.door;
        let agent = match (visit.token, visit.agent) {
            (Some(token), _) => self.registry.owner_of(&token)?,
            (None, Some(claimed)) if self.is_open_to(caller) => self.take_at_its_word(&claimed)?,
            (None, Some(claimed))
                if self.registry.token(&self.registry.resolve(&claimed)).is_some() =>
            {
                return Err(Refusal::TokenMissing(claimed));
            }
            (None, _) => return Err(Refusal::TokenNeeded),
        };
        if self.registry.is_blocked(&agent) {
            return Err(Refusal::Blocked(agent));
        }
        self.registry.visit(id, &agent);
        self.registry.touch(&agent, self.now);
        let opened = door == Door::Aacp && self.open_mailbox(&agent);
        Ok((agent, opened))
    }

    /// Whether this caller needs no token: only on this machine, and only where that is set.
    fn is_open_to(&self, caller: Caller) -> bool {
        let Caller::Connection(id) = caller else { return false };
        self.registry.connection(id).is_some_and(|one| {
            let is_here = one.from.is_none_or(|from| from.is_loopback());
            one.door == Door::Aacp && self.settings.aacp_open && is_here
        })
    }

    /// Where no tokens are asked for, an id that owns one still needs it.
    fn take_at_its_word(&mut self, claimed: &AgentId) -> Result<AgentId, Refusal> {
        let agent = self.registry.resolve(claimed);
        if self.registry.token(&agent).is_some() || self.announced.is_keyed(&agent) {
            return Err(Refusal::TokenMissing(agent));
        }
        self.make_mailbox_for(&agent)?;
        Ok(agent)
    }

    /// An agent that nobody has heard of gets a mailbox, where its id is a UUID.
    fn make_mailbox_for(&mut self, agent: &AgentId) -> Result<(), Refusal> {
        if self.registry.knows(agent) {
            return Ok(());
        }
        if agent.is_reserved() || self.registry.is_named_by_another(agent) {
            return Err(Refusal::ReservedId(agent.clone()));
        }
        if Uuid::parse_str(agent.as_str()).is_err() {
            return Err(Refusal::UnknownAgent(agent.clone()));
        }
        if self.registry.unowned_mailboxes() >= MADE {
            return Err(Refusal::TooManyMailboxes(MADE));
        }
        let join = Join::of(agent.clone(), agent.as_str(), "");
        let record = self.registry.introduce(&join, Door::Aacp, None, self.now);
        self.bookkeeping.push(Record::Agent(record));
        self.open_mailbox(agent);
        Ok(())
    }

    /// In the open setting whoever is written to by a UUID has a mailbox from then on.
    pub(super) fn make_receiver(&mut self, caller: Caller, address: &Address) {
        if let (true, Address::Agent(id)) = (self.is_open_to(caller), address) {
            // One that cannot be made is unknown, and is told so.
            drop(self.make_mailbox_for(id));
        }
    }

    /// What is for this agent waits until it is fetched, what has come before included. Returns whether that
    /// is new.
    pub(super) fn open_mailbox(&mut self, agent: &AgentId) -> bool {
        let Some(record) = self.registry.open_mailbox(agent) else { return false };
        self.bookkeeping
            .push(Record::Agent(switchboard_store::AgentRecord { capabilities: None, ..record }));
        for message in self.parking.on(&Topic::of_agent(agent)) {
            let (agent, message) = (agent.clone(), message.seq);
            self.bookkeeping.push(Record::Mail(MailChange::Arrived { agent, message }));
        }
        self.show_changed_agents();
        true
    }

    /// A message for an agent with a mailbox lies there from its beginning.
    pub(super) fn put_in_mailbox(&mut self, message: &Message) {
        let Some(agent) = message.address.agent().filter(|id| self.registry.has_mailbox(id)) else {
            return;
        };
        let (agent, message) = (agent.clone(), message.seq);
        self.accepted.push(Record::Mail(MailChange::Arrived { agent, message }));
    }

    /// A message waits for its agent, which may have got a mailbox since it was taken in. It is told when that
    /// is on disk.
    pub(super) fn lies_in_mailbox(&mut self, message: &Message) {
        let Some(agent) = message.address.agent().filter(|id| self.registry.has_mailbox(id)) else {
            return;
        };
        let (agent, message) = (agent.clone(), message.seq);
        self.bells.unwritten.push(agent.clone());
        self.bookkeeping.push(Record::Mail(MailChange::Arrived { agent, message }));
    }

    /// What was noted in this pass went to the disk under this ticket.
    pub(super) fn bells_written(&mut self, ticket: Ticket) {
        let agents = std::mem::take(&mut self.bells.unwritten);
        self.bells.written.extend(agents.into_iter().map(|agent| (ticket, agent)));
    }

    /// Rings for everyone whose mail is on disk.
    pub(super) fn ring_up_to(&mut self, ticket: Ticket) {
        while self.bells.written.front().is_some_and(|(at, _)| *at <= ticket) {
            let Some((_, agent)) = self.bells.written.pop_front() else { break };
            self.registry.ring(&agent);
        }
    }

    /// Something that waits for its agent is on disk, where that can fetch it.
    pub(super) fn ring(&self, seq: u64) {
        let Some(journey) = self.journeys.get(&seq).filter(|one| one.on_disk && one.parked) else {
            return;
        };
        if let Some(agent) = journey.dispatch.message.address.agent() {
            self.registry.ring(agent);
        }
    }

    /// An agent has fetched these. What asks for an answer waits for it; anything else has arrived.
    pub(super) fn collect(&mut self, caller: Caller, seqs: Vec<u64>, reply: Option<ReplyTo>) {
        let agent = match self.speaker(caller) {
            Ok((_, agent)) => agent,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        let topic = Topic::of_agent(&agent);
        let mut refused = Vec::new();
        for seq in seqs {
            let parked = self.parking.get(&topic, seq).map(|one| one.message.clone());
            if let Some(message) = &parked
                && !self.may_fetch(message, &agent)
            {
                let (owner, reason) = (agent.clone(), DeadReason::Forbidden);
                let error = "a rule that was made since forbids it".to_owned();
                let removed = MailChange::Removed { agent: owner, message: seq };
                self.bookkeeping.push(Record::Mail(removed));
                self.conclude(seq, &topic, Verdict::Dead { reason, error });
                refused.push(seq);
                continue;
            }
            let (owner, at) = (agent.clone(), self.now.wall);
            self.bookkeeping.push(Record::Mail(MailChange::Read {
                agent: owner,
                message: seq,
                at,
            }));
            if parked.is_none() {
                self.fetch_from_other_door(seq, &agent);
            }
            if let Some(message) = parked {
                self.registry.count_received(&agent);
                if message.kind != Kind::Request {
                    self.conclude(seq, &topic, Verdict::Processed(agent.clone()));
                }
            }
        }
        self.registry.touch(&agent, self.now);
        self.promise(reply, Ok(Reply::Collected { refused }));
    }

    /// What is not in the mailbox is in its owner's hands by another door, or settled just now. What asks for
    /// nothing has arrived, whichever door was first.
    fn fetch_from_other_door(&mut self, seq: u64, agent: &AgentId) {
        let Some(delivery) = self.in_the_hands_of(seq, agent) else { return };
        let kind = self.journeys.get(&seq).map(|journey| journey.dispatch.message.kind);
        if kind.is_some_and(|kind| kind != Kind::Request) {
            let answer = super::answers::failed(AttemptOutcome::Processed, "fetched over HTTP");
            self.take_answer(delivery, answer, false);
        }
    }

    /// Rules may have changed since the message was taken in.
    fn may_fetch(&self, message: &Message, agent: &AgentId) -> bool {
        let topic = message.address.topic();
        let Ok(pattern) = Pattern::parse(topic.as_str()) else { return true };
        let fetching = Subscription {
            id: SubscriptionId(0),
            connection: ConnectionId(0),
            agent: agent.clone(),
            door: Door::Aacp,
            pattern,
            policy: Policy::default(),
            filter: None,
            since: self.now.wall,
        };
        self.may_reach(&Said::of(message), &fetching, topic.as_str())
    }

    /// The owner of a mailbox says what became of a message.
    pub(super) fn mark(&mut self, caller: Caller, mark: Mark, reply: Option<ReplyTo>) {
        let agent = match self.speaker(caller) {
            Ok((_, agent)) => agent,
            Err(refusal) => return respond(reply, Err(refusal)),
        };
        let Mark { message: seq, failed, words } = mark;
        let topic = Topic::of_agent(&agent);
        let words = words.unwrap_or_else(|| format!("{agent} said that it failed"));
        if self.parking.get(&topic, seq).is_some() {
            let verdict = if failed {
                self.say_failed(seq, &agent, &words);
                Verdict::Dead { reason: DeadReason::DeclinedByAll, error: words }
            } else {
                // An answer may still come.
                self.call_taken(seq, &agent, Door::Aacp, None);
                Verdict::Processed(agent.clone())
            };
            self.conclude(seq, &topic, verdict);
        } else if let Some(delivery) = self.in_the_hands_of(seq, &agent) {
            let outcome = if failed { AttemptOutcome::Declined } else { AttemptOutcome::Processed };
            let answer = Answer { outcome, ..super::answers::failed(outcome, words) };
            self.take_answer(delivery, answer, false);
        }
        let at = self.now.wall;
        self.registry.touch(&agent, self.now);
        self.bookkeeping.push(Record::Mail(MailChange::Said { agent, message: seq, failed, at }));
        self.promise(reply, Ok(Reply::Done));
    }
}
