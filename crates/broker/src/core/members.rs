//! Who joins, listens and goes.

use std::sync::Arc;

use switchboard_model::{
    AgentId, ConnectionId, Join, Joined, Lifecycle, Pattern, Policy, Reply, SubscriptionId,
};
use switchboard_store::{Record, SubscriptionRecord};

use super::Core;
use crate::Refusal;
use crate::broker::Caller;
use crate::subscriptions::Subscription;

impl Core {
    pub(super) fn join(&mut self, caller: Caller, join: Join) -> Result<Reply, Refusal> {
        let id = connection_of(caller)?;
        if let Some(agent) = self.registry.connection(id).and_then(|one| one.agent.clone()) {
            return Err(Refusal::AlreadyJoined(agent));
        }
        if join.agent.is_reserved() {
            return Err(Refusal::ReservedId(join.agent));
        }
        if self.stop_by.is_some() {
            return Err(Refusal::Stopping);
        }
        let agent = join.agent.clone();
        let was_away = !self.registry.is_connected(&agent);
        let record = self.registry.join(id, join, self.now.wall).ok_or(Refusal::NotJoined)?;
        self.bookkeeping.push(Record::Agent(record));
        self.show_changed_agents();
        if was_away {
            self.announce(Lifecycle::Connected, &agent, None);
        }
        Ok(Reply::Joined(Joined { server: AgentId::switchboard() }))
    }

    pub(super) fn leave(&mut self, caller: Caller) -> Result<Reply, Refusal> {
        self.disconnect(connection_of(caller)?);
        Ok(Reply::Done)
    }

    pub(super) fn touch(&mut self, caller: Caller) -> Result<Reply, Refusal> {
        let (_, agent) = self.speaker(caller)?;
        self.registry.touch(&agent, self.now.wall);
        Ok(Reply::Done)
    }

    pub(super) fn subscribe(
        &mut self,
        caller: Caller,
        pattern: Pattern,
        policy: Option<Policy>,
    ) -> Result<Reply, Refusal> {
        let (id, agent) = self.speaker(caller)?;
        let policy = policy.unwrap_or(self.settings.policy);
        let connection = self.registry.connection_mut(id).ok_or(Refusal::NotJoined)?;
        let same = connection.subscriptions.iter().position(|one| one.pattern == pattern);
        if same.is_some_and(|at| connection.subscriptions[at].policy == policy) {
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
        self.registry.touch(&agent, self.now.wall);
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
        self.registry.touch(&agent, self.now.wall);
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
        for delivery in connection.line.all() {
            self.recipient_gone(delivery);
        }
        if let Some(agent) = connection.agent {
            if !self.registry.is_connected(&agent) {
                self.announce(Lifecycle::Disconnected, &agent, None);
            }
            self.bookkeeping.push(Record::AgentSeen { id: agent, at: self.now.wall });
        }
        self.show_changed_agents();
    }

    /// The agent that a caller speaks for.
    fn speaker(&self, caller: Caller) -> Result<(ConnectionId, AgentId), Refusal> {
        let id = connection_of(caller)?;
        let agent = self.registry.connection(id).and_then(|one| one.agent.clone());
        agent.map(|agent| (id, agent)).ok_or(Refusal::NotJoined)
    }
}

fn connection_of(caller: Caller) -> Result<ConnectionId, Refusal> {
    match caller {
        Caller::Connection(id) => Ok(id),
        // The operator sends and administers, but is no agent: it joins and subscribes to nothing.
        Caller::Operator => Err(Refusal::NotJoined),
    }
}
