//! What recipients say, and what follows from it.

use std::time::Duration;

use switchboard_model::{
    Again, Answer, AttemptId, AttemptOutcome, DeliveryId, DeliveryState, Event, Kind, MessageState,
    Timestamp,
};
use switchboard_store::{AttemptRecord, Record};

use super::{Core, Open, Phase};
use crate::broker::Caller;
use crate::dispatch::Role;
use crate::retry;
use crate::subscriptions::Subscription;

impl Core {
    /// Hears a recipient's answer. One that is not its own changes nothing; one that is late counts
    /// if the message was processed after all, since to ask again would be to ask for a double.
    pub(super) fn hear(&mut self, caller: Caller, attempt: AttemptId, answer: Answer) {
        let AttemptId(delivery, attempt) = attempt;
        let Caller::Connection(from) = caller else {
            return;
        };
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let in_time = matches!(open.phase, Phase::Handed(_)) && attempt == open.attempt;
        let late = attempt < open.attempt && answer.outcome == AttemptOutcome::Processed;
        if open.to.connection == from && (in_time || late) {
            self.answered(delivery, answer);
        }
    }

    /// A recipient has gone with this delivery in its line or in its hands.
    pub(super) fn recipient_gone(&mut self, delivery: DeliveryId) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let words = match open.phase {
            Phase::Handed(_) => "the connection ended before it answered",
            Phase::InLine | Phase::Loading | Phase::Resting => {
                "the connection ended before it was its turn"
            }
        };
        let not_its_turn = matches!(open.phase, Phase::InLine | Phase::Loading);
        if not_its_turn && self.is_up_to_its_addressee(open) {
            // It waits for its agent, as if that had been away before.
            let (seq, asked_before) = (open.seq, open.attempt > 1);
            self.close(delivery);
            let Some(journey) = self.journeys.get_mut(&seq) else { return };
            journey.dispatch.not_asked(delivery, self.now.wall);
            if asked_before {
                return self.wait_for_agent(seq);
            }
            self.bookkeeping.push(Record::DeliveryEnded(delivery));
            return self.go_on(seq);
        }
        self.answered(delivery, failed(AttemptOutcome::Disconnected, words));
    }

    /// Recipients that said nothing in time.
    pub(super) fn time_out(&mut self) {
        let open = &self.deliveries;
        let is_open = |AttemptId(id, attempt)| {
            open.get(&id).is_some_and(|one: &Open| {
                one.attempt == attempt && matches!(one.phase, Phase::Handed(_))
            })
        };
        let due = self.deadlines.take_due(self.now.monotonic, is_open);
        let seconds = self.settings.timeout.as_secs_f64();
        for delivery in due {
            if self.has_told_of_progress(delivery) {
                continue;
            }
            let words = format!("no answer within {seconds} s");
            self.answered(delivery, failed(AttemptOutcome::TimedOut, words));
        }
    }

    /// Whether its recipient is known to be at work; then it is asked about later.
    fn has_told_of_progress(&mut self, delivery: DeliveryId) -> bool {
        let Some(open) = self.deliveries.get(&delivery) else { return false };
        let until = self.calls.get(open.seq).and_then(|call| call.progress_until);
        let Some(until) = until.filter(|until| *until > self.now.monotonic) else { return false };
        self.deadlines.push_apart(until, AttemptId(delivery, open.attempt));
        true
    }

    pub(super) fn answered(&mut self, delivery: DeliveryId, mut answer: Answer) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let fits = self.check_output(open.seq, open.role, &open.to.agent, &mut answer);
        // What does not fit a schema will not fit it the next time.
        self.take_answer(delivery, answer, fits);
    }

    /// Takes an answer that has been looked at.
    pub(super) fn take_answer(
        &mut self,
        delivery: DeliveryId,
        answer: Answer,
        may_ask_again: bool,
    ) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let (seq, attempt, to, role) = (open.seq, open.attempt, open.to.clone(), open.role);
        let started_at = match open.phase {
            Phase::Handed(at) => at,
            Phase::InLine | Phase::Loading | Phase::Resting => self.now.wall,
        };
        if let Some(connection) = self.registry.connection_mut(to.connection) {
            connection.line.done(delivery);
        }
        if heard_of(answer.outcome) {
            self.registry.touch(&to.agent, self.now);
        }
        if !self.journeys.contains_key(&seq) {
            self.close(delivery);
            return;
        }
        // One that answers by a message of its own got the request and is slow; to ask it again would
        // be to ask for the same work twice.
        let silent = answer.outcome == AttemptOutcome::TimedOut && to.door.answers_by_message();
        if silent {
            // It may still answer, and then who asked hears of it.
            self.note_taken(seq, &to.agent);
        }
        let decided = silent || !may_ask_again;
        let Some(journey) = self.journeys.get(&seq) else { return };
        let over = journey.dispatch.is_out_of_time() || self.is_own_event(seq);
        let again = if over || decided {
            None
        } else {
            retry::next(&self.settings.retry, delivery, attempt, answer.outcome, answer.again)
        };
        let again = again.map(|delay| match answer.outcome {
            // Another connection of the same agent may take it at once.
            AttemptOutcome::Disconnected if self.listening(delivery).is_some() => Duration::ZERO,
            AttemptOutcome::Processed
            | AttemptOutcome::Declined
            | AttemptOutcome::InvalidAnswer
            | AttemptOutcome::TimedOut
            | AttemptOutcome::Disconnected
            | AttemptOutcome::QueueFull
            | AttemptOutcome::Forbidden => delay,
        });
        let again = again.map(|delay| (delay, self.now.wall.plus(delay)));
        self.bookkeeping.push(Record::Attempt(AttemptRecord {
            delivery,
            number: attempt,
            started_at,
            ended_at: self.now.wall,
            outcome: answer.outcome,
            message: answer.message.clone(),
            payload: answer.payload.clone(),
            state: match (answer.outcome, again) {
                (AttemptOutcome::Processed, _) => DeliveryState::Processed,
                (_, Some(_)) => DeliveryState::Waiting,
                (_, None) => DeliveryState::Failed,
            },
            due_at: again.map(|(_, at)| at),
        }));
        match again {
            Some((delay, at)) => {
                if let Some(open) = self.deliveries.get_mut(&delivery) {
                    open.attempt += 1;
                }
                self.rest(delivery, delay);
                self.show_retry(seq, &to, at, answer.message.as_deref());
            }
            None => drop(self.close(delivery)),
        }
        if role == Role::Handler && answer.outcome == AttemptOutcome::Processed {
            self.measure_answer(seq);
            self.call_taken(seq, &to.agent, to.door, answer.payload.as_ref());
        }
        let Some(journey) = self.journeys.get_mut(&seq) else { return };
        let step = journey.dispatch.answered(delivery, to.policy, answer, again);
        self.follow(seq, step);
        self.ready(to.connection);
    }

    fn measure_answer(&self, seq: u64) {
        let Some(journey) = self.journeys.get(&seq) else { return };
        let message = &journey.dispatch.message;
        if message.kind == Kind::Request {
            let micros = self.now.wall.micros_since(message.accepted_at);
            self.metrics.answered(message.door, micros);
        }
    }

    /// A recipient kept silent until nobody waited any more.
    pub(super) fn record_silence(&mut self, delivery: DeliveryId, words: &str) {
        let Some(open) = self.deliveries.get(&delivery) else { return };
        let Phase::Handed(started_at) = open.phase else { return };
        self.bookkeeping.push(Record::Attempt(AttemptRecord {
            delivery,
            number: open.attempt,
            started_at,
            ended_at: self.now.wall,
            outcome: AttemptOutcome::TimedOut,
            message: Some(words.to_owned()),
            payload: None,
            state: DeliveryState::Failed,
            due_at: None,
        }));
    }

    fn show_retry(&mut self, seq: u64, to: &Subscription, at: Timestamp, error: Option<&str>) {
        let Some(journey) = self.journeys.get(&seq) else { return };
        if journey.dispatch.state() != MessageState::Waiting {
            return;
        }
        self.tell(Event::Moved {
            seq,
            state: MessageState::Waiting,
            last_asked: None,
            to: Some(to.agent.clone()),
            took_micros: None,
            error: error.map(Into::into),
            retry_at: Some(at),
        });
    }
}

/// Whether it tells that the recipient is there.
fn heard_of(outcome: AttemptOutcome) -> bool {
    match outcome {
        AttemptOutcome::Processed | AttemptOutcome::Declined | AttemptOutcome::InvalidAnswer => {
            true
        }
        AttemptOutcome::TimedOut
        | AttemptOutcome::Disconnected
        | AttemptOutcome::QueueFull
        | AttemptOutcome::Forbidden => false,
    }
}

pub(super) fn failed(outcome: AttemptOutcome, words: impl Into<String>) -> Answer {
    Answer {
        outcome,
        stop: false,
        stops_only_on_request: false,
        again: Again::NotAsked,
        message: Some(words.into()),
        payload: None,
    }
}
