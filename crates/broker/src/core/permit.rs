//! May they? Asked of every message before it is taken in, and again before it is handed over where
//! the rules have changed since.

use switchboard_model::{
    Address, AgentId, AgentStatus, Decision, DeliveryId, Dialect, Door, Effect, Kind, Message,
    Send, Topic,
};
use switchboard_store::{DecisionRecord, Record};

use super::Core;
use super::accept::Origin;
use crate::Refusal;
use crate::registry::Offer;
use crate::route::{self, Plan};
use crate::subscriptions::Subscription;

impl Core {
    /// Whether the sender may ask this of whom it asks. What was decided is noted in the origin.
    pub(super) fn permit(&self, origin: &mut Origin, send: &Send) -> Result<(), Refusal> {
        if let Some(id) = &send.conversation
            && origin.door != Door::Console
            && !self.sessions.may_speak(id, &origin.from)
        {
            return Err(Refusal::NoSuchSession(id.clone()));
        }
        let Address::Agent(provider) = &send.address else { return Ok(()) };
        if origin.door == Door::Console || origin.from == *provider {
            return Ok(());
        }
        if origin.door.knows_receivers() && !self.is_reachable(provider) {
            return Err(Refusal::UnknownAgent(provider.clone()));
        }
        let capability = send.capability.as_deref().unwrap_or_default();
        let offer = self.registry.offers(provider).and_then(|offers| offers.get(capability));
        if send.kind == Kind::Request
            && offer.is_none()
            && self.must_be_offered(origin.door, provider)
        {
            return Err(self.unknown_capability(provider, capability));
        }
        let decision = self.decide(&origin.from, provider, capability, offer);
        origin.decision = Some(decision);
        if decision.effect == Effect::Deny {
            return Err(Refusal::Forbidden {
                caller: origin.from.clone(),
                provider: provider.clone(),
                capability: capability.to_owned(),
            });
        }
        match offer.filter(|offer| send.kind == Kind::Request && !offer.input.accepts_all()) {
            Some(offer) => check_input(offer, send.dialect, send.payload.as_str()),
            None => Ok(()),
        }
    }

    fn is_reachable(&self, provider: &AgentId) -> bool {
        self.registry.knows(provider) || *provider == AgentId::operator()
    }

    /// Where capabilities are the whole of a protocol, one that is not offered is a mistake; elsewhere
    /// they are names by which agents are found.
    fn must_be_offered(&self, door: Door, provider: &AgentId) -> bool {
        door == Door::Lobby || self.registry.declared_by(provider) == Some(Door::Lobby)
    }

    fn unknown_capability(&self, provider: &AgentId, capability: &str) -> Refusal {
        let offers = self.registry.offers(provider).filter(|offers| !offers.is_empty());
        let names = |one: &Offer| one.capability.name.clone();
        let offered = offers.map_or_else(
            || ": it offers none".to_owned(),
            |offers| {
                let some: Vec<String> = offers.iter().take(10).map(names).collect();
                format!(": it offers {}", some.join(", "))
            },
        );
        let (provider, capability) = (provider.clone(), capability.to_owned());
        Refusal::UnknownCapability { provider, capability, offered }
    }

    fn decide(
        &self,
        caller: &AgentId,
        provider: &AgentId,
        capability: &str,
        offer: Option<&Offer>,
    ) -> Decision {
        let offered = offer.map(|offer| &offer.capability);
        self.rules.decide_offered(caller, provider, capability, offered)
    }

    /// Whether a caller may call one of a provider's capabilities.
    pub(super) fn may_call(&self, caller: &AgentId, provider: &AgentId, offer: &Offer) -> bool {
        let decision = self.decide(caller, provider, &offer.capability.name, Some(offer));
        decision.effect == Effect::Allow
    }

    /// Who would get this: whoever listens, or, where the one that is asked is busy, another that is
    /// ready and offers the same.
    pub(super) fn plan(&self, send: &Send, topic: &Topic) -> Plan {
        let plan = route::plan(&self.subscriptions, topic);
        let (Kind::Request, Address::Agent(busy)) = (send.kind, &send.address) else { return plan };
        if !self.registry.says_busy(busy) {
            return plan;
        }
        let Some(capability) = send.capability.as_deref() else { return plan };
        let stands_in = self.registry.available().find_map(|one| {
            let ready = one.status == AgentStatus::Ready && one.record.id != *busy;
            one.offers.get(capability).filter(|_| ready)?;
            let own = Topic::of_agent(&one.record.id);
            let listens = |sub: &Subscription| sub.pattern.matches(&own);
            self.registry.subscription_of(&one.record.id, listens).cloned()
        });
        match stands_in {
            Some(other) => Plan { chain: vec![other], observers: plan.observers },
            None => plan,
        }
    }

