//! What the broker itself tells agents of each other.

use std::sync::Arc;

use serde::Serialize;
use switchboard_model::{
    Address, AgentId, Dialect, Door, Kind, Lifecycle, Message, Payload, Priority, Send, Shape,
    Timestamp, Topic, Wait,
};

use super::Core;
use super::accept::Origin;
use crate::route::{self, Plan};
use crate::subscriptions::Subscription;

/// The spec's `agent_event`.
#[derive(Serialize)]
struct AgentEvent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    event: &'static str,
    agent_id: &'a AgentId,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    door: Option<Door>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    timestamp: Timestamp,
}

impl Core {
    /// Tells those who listen on `system:agent.…` and on `agent:…`. Nobody listening is no fault, and
    /// an agent is not told of itself.
    pub(super) fn announce(&mut self, event: Lifecycle, agent: &AgentId, detail: Option<&str>) {
        if self.stop_by.is_some() {
            return;
        }
        for prefix in ["system:agent.", "agent:"] {
            let Ok(topic) = Topic::parse(&format!("{prefix}{}", event.as_str())) else { continue };
            let payload = self.agent_event(event, agent, detail);
            self.tell_listeners(&topic, agent, || payload);
        }
    }

    /// Tells those who listen to a topic something about an agent that is nobody's to take.
    pub(super) fn tell_listeners(
        &mut self,
        topic: &Topic,
        about: &AgentId,
        payload: impl FnOnce() -> Option<Payload>,
    ) {
        let mut plan = self.listeners(topic, about);
        plan.observers.retain(|one| {
            let has_room = self.has_room(one);
            if !has_room {
                tracing::warn!(listener = %one.agent, %topic, agent = %about, "not told: its queue is full");
            }
            has_room
        });
        if plan.observers.is_empty() {
            return;
        }
        if let Err(refusal) = self.has_room_for(&Plan::default(), topic) {
            tracing::warn!(%refusal, %topic, agent = %about, "nobody is told");
            return;
        }
        let Some(payload) = payload() else { return };
        let send = Send {
            address: Address::Topic(topic.clone()),
            kind: Kind::Event,
            capability: None,
            priority: Priority::Normal,
            correlation: None,
            conversation: None,
            payload,
            dialect: Dialect::Bus,
            context: None,
            answer_within: None,
            expires_at: None,
            wait: Wait::Accepted,
        };
        let origin = Origin::of(AgentId::switchboard(), Door::Console);
        let message = self.take_in(origin, send);
        self.set_off(message, plan, None, None);
    }

    /// Everyone who listens, whatever their policies: such an event is nobody's to take. A pattern
    /// that begins with a wildcard is for what agents say, not for the broker's own noise.
    fn listeners(&self, topic: &Topic, agent: &AgentId) -> Plan {
        let mut plan = Plan::default();
        self.subscriptions.each_match(topic, |group| {
            let wanted = |one: &&Arc<Subscription>| {
                let begins_wild = match one.pattern.shape() {
                    Shape::Exact(_) => false,
                    Shape::Wild { prefix, .. } => prefix.is_empty(),
                };
                !begins_wild && one.agent != *agent
            };
            plan.observers.extend(group.iter().filter(wanted).cloned());
        });
        route::newest_of_each_connection(&mut plan.observers);
        plan
    }

    fn agent_event(
        &self,
        event: Lifecycle,
        agent: &AgentId,
        detail: Option<&str>,
    ) -> Option<Payload> {
        let known = self.registry.introduction(agent);
        let event = AgentEvent {
            kind: "agent_event",
            event: event.as_str(),
            agent_id: agent,
            name: known.map_or("", |(name, _)| name),
            door: known.map(|(_, door)| door),
            detail,
            timestamp: self.now.wall,
        };
        serde_json::to_string(&event).ok().map(Payload::trusted)
    }

    /// Whether this message is one of the broker's own: told once, to those who listened then.
    pub(super) fn is_own_event(&self, seq: u64) -> bool {
        let journey = self.journeys.get(&seq);
        journey.is_some_and(|one| is_own_event(&one.dispatch.message))
    }
}

/// An answer that the broker gives in the place of another is no such event: somebody waits for it.
pub(super) fn is_own_event(message: &Message) -> bool {
    message.from.is_switchboard() && message.kind == Kind::Event
}
