//! May they? Asked of every message before it is taken in, and again before it is handed over where
//! the rules have changed since.

use std::sync::Arc;

use switchboard_model::{
    Address, AgentId, AgentStatus, DecidedBy, Decision, DeliveryId, Dialect, Door, Effect, Kind,
    Message, Payload, Precision, Priority, Rule, Send, Topic,
};

use super::Core;
use super::accept::Origin;
use crate::Refusal;
use crate::dispatch::Role;
use crate::registry::Offer;
use crate::route::{self, Plan};
use crate::subscriptions::Subscription;

impl Core {
    /// Whether the sender may ask this of whom it asks. What was decided is noted in the origin.
    pub(super) fn permit(&self, origin: &mut Origin, send: &Send) -> Result<(), Refusal> {
        // The other doors' conversations are named by their agents, and are no sessions.
        if let Some(id) = &send.conversation
            && origin.door == Door::Collaboration
        {
            self.sessions.may_speak(id, &origin.from)?;
        }
        let Address::Agent(provider) = &send.address else { return Ok(()) };
        if origin.from == *provider {
            return Ok(());
        }
        let capability = send.capability.as_deref().unwrap_or_default();
        let offer = self.registry.offers(provider).and_then(|offers| offers.get(capability));
        // The rules are the operator's own; a schema says what the recipient can read, whoever writes.
        if origin.door != Door::Console {
            self.permit_call(origin, send, provider, offer)?;
        }
        match offer.filter(|offer| send.kind == Kind::Request && !offer.input.accepts_all()) {
            Some(offer) => check_input(offer, send.dialect, send.payload.as_str()),
            None => Ok(()),
        }
    }

