//! Messages that nobody listens for: default handlers are asked to see to it that somebody does.

use std::sync::Arc;

use serde::Serialize;
use switchboard_model::{Address, AgentId, Kind, Message, Payload, Policy, Topic};

use super::Core;
use crate::route::UNROUTED;
use crate::subscriptions::Subscription;

/// What a default handler gets.
#[derive(Serialize)]
struct Unrouted<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    topic: &'a str,
    payload: &'a Payload,
    message_id: String,
}

impl Core {
    /// Asks the default handlers, if there are any.
    pub(super) fn offer(&mut self, seq: u64) -> bool {
        let Some(journey) = self.journeys.get(&seq) else { return false };
        let message = journey.dispatch.message.clone();
        let handlers = self.default_handlers_for(&message.from, &message.address.topic());
        let Some(journey) = self.journeys.get_mut(&seq) else { return false };
        let offered = journey.dispatch.offer(handlers);
        if offered {
            journey.dispatch.reopen();
        }
        offered
    }

    /// The default handlers that may be told what this sender says on this topic.
    pub(super) fn default_handlers_for(
        &self,
        from: &AgentId,
        topic: &Topic,
    ) -> Vec<Arc<Subscription>> {
        let mut handlers = self.default_handlers();
        handlers.retain(|one| self.may_hear(from, &one.agent, topic.as_str()));
        handlers
    }

    /// Those who subscribe to exactly that topic, newest first. Whoever only happens to match it
    /// would answer for messages that it knows nothing of.
    pub(super) fn default_handlers(&self) -> Vec<Arc<Subscription>> {
        let Ok(topic) = Topic::parse(UNROUTED) else { return Vec::new() };
        let mut handlers: Vec<Arc<Subscription>> = Vec::new();
        self.subscriptions.each_match(&topic, |group| {
            let handles = |one: &&Arc<Subscription>| {
                one.pattern.as_str() == UNROUTED && one.policy != Policy::ContinueAll
            };
            handlers.extend(group.iter().filter(handles).cloned());
        });
        handlers.sort_unstable_by_key(|one| std::cmp::Reverse(one.id));
        handlers
    }
}

/// A message as a default handler gets it.
pub(super) fn wrapped(message: &Message) -> Message {
    let topic = message.address.topic();
    let payload = serde_json::to_string(&Unrouted {
        kind: "unrouted",
        topic: topic.as_str(),
        payload: &message.payload,
        message_id: message.id.to_string(),
    });
    Message {
        address: Topic::parse(UNROUTED).map_or_else(|_| message.address.clone(), Address::from),
        kind: Kind::Event,
        capability: None,
        payload: payload.map_or_else(|_| message.payload.clone(), Payload::trusted),
        ..message.clone()
    }
}
