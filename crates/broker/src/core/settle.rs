//! How a message's way ends.

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{AgentId, DeadReason, DeliveryState, Event, Message, MessageState, Topic};
use switchboard_store::{Record, Tried};

use super::lifecycle::is_own_event;
use super::{Core, Phase};
use crate::dispatch::{Role, Verdict};
use crate::subscriptions::Subscription;

impl Core {
    /// Everyone has been asked. Before a message is given up for want of a recipient, whoever
    /// listens now is asked; one for an agent that is known waits for it; for any other the default
    /// handler is asked.
    pub(super) fn arrive(&mut self, seq: u64, verdict: Verdict) {
        let own = self.is_own_event(seq);
        let Some(journey) = self.journeys.get(&seq) else { return };
        let message = journey.dispatch.message.clone();
        let now = verdict.is_for_want_of_a_recipient().then(|| self.plan_again(&message));
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        if let (Verdict::Dead { reason, .. }, false) = (&verdict, own) {
            if let Some(now) = now {
                if journey.dispatch.ask_also(now.chain) {
                    journey.dispatch.reopen();
                    return self.go_on(seq);
                }
                // However it listens, it is the one that the message is for.
                let itself = |one: &Arc<Subscription>| {
                    message.address.agent() == Some(&one.agent)
                        && !journey.dispatch.is_watched_by(&one.agent)
                };
                if let Some(observer) = now.observers.into_iter().find(itself) {
                    journey.dispatch.reopen();
                    journey.dispatch.let_observers_settle();
                    self.ask(seq, observer, Role::Observer);
                    return self.go_on(seq);
                }
            }
            let waits_for = message.address.agent().filter(|id| {
                self.registry.knows(id)
                    && !journey.dispatch.has_asked(id)
                    && !journey.dispatch.is_watched_by(id)
                    && !journey.dispatch.is_stopped()
            });
            if waits_for.is_some() {
                return self.wait_for_agent(seq);
            }
            // One that only watches is nobody to take it.
            let unheard =
                *reason == DeadReason::NobodySubscribed || journey.dispatch.is_only_watched();
            if unheard && self.offer(seq) {
                return self.go_on(seq);
            }
        }
        self.end(&message, verdict);
    }

    /// The message is settled, and its sender may be told.
    pub(super) fn end(&mut self, message: &Arc<Message>, verdict: Verdict) {
        let seq = message.seq;
        if let Some(journey) = self.journeys.get_mut(&seq) {
            journey.dispatch.settled(verdict.clone());
            journey.is_asked_once();
            journey.parked = false;
            let idle = journey.dispatch.take_idle();
            for delivery in idle {
                self.close(delivery);
                self.bookkeeping.push(Record::DeliveryEnded(delivery));
            }
        }
        self.settle(message, verdict);
        self.answer_sender(seq);
    }

    /// The message ends so, whoever has it, waits for it or is to be asked again.
    pub(super) fn conclude(&mut self, seq: u64, topic: &Topic, verdict: Verdict) {
        let Some(journey) = self.journeys.get(&seq) else {
            if let Some(parked) = self.parking.remove_at(topic, seq) {
                self.end_tried(&parked.tried);
                self.settle(&parked.message, verdict);
            }
            return;
        };
        if journey.dispatch.state() != MessageState::Waiting {
            return;
        }
        let message = journey.dispatch.message.clone();
        let words = match &verdict {
            Verdict::Dead { error, .. } => error.clone(),
            Verdict::Processed(_) | Verdict::Expired => String::new(),
        };
        for delivery in journey.dispatch.undecided() {
            let Some(open) = self.deliveries.get(&delivery) else { continue };
            if matches!(open.phase, Phase::Handed(_)) {
                self.record_silence(delivery, &words);
            } else {
                self.bookkeeping.push(Record::DeliveryEnded(delivery));
            }
            self.take_back(delivery);
            if let Some(journey) = self.journeys.get_mut(&seq) {
                journey.dispatch.ended(delivery);
            }
        }
        self.parking.remove(&message);
        self.end(&message, verdict);
    }

    /// Who was asked last about a message on its way.
    fn last_asked(&self, seq: u64) -> Option<AgentId> {
        let tried = self.journeys.get(&seq)?.dispatch.tried();
        tried.last().map(|one| one.agent.clone())
    }