    fn permit_call(
        &self,
        origin: &mut Origin,
        send: &Send,
        provider: &AgentId,
        offer: Option<&Offer>,
    ) -> Result<(), Refusal> {
        if origin.door.knows_receivers() && !self.is_reachable(provider) {
            return Err(Refusal::UnknownAgent(provider.clone()));
        }
        let capability = send.capability.as_deref().unwrap_or_default();
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
        Ok(())
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

    /// Who gets this: whoever listens, wants it and may be reached by its sender; or, where the one that is
    /// asked is busy, another that is ready, offers the same and may be asked for it.
    pub(super) fn plan(&self, said: &Said<'_>) -> Plan {
        let topic = said.address.topic();
        let wanted = |one: &Subscription| {
            wants(one, said)
                // The one that is asked has been decided about, and is again before it gets anything.
                && (said.address.agent() == Some(&one.agent)
                    || self.may_reach(said, one, topic.as_str()))
        };
        let mut plan = route::plan_of(&self.subscriptions, &topic, wanted);
        if let Some(other) = self.stands_in(said) {
            plan.chain = vec![other];
        }
        plan
    }

    /// The same for a message that is on its way: others may listen by now, and rules may have changed.
    pub(super) fn plan_again(&self, message: &Message) -> Plan {
        self.plan(&Said::of(message))
    }

    /// Where rules keep the sender from everyone who listens to a topic, it is told.
    pub(super) fn may_be_heard(&self, said: &Said<'_>, plan: &Plan) -> Result<(), Refusal> {
        let Address::Topic(topic) = said.address else { return Ok(()) };
        let heard = !plan.chain.is_empty() || !plan.observers.is_empty();
        if heard || self.rules.is_empty() {
            return Ok(());
        }
        let listeners = route::plan(&self.subscriptions, topic);
        let mut all = listeners.chain.iter().chain(&listeners.observers);
        if all.any(|one| !self.may_reach(said, one, topic.as_str())) {
            let (caller, topic) = (said.from.clone(), topic.as_str().to_owned());
            return Err(Refusal::NobodyMayHear { caller, topic });
        }
        Ok(())
    }

    /// One that can be asked in the place of a busy agent.
    fn stands_in(&self, said: &Said<'_>) -> Option<Arc<Subscription>> {
        let (Kind::Request, Address::Agent(busy)) = (said.kind, said.address) else { return None };
        let capability = said.capability.filter(|_| self.registry.says_busy(busy))?;
        self.registry.available().find_map(|one| {
            let id = &one.record.id;
            let offer = one.offers.get(capability)?;
            let ready = one.status == AgentStatus::Ready && id != busy && id != said.from;
            let may = ready && self.may_call(said.from, id, offer);
            let fits = || check_input(offer, said.dialect, said.payload.as_str()).is_ok();
            if !may || !(offer.input.accepts_all() || fits()) {
                return None;
            }
            let own = Topic::of_agent(id);
            let listens = |sub: &Subscription| sub.pattern.matches(&own);
            self.registry.subscription_of(id, listens).cloned()
        })
    }

    /// Whether a name is somebody's own, by a token or by a key.
    fn is_owned(&self, id: &AgentId) -> bool {
        self.registry.token(id).is_some() || self.announced.is_keyed(id)
    }

    /// Whether the rules let a message reach one who listens.
    pub(super) fn may_reach(&self, said: &Said<'_>, one: &Subscription, topic: &str) -> bool {
        matches!(self.reach(said, one, topic), Reach::May)
    }

    /// The same, with what keeps it from them.
    pub(super) fn reach(&self, said: &Said<'_>, one: &Subscription, topic: &str) -> Reach {
        // What is for one agent is not another's to take or to overhear: no answer, and nothing at all
        // where the name is owned, unless a rule names the topic; one about anything was not made for this.
        // Peers of the bus that own no name intercept each other, as their protocol has it.
        if let Address::Agent(id) = said.address
            && *id != one.agent
            && one.pattern.matches_text(topic)
            && (said.kind == Kind::Response || self.is_owned(id))
        {
            let rule = self.rules.deciding(said.from, &one.agent, topic);
            let names_it = |rule: &&Rule| rule.capability.precision() != Precision::Any;
            return match rule.filter(names_it) {
                Some(Rule { effect: Effect::Allow, .. }) => Reach::May,
                Some(rule) => Reach::Kept(DecidedBy::Rule(rule.id)),
                None => Reach::Private,
            };
        }
        let exempt = said.door == Door::Console
            || said.from.is_switchboard()
            || *said.from == one.agent
            || (said.kind == Kind::Response && !said.is_judged);
        if exempt {
            return Reach::May;
        }
        let asked = match said.address {
            Address::Agent(id) if *id == one.agent => true,
            // One that stands in is asked for the same.
            Address::Agent(_) => said.kind == Kind::Request && !one.pattern.matches_text(topic),
            Address::Topic(_) => false,
        };
        if asked {
            let capability = said.capability.unwrap_or_default();
            let offer = self.registry.offers(&one.agent).and_then(|all| all.get(capability));
            return Reach::by(self.decide(said.from, &one.agent, capability, offer));
        }
        Reach::by(self.rules.decide(said.from, &one.agent, topic, None))
    }

    /// For events the talker is the caller, the listener the provider, the topic the capability.
    pub(super) fn may_hear(&self, talker: &AgentId, listener: &AgentId, topic: &str) -> bool {
        let rule = self.rules.deciding(talker, listener, topic);
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
        let topic = message.address.topic();
        let allowed = match open.role {
            Role::Handler | Role::Observer => {
                self.may_reach(&Said::of(message), &open.to, topic.as_str())
            }
            Role::DefaultHandler => self.may_hear(&message.from, &open.to.agent, topic.as_str()),
        };
        if let Some(open) = self.deliveries.get_mut(&delivery).filter(|_| allowed) {
            open.permitted_by = self.rules_version;
        }
        !allowed
    }

    /// What was decided is written down with the message.
    pub(super) fn count_decision(&self, message: &Message) {
        if let Some((_, decision)) = message.judged() {
            self.metrics.decided(decision.effect);
        }
    }
}

fn check_input(offer: &Offer, dialect: Dialect, payload: &str) -> Result<(), Refusal> {
    let input = dialect.read_call(payload).input.to_payload();
    offer
        .input
        .check(input.as_str())
        .map_err(|faults| Refusal::BadInput { capability: offer.capability.name.clone(), faults })
}

/// Whether one who listens asked for such a message: it passes the filter, and is not its own broadcast.
pub(super) fn wants(one: &Subscription, said: &Said<'_>) -> bool {
    let own_noise = said.kind == Kind::Broadcast && one.agent == *said.from;
    let filter = one.filter.as_ref();
    !own_noise
        && filter
            .is_none_or(|filter| filter.accepts(said.from, said.priority, || content(said).into()))
}

/// The text that a filter's expression is looked for in.
fn content(said: &Said<'_>) -> String {
    said.dialect.read_event(said.payload.as_str()).as_str().to_owned()
}

/// Whether a message may reach one who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    May,
    /// By a rule, or by what the listener declared.
    Kept(DecidedBy),
    /// It is for another, and that one's name is its own.
    Private,
}

impl Reach {
    fn by(decision: Decision) -> Self {
        match decision.effect {
            Effect::Allow => Self::May,
            Effect::Deny => Self::Kept(decision.by),
        }
    }
}

/// What rules, filters and schemas look at: of a message that is to be sent, or of one on its way.
pub(super) struct Said<'a> {
    from: &'a AgentId,
    door: Door,
    kind: Kind,
    address: &'a Address,
    capability: Option<&'a str>,
    priority: Priority,
    payload: &'a Payload,
    dialect: Dialect,
    /// It is an answer that the rules were asked about, because it answers nothing.
    is_judged: bool,
}

impl<'a> Said<'a> {
    pub(super) fn new(origin: &'a Origin, send: &'a Send) -> Self {
        Self {
            from: &origin.from,
            door: origin.door,
            kind: send.kind,
            address: &send.address,
            capability: send.capability.as_deref(),
            priority: send.priority,
            payload: &send.payload,
            dialect: send.dialect,
            is_judged: origin.decision.is_some(),
        }
    }

    pub(super) fn of(message: &'a Message) -> Self {
        Self {
            from: &message.from,
            door: message.door,
            kind: message.kind,
            address: &message.address,
            capability: message.capability.as_deref(),
            priority: message.priority,
            payload: &message.payload,
            dialect: message.dialect,
            is_judged: message.decision.is_some(),
        }
    }
}
