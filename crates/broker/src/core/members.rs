//! Who joins, listens and goes.

use std::sync::Arc;

use switchboard_model::{
    AgentId, AgentStatus, ConnectionId, Declared, Door, Join, Joined, Lifecycle, ListenFilter,
    Pattern, Policy, Priority, Reply, Secret, SubscriptionId,
};
use switchboard_store::{AgentRecord, Record, SubscriptionRecord};

use super::{Core, respond};
use crate::Refusal;
use crate::broker::Caller;
use crate::identity::Token;
use crate::replies::ReplyTo;
use crate::subscriptions::Subscription;

impl Core {
    /// Makes a connection speak for an agent.
    pub(super) fn join(&mut self, caller: Caller, mut join: Join, reply: Option<ReplyTo>) {
        let joined = connection_of(caller).and_then(|id| {
            if let Some(agent) = self.registry.connection(id).and_then(|one| one.agent.clone()) {
                return Err(Refusal::AlreadyJoined(agent));
            }
            let was_away = !self.registry.is_connected(&self.registry.resolve(&join.agent));
            let declares = join.capabilities.is_some();
            let made = self.admit(id, &mut join)?;
            let agent = &join.agent;
            self.registry.bind(id, agent, join.heartbeats, self.now.wall);
            if let Some(record) = self.registry.close_mailbox(agent) {
                self.bookkeeping.push(Record::Agent(AgentRecord { capabilities: None, ..record }));
            }
            self.show_changed_agents();
            if was_away {
                self.announce(Lifecycle::Connected, agent, None);
            }
            Ok((made, declares))
        });
        self.answer_join(joined, join, reply);
    }

    /// Makes an agent known and gives it a token; nobody speaks for it yet.
    pub(super) fn register(&mut self, caller: Caller, mut join: Join, reply: Option<ReplyTo>) {
        let declares = join.capabilities.is_some();
        let registered = connection_of(caller)
            .and_then(|id| self.admit(id, &mut join))
            .map(|made| (made, declares));
        if registered.is_ok() && !self.registry.is_connected(&join.agent) {
            self.open_mailbox(&join.agent);
        }
        self.show_changed_agents();
        self.answer_join(registered, join, reply);
    }

