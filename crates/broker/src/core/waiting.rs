//! Messages that wait for a subscription: for an agent that is away, for listeners to come back
//! after a restart, for whom a default handler brings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    AgentId, ConnectionId, DeliveryState, Message, Pattern, Policy, SubscriptionId,
};
use switchboard_store::Tried;

use super::{Core, Journey};
use crate::dispatch::{Role, Try, Verdict};
use crate::parking::{Parked, Why};
use crate::route::{Plan, UNROUTED};
use crate::subscriptions::Subscription;

/// Messages read at a time when the broker comes back.
const RECOVER: u32 = 500;

impl Core {
    /// Parks every message that was on its way when the broker ended. Those for an agent wait for
    /// it; those on a topic get one delivery time for somebody to come back, counted from when they
    /// are to be tried.
    pub(super) async fn recover(&mut self) {
        self.recover_jobs().await;
        let mut after = 0;
        loop {
            let page = match self.store.waiting(after, RECOVER).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(%error, "could not read the messages that were on their way");
                    return;
                }
            };
            let Some(last) = page.last() else { break };
            after = last.seq;
            let mut tried = self.tried(&page).await;
            for message in page {
                let tried = tried.remove(&message.seq).unwrap_or_default();
                self.recover_one(Arc::new(message), tried);
            }
        }
        self.recover_watched().await;
        self.recover_calls().await;
        self.recover_sessions().await;
    }

    async fn tried(&self, messages: &[Message]) -> HashMap<u64, Vec<Tried>> {
        let seqs: Vec<u64> = messages.iter().map(|message| message.seq).collect();
        let found = self.store.tried(&seqs, self.now.wall).await.unwrap_or_else(|error| {
            tracing::error!(%error, "what was tried before the restart is tried again");
            Vec::new()
        });
        let mut tried: HashMap<u64, Vec<Tried>> = HashMap::new();
        for (seq, one) in found {
            tried.entry(seq).or_default().push(one);
        }
        tried
    }

    fn recover_one(&mut self, message: Arc<Message>, mut tried: Vec<Tried>) {
        self.mind_expiry(&message);
        let message = self.held.take_up(message);
        self.reopen_call(&message);
        let by_handler = |one: &Tried| one.pattern.as_deref() == Some(UNROUTED);
        let taken = tried
            .iter()
            .find(|one| one.state == DeliveryState::Processed && !one.observer && !by_handler(one));
        if let Some(agent) = taken.map(|one| one.agent.clone()) {
            // It was processed, and the broker ended before it had written that down.
            self.settle(&message, Verdict::Processed(agent));
            return self.go_on_watching(message, tried);
        }
        // Whom a default handler had started went with the broker, or is to come back: the handlers
        // are asked anew.
        let (offers, rest): (Vec<_>, Vec<_>) = tried.into_iter().partition(by_handler);
        tried = rest;
        self.end_tried(&offers);
        let unheard = !offers.is_empty();
        let why = match message.address.agent() {
            Some(id) if self.registry.knows(id) => Why::AgentAway,
            Some(_) | None => {
                let due = tried.iter().filter_map(|one| one.due_at).max();
                let rest =
                    Duration::from_micros(due.map_or(0, |at| at.micros_since(self.now.wall)));
                Why::Restarted { until: self.back_by + rest, unheard }
            }
        };
        self.parking.park(Parked { message, why, tried });
    }

    /// Messages that are settled, but have somebody who watches and is to be asked again.
    async fn recover_watched(&mut self) {
        let watched = self.store.watched().await.unwrap_or_else(|error| {
            tracing::error!(%error, "could not read who is to be told again of what was settled");
            Vec::new()
        });
        let mut tried = self.tried(&watched).await;
        for message in watched {
            let tried = tried.remove(&message.seq).unwrap_or_default();
            self.go_on_watching(Arc::new(message), tried);
        }
    }

    /// The message is settled; those who watch it and have not answered are still to be told.
    fn go_on_watching(&mut self, message: Arc<Message>, tried: Vec<Tried>) {
        let seq = message.seq;
        let (observers, others): (Vec<_>, Vec<_>) = tried.into_iter().partition(|one| one.observer);
        self.end_tried(&others);
        let mut journey = self.journey(message, Vec::new(), &[]);
        let undecided = journey.dispatch.take_up(observers, self.now.wall);
        if undecided.is_empty() {
            return;
        }
        journey.dispatch.settled(Verdict::Processed(AgentId::switchboard()));
        self.journeys.insert(seq, journey);
        self.take_up_all(seq, undecided);
    }

    fn journey(
        &self,
        message: Arc<Message>,
        chain: Vec<Arc<Subscription>>,
        observers: &[Arc<Subscription>],
    ) -> Journey {
        Journey {
            dispatch: self.dispatch(message, chain, observers),
            on_disk: true,
            unanswered: false,
            receipt: None,
            parked: false,
            reply: None,
            replaces: None,
            // Whatever the rules were then, they are asked again.
            permitted_by: 0,
        }
    }

    fn take_up_all(&mut self, seq: u64, undecided: Vec<Try>) {
        for one in undecided {
            let wanted = |sub: &Subscription| sub.pattern.as_str() == one.pattern;
            let live = self.registry.subscription_of(&one.agent, wanted).cloned();
            if let Some(to) = live.or_else(|| from_before(&one, self.now.wall)) {
                self.take_up(seq, &one, &to);
            }
        }
    }

    /// Keeps a message until its agent is back.
    pub(super) fn wait_for_agent(&mut self, seq: u64) {
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        journey.dispatch.reopen();
        journey.is_asked_once();
        journey.parked = true;
        let message = journey.dispatch.message.clone();
        let tried = journey.dispatch.tried();
        if let Some(agent) = message.address.agent() {
            self.registry.count_waiting(agent);
        }
        self.lies_in_mailbox(&message);
        self.parking.park(Parked { message, why: Why::AgentAway, tried });
        self.answer_sender(seq);
    }

    /// Keeps a message for whom a default handler brings, for a little.
    pub(super) fn await_subscriber(&mut self, seq: u64, handler: AgentId) {
        let Some(journey) = self.journeys.get(&seq) else { return };
        let message = journey.dispatch.message.clone();
        // They may have come before the handler said so.
        let Plan { chain, observers } = self.plan_again(&message);
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        if journey.dispatch.ask_also(chain) {
            return self.go_on(seq);
        }
        let mut new = observers;
        new.retain(|one| !journey.dispatch.is_watched_by(&one.agent));
        if !new.is_empty() {
            for observer in new {
                self.ask(seq, observer, Role::Observer);
            }
            return self.go_on(seq);
        }
        journey.parked = true;
        let tried = journey.dispatch.tried();
        let until = self.now.monotonic + self.settings.unrouted;
        self.parking.park(Parked { message, why: Why::CaredForBy(handler, until), tried });
    }

    /// Someone has come who may take what waited. What waits for one agent is for that agent: a
    /// pattern of another that happens to match does not take it, unless nobody knows that agent.
    /// One that only watches does not take what others were being asked for.
    pub(super) fn resume_parked(&mut self, new: &Subscription) {
        let (registry, by) = (&self.registry, &new.agent);
        let watches = new.policy == Policy::ContinueAll;
        let may = |parked: &Parked| {
            // However it listens, it is the one that the message is for.
            match parked.message.address.agent() {
                Some(agent) if agent == by => return true,
                Some(agent) if registry.knows(agent) => return false,
                Some(_) | None => {}
            }
            let handles = |one: &Tried| !one.observer && one.pattern.as_deref() != Some(UNROUTED);
            !(watches && parked.tried.iter().any(handles))
        };
        let mut parked = self.parking.take_matching(&new.pattern, may);
        if new.pattern.as_str() == UNROUTED && !watches {
            parked.extend(self.parking.take_unheard());
        }
        for parked in parked {
            if let Some(agent) = parked.message.address.agent() {
                self.registry.count_waiting(agent);
            }
            let mut plan = self.plan_again(&parked.message);
            // They have seen it.
            plan.observers.retain(|one| one.agent == new.agent);
            self.resume(parked, plan);
        }
    }

    fn resume(&mut self, parked: Parked, plan: Plan) {
        let seq = parked.message.seq;
        let Plan { chain, observers } = plan;
        let observers_settle = self.do_observers_settle(&parked.message.address, &observers);
        let undecided = match self.journeys.get_mut(&seq) {
            // Its sender has not been answered, or somebody who watches is to be asked again.
            Some(journey) => {
                journey.parked = false;
                // The agent that it waited for may be one that only watches.
                if observers_settle {
                    journey.dispatch.let_observers_settle();
                }
                journey.dispatch.reopen();
                journey.dispatch.ask_also(chain);
                journey.dispatch.to_be_asked_again()
            }
            None => {
                let mut journey = self.journey(parked.message, chain, &observers);
                let undecided = journey.dispatch.take_up(parked.tried, self.now.wall);
                self.journeys.insert(seq, journey);
                undecided
            }
        };
        let undecided =
            undecided.into_iter().filter(|one| !self.deliveries.contains_key(&one.delivery));
        let undecided: Vec<Try> = undecided.collect();
        self.take_up_all(seq, undecided);
        for observer in observers {
            let journey = self.journeys.get(&seq);
            if journey.is_some_and(|one| !one.dispatch.is_watched_by(&observer.agent)) {
                self.ask(seq, observer, Role::Observer);
            }
        }
        self.go_on(seq);
    }

    /// What has waited long enough for a subscription.
    pub(super) fn give_up_waiting(&mut self) {
        while let Some(parked) = self.parking.take_due(self.now.monotonic) {
            match parked.why {
                Why::CaredForBy(handler, _) => {
                    self.end_tried(&parked.tried);
                    self.end(&parked.message, Verdict::Processed(handler));
                }
                Why::Restarted { .. } | Why::AgentAway => self.nobody_came_back(parked),
            }
        }
    }

    fn nobody_came_back(&mut self, parked: Parked) {
        let seq = parked.message.seq;
        let asked = parked.tried.iter().any(|one| !one.observer);
        self.end_tried(&parked.tried);
        let journey = self.journey(parked.message, Vec::new(), &[]);
        self.journeys.insert(seq, journey);
        if asked { self.arrive(seq, Verdict::nobody_came_back()) } else { self.go_on(seq) }
    }
}

/// A recipient that has not come back since the broker was restarted, as it is looked for.
fn from_before(one: &Try, since: switchboard_model::Timestamp) -> Option<Arc<Subscription>> {
    Some(Arc::new(Subscription {
        id: SubscriptionId(0),
        connection: ConnectionId(0),
        agent: one.agent.clone(),
        door: switchboard_model::Door::Bus,
        pattern: Pattern::parse(&one.pattern).ok()?,
        policy: match one.role {
            Role::Observer => Policy::ContinueAll,
            Role::Handler | Role::DefaultHandler => Policy::default(),
        },
        filter: None,
        since,
    }))
}
