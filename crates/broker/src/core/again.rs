//! Asking again: what was not processed the first time.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{AttemptOutcome, DeliveryId, Policy, Timestamp};

use super::answers::failed;
use super::{Core, Open, Phase};
use crate::dispatch::{Role, Standing, Try};
use crate::retry;
use crate::route::UNROUTED;
use crate::subscriptions::Subscription;

impl Core {
    /// This delivery is tried again after that time.
    pub(super) fn rest(&mut self, delivery: DeliveryId, delay: Duration) {
        let Some(open) = self.deliveries.get_mut(&delivery) else { return };
        open.phase = Phase::Resting;
        open.attempt += 1;
        // One that asks for no delay is asked in the next pass: the clock then stands later.
        self.retries.add(self.now.monotonic + delay, (open.seq, delivery));
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
            Some(to) => {
                let Some(mut open) = self.deliveries.remove(&delivery) else { return };
                let Some(journey) = self.journeys.get_mut(&seq) else { return };
                journey.dispatch.asked_again(delivery);
                (open.to, open.phase) = (to, Phase::InLine);
                self.stand_in_line(delivery, open);
            }
            None => self.is_away(seq, delivery),
        }
    }

    /// The recipient is not there to be asked again. A message for that very agent waits for it;
    /// for others the attempt has failed.
    fn is_away(&mut self, seq: u64, delivery: DeliveryId) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let is_addressee = open.message.address.agent() == Some(&open.to.agent);
        if is_addressee && open.role == Role::Handler {
            self.deliveries.remove(&delivery);
            return self.wait_for_agent(seq);
        }
        let words = format!("{} does not listen any more", open.to.agent);
        self.answered(delivery, failed(AttemptOutcome::Disconnected, words));
    }

    /// The subscription by which the recipient of this delivery can be asked now.
    pub(super) fn listening(&self, delivery: DeliveryId) -> Option<Arc<Subscription>> {
        let open = self.deliveries.get(&delivery)?;
        let topic = self.journeys.get(&open.seq)?.dispatch.message.address.topic();
        let wanted = |one: &Subscription| match open.role {
            Role::Handler => one.policy != Policy::ContinueAll && one.pattern.matches(&topic),
            Role::Observer => one.policy == Policy::ContinueAll && one.pattern.matches(&topic),
            Role::DefaultHandler => one.pattern.as_str() == UNROUTED,
        };
        self.registry.subscription_of(&open.to.agent, wanted).cloned()
    }

    /// Takes up a delivery from before: its recipient is asked when it is time, and not before it
    /// has had time to come back.
    pub(super) fn take_up(&mut self, seq: u64, one: &Try, door_of: &Arc<Subscription>) {
        let Some(journey) = self.journeys.get(&seq) else { return };
        let message = journey.dispatch.message.clone();
        let due = match one.standing {
            Standing::Again(at) => Duration::from_micros(at.micros_since(self.now.wall)),
            Standing::Asked | Standing::Processed | Standing::Failed => Duration::ZERO,
        };
        let (to, attempt) = (door_of.clone(), one.attempts);
        let open = Open { seq, role: one.role, to, message, attempt, phase: Phase::Resting };
        self.deliveries.insert(one.delivery, open);
        let patience = match self.listening(one.delivery) {
            Some(_) => Duration::ZERO,
            None => self.patience(one),
        };
        self.rest(one.delivery, due.max(patience));
    }

    fn patience(&self, one: &Try) -> Duration {
        let (made, gone) = (one.attempts.max(1), AttemptOutcome::Disconnected);
        let rule = crate::RetryRule { attempts: u32::MAX, ..self.settings.retry };
        retry::next(&rule, one.delivery, made, gone, switchboard_model::Again::NotAsked)
            .unwrap_or_default()
    }

    /// The time at which what has no time of its own is tried again.
    pub(super) fn at_once(&self) -> Timestamp {
        self.now.wall
    }
}