    /// What is told of tokens and capabilities must be on disk first.
    fn answer_join(
        &mut self,
        joined: Result<(Option<Secret>, bool), Refusal>,
        join: Join,
        reply: Option<ReplyTo>,
    ) {
        let (server, agent) = (AgentId::switchboard(), join.agent);
        match joined {
            Ok((made, declares)) => {
                let promises = made.is_some() || declares;
                let joined = Joined { server, agent, token: made.or(join.token) };
                let reply_with = Ok(Reply::Joined(joined));
                if promises { self.promise(reply, reply_with) } else { respond(reply, reply_with) }
            }
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    /// Whether this agent may come by this connection; if so it is known from here on. Returns the
    /// token that was made for it, if one was.
    fn admit(&mut self, id: ConnectionId, join: &mut Join) -> Result<Option<Secret>, Refusal> {
        let connection = self.registry.connection(id).ok_or(Refusal::NotJoined)?;
        let (door, from) = (connection.door, connection.from);
        join.agent = self.registry.resolve(&join.agent);
        let agent = &join.agent;
        if agent.is_reserved() {
            return Err(Refusal::ReservedId(agent.clone()));
        }
        if self.stop_by.is_some() {
            return Err(Refusal::Stopping);
        }
        // One agent's other name is not another's first.
        if self.registry.is_named_by_another(agent) {
            return Err(Refusal::Taken(agent.clone()));
        }
        let (owned, given) = (self.registry.token(agent), join.token.as_ref());
        let admitted = self.guesses.admit(agent, from, owned, given, self.now.monotonic);
        // To one that wants a token of its own the name is taken; it need not know by what.
        if admitted == Err(Refusal::TokenMissing(agent.clone())) && join.wants_token {
            return Err(Refusal::Taken(agent.clone()));
        }
        admitted?;
        if self.registry.is_blocked(agent) {
            return Err(Refusal::Blocked(agent.clone()));
        }
        let is_free = owned.is_none();
        // A name that is a key's is not free; who holds the key asks the operator for a token.
        if is_free && self.announced.is_keyed(agent) {
            return Err(Refusal::Taken(agent.clone()));
        }
        if is_free && door == Door::Bus && self.settings.bus_needs_token && from.is_some() {
            return Err(Refusal::TokenMissing(agent.clone()));
        }
        // On a network a name is the operator's to give, or anybody could have one.
        let is_stranger = from.is_some_and(|from| !from.is_loopback());
        if is_free && is_stranger && self.settings.strangers_need_token {
            return Err(Refusal::TokenMissing(agent.clone()));
        }
        // Who speaks for a name that has no token yet must not lose it to another.
        if is_free && join.wants_token && self.registry.is_connected(agent) {
            return Err(Refusal::Taken(agent.clone()));
        }
        let before = self.registry.offers(agent).cloned().unwrap_or_default();
        let declared = join.capabilities.take();
        let offers = declared.map(|declared| before.replaced(declared)).transpose()?;
        if offers.as_ref().is_some_and(|offers| !self.registry.has_room_for(agent, offers)) {
            return Err(Refusal::NoRoomForSchemas);
        }
        // What waits was permitted by what was declared then.
        self.rules_version += u64::from(offers.is_some());
        let made = match is_free && join.wants_token {
            true => Some(Token::make(Priority::Urgent, self.now.wall)?),
            false => None,
        };
        let record = self.registry.introduce(join, door, offers, self.now);
        self.bookkeeping.push(Record::Agent(record));
        if !self.registry.says_busy(&join.agent) {
            self.let_go_of_held(&join.agent.clone());
        }
        Ok(made.map(|(token, secret)| {
            self.give_token(&join.agent, token);
            secret
        }))
    }

    /// Another token than the one that the connection joined with.
    pub(super) fn prove(&mut self, caller: Caller, given: &Secret) -> Result<Reply, Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let from = self.registry.connection(id).and_then(|one| one.from);
        let owned = self.registry.token(&agent);
        self.guesses.admit(&agent, from, owned, Some(given), self.now.monotonic)?;
        Ok(Reply::Done)
    }

    pub(super) fn declare(
        &mut self,
        caller: Caller,
        capabilities: Vec<Declared>,
        withdrawn: &[String],
        reply: Option<ReplyTo>,
    ) {
        match self.try_declare(caller, capabilities, withdrawn) {
            Ok(()) => self.promise(reply, Ok(Reply::Done)),
            Err(refusal) => respond(reply, Err(refusal)),
        }
    }

    fn try_declare(
        &mut self,
        caller: Caller,
        capabilities: Vec<Declared>,
        withdrawn: &[String],
    ) -> Result<(), Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let door = self.registry.connection(id).map_or(Door::Bus, |one| one.door);
        let before = self.registry.offers(&agent).cloned().unwrap_or_default();
        let offers = before.changed(capabilities, withdrawn)?;
        if !self.registry.has_room_for(&agent, &offers) {
            return Err(Refusal::NoRoomForSchemas);
        }
        self.rules_version += 1;
        if let Some(record) = self.registry.declare(&agent, door, offers) {
            self.bookkeeping.push(Record::Agent(record));
        }
        self.registry.touch(&agent, self.now);
        self.show_changed_agents();
        Ok(())
    }

    pub(super) fn set_status(
        &mut self,
        caller: Caller,
        status: AgentStatus,
    ) -> Result<Reply, Refusal> {
        let (_, agent) = self.speaker(caller)?;
        self.registry.touch(&agent, self.now);
        self.registry.set_status(&agent, status);
        if status != AgentStatus::Busy {
            self.let_go_of_held(&agent);
        }
        self.show_changed_agents();
        Ok(Reply::Done)
    }

    /// Those who promised to be heard of and were not count as unavailable.
    pub(super) fn check_pulses(&mut self) {
        if self.pulses_at > self.now.monotonic {
            return;
        }
        self.pulses_at = self.now.monotonic + self.settings.heartbeat / 4;
        let patience = self.settings.heartbeat * self.settings.heartbeat_misses;
        for agent in self.registry.check_pulses(patience, self.now.monotonic) {
            tracing::info!(%agent, "not heard of for too long: it counts as unavailable");
        }
        self.show_changed_agents();
    }

    pub(super) fn leave(&mut self, caller: Caller) -> Result<Reply, Refusal> {
        self.disconnect(connection_of(caller)?);
        Ok(Reply::Done)
    }

