//! Messages that wait for a subscription: for an agent that is away, for listeners to come back
//! after a restart, for whom a default handler brings.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_model::{AgentId, ConnectionId, Message, Pattern, Policy, SubscriptionId, Topic};
use switchboard_store::Tried;

use super::{Core, Journey};
use crate::dispatch::{Role, Try, Verdict};
use crate::parking::{Parked, Why};
use crate::route::{self, Plan, UNROUTED};
use crate::subscriptions::Subscription;

/// Messages read at a time when the broker comes back.
const RECOVER: u32 = 500;

impl Core {
    /// Parks every message that was on its way when the broker ended. Those for an agent wait for
    /// it; those on a topic get one delivery time for somebody to come back, counted from when they
    /// are to be tried.
    pub(super) async fn recover(&mut self) {
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
    }

    async fn tried(&self, messages: &[Message]) -> HashMap<u64, Vec<Tried>> {
        let seqs: Vec<u64> = messages.iter().map(|message| message.seq).collect();
        let found = self.store.tried(&seqs).await.unwrap_or_else(|error| {
            tracing::error!(%error, "what was tried before the restart is tried again");
            Vec::new()
        });
        let mut tried: HashMap<u64, Vec<Tried>> = HashMap::new();
        for (seq, one) in found {
            tried.entry(seq).or_default().push(one);
        }
        tried
    }

    fn recover_one(&mut self, message: Arc<Message>, tried: Vec<Tried>) {
        self.mind_expiry(&message);
        let message = self.held.take_up(message);
        let is_handler = |one: &&Tried| one.pattern.as_deref() == Some(UNROUTED);
        let processed = |one: &&Tried| one.state == switchboard_model::DeliveryState::Processed;
        let taken = tried.iter().filter(processed).find(|one| !one.observer && !is_handler(one));
        if let Some(taken) = taken {
            // It was processed, and the broker ended before it had written that down.
            return self.settle(&message, Verdict::Processed(taken.agent.clone()));
        }
        let why = match tried.iter().filter(processed).find(is_handler) {
            Some(handler) => {
                let until = self.now.monotonic + self.settings.unrouted;
                Why::CaredForBy(handler.agent.clone(), until)
            }
            None if message.address.agent().is_some_and(|id| self.registry.knows(id)) => {
                Why::AgentAway
            }
            None => {
                let due = tried.iter().filter_map(|one| one.due_at).max();
                let rest = due.map_or(0, |at| at.micros_since(self.now.wall));
                let rest = std::time::Duration::from_micros(rest);
                Why::Restarted(self.now.monotonic + self.settings.timeout + rest)
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
            let seq = message.seq;
            let tried = tried.remove(&seq).unwrap_or_default();
            let by = AgentId::switchboard();
            let mut journey = self.journey(Arc::new(message), Vec::new(), &[]);
            let undecided = journey.dispatch.take_up(tried, self.at_once());
            journey.dispatch.settled(Verdict::Processed(by));
            self.journeys.insert(seq, journey);
            self.take_up_all(seq, undecided);
        }
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
            receipt: None,
            parked: false,
            reply: None,
            replaces: None,
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
            self.registry.mark_changed(agent);
        }
        self.parking.park(Parked { message, why: Why::AgentAway, tried });
        self.answer_sender(seq);
    }

    /// Keeps a message for whom a default handler brings, for a little.
    pub(super) fn await_subscriber(&mut self, seq: u64, handler: AgentId) {
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        let message = journey.dispatch.message.clone();
        // They may have come before the handler said so.
        let plan = route::plan(&self.subscriptions, &message.address.topic());
        if journey.dispatch.ask_also(plan.chain) {
            return self.go_on(seq);
        }
        journey.parked = true;
        let tried = journey.dispatch.tried();
        let until = self.now.monotonic + self.settings.unrouted;
        self.parking.park(Parked { message, why: Why::CaredForBy(handler, until), tried });
    }

    /// Someone has come who may take what waited. What waits for one agent is for that agent: a
    /// pattern of another that happens to match does not take it, unless nobody knows that agent.
    pub(super) fn resume_parked(&mut self, pattern: &Pattern, by: &AgentId) {
        let registry = &self.registry;
        let is_for = |topic: &Topic| {
            topic.agent().is_none_or(|agent| agent == *by || !registry.knows(&agent))
        };
        for parked in self.parking.take_matching(pattern, is_for) {
            if let Some(agent) = parked.message.address.agent() {
                self.registry.mark_changed(agent);
            }
            let mut plan = route::plan(&self.subscriptions, &parked.message.address.topic());
            // They have seen it.
            plan.observers.retain(|one| one.agent == *by);
            self.resume(parked, plan);
        }
    }

    fn resume(&mut self, parked: Parked, plan: Plan) {
        let seq = parked.message.seq;
        let Plan { chain, observers } = plan;
        let undecided = match self.journeys.get_mut(&seq) {
            // Its sender has not been answered, or somebody who watches is to be asked again.
            Some(journey) => {
                journey.parked = false;
                journey.dispatch.reopen();
                journey.dispatch.ask_also(chain);
                journey.dispatch.to_be_asked_again()
            }
            None => {
                let mut journey = self.journey(parked.message, chain, &observers);
                let undecided = journey.dispatch.take_up(parked.tried, self.at_once());
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
            let verdict = match parked.why {
                Why::CaredForBy(handler, _) => Verdict::Processed(handler),
                Why::Restarted(_) | Why::AgentAway => Verdict::nobody_came_back(),
            };
            self.end(&parked.message, verdict);
        }
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
        since,
    }))
}
