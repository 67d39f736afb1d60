//! Asking again: what was not processed the first time.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{Again, AgentId, AttemptOutcome, DeliveryId, Policy};

use super::answers::failed;
use super::{Core, Open, Phase};
use crate::RetryRule;
use crate::dispatch::{Role, Standing, Try};
use crate::retry;
use crate::route::UNROUTED;
use crate::subscriptions::Subscription;

impl Core {
    /// This delivery is tried again after that time.
    pub(super) fn rest(&mut self, delivery: DeliveryId, delay: Duration) {
        let Some(seq) = self.deliveries.get(&delivery).map(|open| open.seq) else { return };
        self.set_phase(delivery, Phase::Resting);
        self.leave_on_disk(seq);
        self.retries.add(self.now.monotonic + delay, (seq, delivery));
    }

    /// Deliveries whose time to be tried again has come.
    pub(super) fn ask_again(&mut self) {
        let now = self.now.monotonic;
        while let Some((seq, delivery)) = self.retries.take_due(now) {
            self.try_again(seq, delivery);
        }
    }

    fn try_again(&mut self, seq: u64, delivery: DeliveryId) {
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        let waits = journey.dispatch.get(delivery).map(|one| one.standing);
        let rests = self.deliveries.get(&delivery).is_some_and(|one| one.phase == Phase::Resting);
        if !rests || !matches!(waits, Some(Standing::Again(_))) {
            return;
        }
        match self.listening(delivery) {
            Some(to) => self.back_in_line(seq, delivery, to),
            None => self.is_away(seq, delivery),
        }
    }

    fn back_in_line(&mut self, seq: u64, delivery: DeliveryId, to: Arc<Subscription>) {
        let Some(mut open) = self.close(delivery) else { return };
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        journey.dispatch.asked_again(delivery);
        (open.to, open.phase) = (to, Phase::InLine);
        self.stand_in_line(delivery, open);
    }

    /// The recipient is not there to be asked again. A message for that very agent waits for it;
    /// for others the attempt has failed.
    fn is_away(&mut self, seq: u64, delivery: DeliveryId) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        if self.is_up_to_its_addressee(open) {
            self.close(delivery);
            return self.wait_for_agent(seq);
        }
        let words = format!("{} does not listen any more", open.to.agent);
        self.answered(delivery, failed(AttemptOutcome::Disconnected, words));
    }

    /// Whether this goes to the very agent that the message is for, and it is up to that agent what becomes of it: then
    /// the message waits for it. However it listens, if nobody else was asked.
    pub(super) fn is_up_to_its_addressee(&self, open: &Open) -> bool {
        let nobody_else =
            || self.journeys.get(&open.seq).is_some_and(|one| one.dispatch.is_up_to_observers());
        open.message.address.agent() == Some(&open.to.agent)
            && match open.role {
                Role::Handler => true,
                Role::Observer => nobody_else(),
                Role::DefaultHandler => false,
            }
    }

    /// The subscription by which the recipient of this delivery can be asked now.
    pub(super) fn listening(&self, delivery: DeliveryId) -> Option<Arc<Subscription>> {
        let open = self.deliveries.get(&delivery)?;
        let topic = self.journeys.get(&open.seq)?.dispatch.message.address.topic();
        let observes = |one: &Subscription| one.policy == Policy::ContinueAll;
        let wanted = |one: &Subscription| match open.role {
            Role::Handler => !observes(one) && one.pattern.matches(&topic),
            Role::Observer => observes(one) && one.pattern.matches(&topic),
            Role::DefaultHandler => one.pattern.as_str() == UNROUTED,
        };
        let agent = &open.to.agent;
        let same = self.registry.subscription_of(agent, wanted);
        // It may listen in another way by now; whom it was to be asked is what counts.
        let any = |one: &Subscription| one.pattern.matches(&topic);
        let other = || match open.role {
            Role::Handler | Role::Observer => self.registry.subscription_of(agent, any),
            Role::DefaultHandler => None,
        };
        same.or_else(other).cloned()
    }

    /// Takes up a delivery from before: its recipient is asked when it is time, at once if it is,
    /// and not before it has had time to come back.
    pub(super) fn take_up(&mut self, seq: u64, one: &Try, before: &Arc<Subscription>) {
        let Some(journey) = self.journeys.get(&seq) else { return };
        let message = journey.dispatch.message.clone();
        let due = match one.standing {
            Standing::Again(at) => Duration::from_micros(at.micros_since(self.now.wall)),
            Standing::Asked | Standing::Processed | Standing::Failed => Duration::ZERO,
        };
        let (to, attempt, phase) = (before.clone(), one.attempts + 1, Phase::InLine);
        // What was permitted before is asked for again.
        let permitted_by = 0;
        let open = Open { seq, role: one.role, to, message, attempt, phase, permitted_by };
        self.deliveries.insert(one.delivery, open);
        match self.listening(one.delivery) {
            Some(to) if due.is_zero() => self.back_in_line(seq, one.delivery, to),
            Some(_) => self.rest(one.delivery, due),
            None => {
                let at = self.now.monotonic + due;
                let waiting = self.absent.entry(one.agent.clone()).or_default();
                waiting.push((seq, one.delivery, at));
                self.rest(one.delivery, due.max(self.patience(one)));
            }
        }
    }

    /// One that has come back is asked at once for what is due.
    pub(super) fn welcome_back(&mut self, agent: &AgentId) {
        let now = self.now.monotonic;
        for (seq, delivery, at) in self.absent.remove(agent).unwrap_or_default() {
            if at > now {
                self.retries.add(at, (seq, delivery));
            } else if self.listening(delivery).is_some() {
                self.try_again(seq, delivery);
            } else {
                self.absent.entry(agent.clone()).or_default().push((seq, delivery, at));
            }
        }
    }

    /// How long one that is away has to come back: as long as everyone has after a restart.
    fn patience(&self, one: &Try) -> Duration {
        let (made, gone) = (one.attempts.max(1), AttemptOutcome::Disconnected);
        let rule = RetryRule { attempts: u32::MAX, ..self.settings.retry };
        let usual = retry::next(&rule, one.delivery, made, gone, Again::NotAsked);
        let left = self.back_by.saturating_duration_since(self.now.monotonic);
        left.max(usual.unwrap_or_default())
    }
}