    pub(super) fn touch(&mut self, caller: Caller) -> Result<Reply, Refusal> {
        let (_, agent) = self.speaker(caller)?;
        self.registry.touch(&agent, self.now);
        Ok(Reply::Done)
    }

    pub(super) fn subscribe(
        &mut self,
        caller: Caller,
        pattern: Pattern,
        policy: Option<Policy>,
        filter: Option<Arc<ListenFilter>>,
    ) -> Result<Reply, Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let policy = policy.unwrap_or(self.settings.policy);
        let connection = self.registry.connection_mut(id).ok_or(Refusal::NotJoined)?;
        let same = connection.subscriptions.iter().position(|one| one.pattern == pattern);
        let is_same = |one: &Subscription| one.policy == policy && one.filter == filter;
        if same.is_some_and(|at| is_same(&connection.subscriptions[at])) {
            return Err(Refusal::AlreadySubscribed(pattern));
        }
        if same.is_none() && connection.subscriptions.len() >= self.settings.subscriptions {
            return Err(Refusal::TooManySubscriptions(self.settings.subscriptions));
        }
        let subscription = Arc::new(Subscription {
            id: SubscriptionId(self.next_subscription),
            connection: id,
            agent: agent.clone(),
            door: connection.door,
            pattern: pattern.clone(),
            policy,
            filter,
            since: self.now.wall,
        });
        self.next_subscription += 1;
        let replaced = same.map(|at| connection.subscriptions.remove(at));
        connection.subscriptions.push(subscription.clone());
        if let Some(older) = replaced {
            self.forget_subscription(&older);
        }
        self.bookkeeping.push(Record::Subscribed(SubscriptionRecord {
            id: subscription.id,
            agent: agent.clone(),
            door: subscription.door,
            pattern: pattern.to_string(),
            policy,
            at: self.now.wall,
        }));
        self.subscriptions.insert(subscription.clone());
        self.registry.touch(&agent, self.now);
        self.resume_parked(&subscription);
        self.welcome_back(&agent);
        self.show_changed_agents();
        Ok(Reply::Subscribed(subscription.id))
    }

    pub(super) fn unsubscribe(
        &mut self,
        caller: Caller,
        pattern: &Pattern,
    ) -> Result<Reply, Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let connection = self.registry.connection_mut(id).ok_or(Refusal::NotJoined)?;
        let Some(at) = connection.subscriptions.iter().position(|one| one.pattern == *pattern)
        else {
            return Err(Refusal::NotSubscribed(pattern.clone()));
        };
        let gone = connection.subscriptions.remove(at);
        self.forget_subscription(&gone);
        self.registry.touch(&agent, self.now);
        self.show_changed_agents();
        Ok(Reply::Done)
    }

    fn forget_subscription(&mut self, gone: &Subscription) {
        self.subscriptions.remove(&gone.pattern, gone.id);
        self.bookkeeping.push(Record::Unsubscribed { id: gone.id, at: self.now.wall });
    }

    pub(super) fn disconnect(&mut self, id: ConnectionId) {
        let Some(connection) = self.registry.disconnect(id, self.now.wall) else {
            return;
        };
        for subscription in &connection.subscriptions {
            self.forget_subscription(subscription);
        }
        for delivery in connection.all() {
            self.recipient_gone(delivery);
        }
        if let Some(agent) = connection.agent {
            if !connection.visiting && !self.registry.is_connected(&agent) {
                self.announce(Lifecycle::Disconnected, &agent, None);
            }
            self.bookkeeping.push(Record::AgentSeen { id: agent, at: self.now.wall });
        }
        self.show_changed_agents();
    }

    /// The agent that a caller speaks for.
    pub(super) fn speaker(&self, caller: Caller) -> Result<(ConnectionId, AgentId), Refusal> {
        let id = connection_of(caller)?;
        let agent = self.registry.connection(id).and_then(|one| one.agent.clone());
        agent.map(|agent| (id, agent)).ok_or(Refusal::NotJoined)
    }
}

pub(super) fn connection_of(caller: Caller) -> Result<ConnectionId, Refusal> {
    match caller {
        Caller::Connection(id) => Ok(id),
        // The operator sends and administers, but is no agent: it joins and subscribes to nothing.
        Caller::Operator => Err(Refusal::NotJoined),
    }
}