    pub(super) fn settle(&mut self, message: &Message, verdict: Verdict) {
        self.parking.remove(message);
        self.held.remove(message.seq);
        self.call_settled(message, &verdict);
        self.totals.waiting -= 1;
        let own = is_own_event(message);
        let (state, to, error) = match verdict {
            Verdict::Processed(agent) => (MessageState::Processed, Some(agent), None),
            // An event of the broker's own was told to those who listen; more was not wanted.
            Verdict::Dead { error, .. } if own => (MessageState::Processed, None, Some(error)),
            Verdict::Dead { reason, error } => {
                self.bury(message.seq, reason);
                (MessageState::Dead, None, Some(error))
            }
            Verdict::Expired => {
                self.bury(message.seq, DeadReason::Expired);
                let error = "its time ran out before anyone processed it".to_owned();
                (MessageState::Expired, None, Some(error))
            }
        };
        match state {
            MessageState::Processed => self.totals.processed += 1,
            MessageState::Expired => self.totals.expired += 1,
            MessageState::Dead
            | MessageState::Waiting
            | MessageState::Discarded
            | MessageState::Refused => self.totals.dead += 1,
        }
        self.jobs.settled_one(message.seq, state);
        if let (Some(replay_of), Some(error), true) = (message.replay_of, &error, is_death(state)) {
            let (id, topic) = (message.id, message.address.topic());
            let error = error.as_str().into();
            self.tell(Event::DiedAgain { id, replay_of, topic, error });
        }
        tracing::debug!(
            message_id = %message.id,
            conversation_id = message.conversation.as_ref().map(|id| &*id.0),
            state = state.as_str(),
            error = error.as_deref(),
            "settled"
        );
        self.tell(Event::Moved {
            seq: message.seq,
            state,
            to: to.clone(),
            last_asked: self.last_asked(message.seq).filter(|_| is_death(state)),
            took_micros: Some(self.now.wall.micros_since(message.accepted_at)),
            error: error.as_deref().map(Into::into),
            retry_at: None,
        });
        self.bookkeeping.push(Record::Settled {
            message: message.seq,
            from: MessageState::Waiting,
            state,
            at: self.now.wall,
            to,
            error,
        });
    }

    /// Those of a message that is over who were still to be asked.
    pub(super) fn end_tried(&mut self, tried: &[Tried]) {
        for one in tried.iter().filter(|one| one.state == DeliveryState::Waiting) {
            self.bookkeeping.push(Record::DeliveryEnded(one.delivery));
        }
    }

    fn bury(&mut self, message: u64, reason: DeadReason) {
        self.letters.insert(message);
        self.bookkeeping.push(Record::DeadLetter { message, reason, at: self.now.wall });
    }

    /// Remembers when a message stops being worth delivering.
    pub(super) fn mind_expiry(&mut self, message: &Message) {
        if let Some(at) = message.expires_at {
            let left = Duration::from_micros(at.micros_since(self.now.wall));
            let topic = message.address.topic();
            self.expiries.add(self.now.monotonic + left, (message.seq, topic));
        }
    }

    /// Messages whose time has run out. Whoever has one in hand may still process it.
    pub(super) fn expire(&mut self) {
        while let Some((seq, topic)) = self.expiries.take_due(self.now.monotonic) {
            let Some(journey) = self.journeys.get_mut(&seq) else {
                if let Some(parked) = self.parking.remove_at(&topic, seq) {
                    self.end_tried(&parked.tried);
                    self.settle(&parked.message, Verdict::Expired);
                }
                continue;
            };
            if journey.dispatch.state() != MessageState::Waiting {
                continue;
            }
            for delivery in journey.dispatch.being_asked() {
                if self.deliveries.get(&delivery).is_some_and(|one| one.phase == Phase::InLine) {
                    self.take_back(delivery);
                    self.bookkeeping.push(Record::DeliveryEnded(delivery));
                    if let Some(journey) = self.journeys.get_mut(&seq) {
                        journey.dispatch.not_asked(delivery, self.now.wall);
                    }
                }
            }
            if let Some(journey) = self.journeys.get_mut(&seq) {
                let step = journey.dispatch.run_out();
                self.follow(seq, step);
            }
        }
    }
}

/// Whether a message that comes to this is a dead letter.
fn is_death(state: MessageState) -> bool {
    match state {
        MessageState::Dead | MessageState::Expired => true,
        MessageState::Waiting
        | MessageState::Processed
        | MessageState::Discarded
        | MessageState::Refused => false,
    }
}