    /// The plan without those whom the sender may not reach, and those who do not want to hear of it.
    pub(super) fn permitted(
        &self,
        origin: &mut Origin,
        send: &Send,
        mut plan: Plan,
    ) -> Result<Plan, Refusal> {
        let topic = send.address.topic();
        if send.kind == Kind::Broadcast {
            plan.observers.retain(|one| one.agent != origin.from);
            plan.chain.retain(|one| one.agent != origin.from);
        }
        let wants = |one: &Subscription| {
            one.filter
                .as_ref()
                .is_none_or(|filter| filter.accepts(&origin.from, send.priority, || content(send)))
        };
        plan.observers.retain(|one| wants(one));
        plan.chain.retain(|one| wants(one));
        if self.rules.is_empty() || origin.door == Door::Console {
            return Ok(plan);
        }
        let listened = !plan.chain.is_empty() || !plan.observers.is_empty();
        let may = |one: &Subscription| match &send.address {
            // Decided already, with its capability; one that stands in was asked for the same.
            Address::Agent(id) if one.agent == *id => true,
            Address::Agent(_) if send.kind == Kind::Request && self.is_stand_in(send, one) => {
                let capability = send.capability.as_deref().unwrap_or_default();
                let offer = self.registry.offers(&one.agent).and_then(|all| all.get(capability));
                let decision = self.decide(&origin.from, &one.agent, capability, offer);
                decision.effect == Effect::Allow
            }
            Address::Agent(_) | Address::Topic(_) => {
                self.may_hear(&origin.from, one, topic.as_str())
            }
        };
        plan.observers.retain(|one| may(one));
        plan.chain.retain(|one| may(one));
        let silenced = listened && plan.chain.is_empty() && plan.observers.is_empty();
        if silenced && send.address.agent().is_none() {
            let (caller, topic) = (origin.from.clone(), topic.as_str().to_owned());
            return Err(Refusal::NobodyMayHear { caller, topic });
        }
        Ok(plan)
    }

    fn is_stand_in(&self, send: &Send, one: &Subscription) -> bool {
        let Some(busy) = send.address.agent() else { return false };
        self.registry.says_busy(busy) && !one.pattern.matches(&send.address.topic())
    }

    /// For events the talker is the caller, the listener the provider, the topic the capability.
    fn may_hear(&self, talker: &AgentId, listener: &Subscription, topic: &str) -> bool {
        let rule = self.rules.deciding(talker, &listener.agent, topic);
        rule.is_none_or(|rule| rule.effect == Effect::Allow)
    }

    /// Whether rules that were made since it was taken in forbid a delivery. What answers a request
    /// goes to the one that asked, whatever the rules.
    pub(super) fn is_forbidden_now(&mut self, delivery: DeliveryId) -> bool {
        let Some(open) = self.deliveries.get(&delivery) else { return false };
        if open.permitted_by == self.rules_version {
            return false;
        }
        let message = &open.message;
        let exempt = message.door == Door::Console
            || message.from.is_switchboard()
            || message.from == open.to.agent
            || (message.kind == Kind::Response && message.decision.is_none());
        let allowed = exempt
            || match &message.address {
                Address::Agent(id) if *id == open.to.agent => {
                    let capability = message.capability.as_deref().unwrap_or_default();
                    let offer = self.registry.offers(id).and_then(|all| all.get(capability));
                    self.decide(&message.from, id, capability, offer).effect == Effect::Allow
                }
                Address::Agent(_) | Address::Topic(_) => {
                    self.may_hear(&message.from, &open.to, message.address.topic().as_str())
                }
            };
        if let Some(open) = self.deliveries.get_mut(&delivery).filter(|_| allowed) {
            open.permitted_by = self.rules_version;
        }
        !allowed
    }

    /// Writes down what was decided, and by which rule.
    pub(super) fn record_decision(&mut self, message: &Message) {
        let (Some(decision), Some(provider)) = (message.decision, message.address.agent()) else {
            return;
        };
        self.metrics.decided(decision.effect);
        self.accepted.push(Record::Decision(DecisionRecord {
            message: message.seq,
            caller: message.from.clone(),
            provider: provider.clone(),
            capability: message.capability.clone().unwrap_or_default(),
            decision,
            conversation: message.conversation.clone(),
            at: message.accepted_at,
        }));
    }
}

fn check_input(offer: &Offer, dialect: Dialect, payload: &str) -> Result<(), Refusal> {
    let input = dialect.read_call(payload).input.to_payload();
    offer
        .input
        .check(input.as_str())
        .map_err(|faults| Refusal::BadInput { capability: offer.capability.name.clone(), faults })
}

/// The text that a filter's expression is looked for in.
fn content(send: &Send) -> std::borrow::Cow<'_, str> {
    send.dialect.read_event(send.payload.as_str()).as_str().to_owned().into()
}
