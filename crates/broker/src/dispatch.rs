//! One message on its way through its recipients. Pure: answers come in, the next step goes out.
//! `tries` are those who were asked, `questions` is what the core wants to know of it, `verdict` is
//! how it ended.

mod questions;
mod tries;
mod verdict;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    Ack, Again, AgentId, Answer, AttemptOutcome, DeliveryId, DeliveryState, Message, Policy,
    Timestamp,
};
use switchboard_store::Tried;

use crate::route;
use crate::subscriptions::Subscription;
use tries::Tries;
pub(crate) use tries::{Role, Standing, Try};
use verdict::Failure;
pub(crate) use verdict::Verdict;

/// A message whose recipients are being asked.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) message: Arc<Message>,
    /// Not asked yet.
    chain: VecDeque<Arc<Subscription>>,
    tries: Tries,
    /// Whether an observer that processes the message settles it, where nobody else is asked.
    observers_settle: bool,
    /// How the chain last failed, how the addressed agent did, and how an observer did.
    last_failure: Option<Failure>,
    addressee_failure: Option<Failure>,
    observer_failure: Option<Failure>,
    stopped: bool,
    /// Default handlers have been asked, for want of anyone else.
    offered: bool,
    /// Its time has run out: whoever has it may still process it, but nobody is asked any more.
    out_of_time: bool,
    acks: Vec<(Role, Ack)>,
    verdict: Option<Verdict>,
}

/// What to do next with a message.
#[derive(Debug)]
pub(crate) enum Step {
    /// Ask this one.
    Ask(Arc<Subscription>),
    /// Somebody has not answered yet, or is to be asked again.
    Wait,
    /// The default handler has taken care of it: whoever subscribes soon gets it.
    AwaitSubscriber(AgentId),
    /// Everyone who was to be asked has answered.
    Settle(Verdict),
}

impl Dispatch {
    /// Begins to ask. Observers settle nothing that waits for one agent: they are not that agent.
    pub(crate) fn new(
        message: Arc<Message>,
        chain: Vec<Arc<Subscription>>,
        observers_settle: bool,
    ) -> Self {
        Self {
            message,
            chain: chain.into(),
            tries: Tries::default(),
            observers_settle,
            last_failure: None,
            addressee_failure: None,
            observer_failure: None,
            stopped: false,
            offered: false,
            out_of_time: false,
            acks: Vec::new(),
            verdict: None,
        }
    }

    /// Takes up what was tried before the broker or the recipient went away. Those who have decided
    /// are not asked again; returns those who have not, with when they are to be asked.
    pub(crate) fn take_up(&mut self, tried: Vec<Tried>, otherwise_at: Timestamp) -> Vec<Try> {
        let mut undecided = Vec::new();
        // One that ended before it was its turn was never asked.
        let asked = |one: &Tried| one.state != DeliveryState::Failed || one.attempts > 0;
        for one in tried.into_iter().filter(asked) {
            let one = self.tries.take_up(one, otherwise_at);
            if one.role == Role::Handler {
                self.chain.retain(|subscription| subscription.agent != one.agent);
            }
            match one.standing {
                Standing::Failed => self.failed(&one, false),
                Standing::Asked | Standing::Again(_) => undecided.push(one),
                Standing::Processed => {}
            }
        }
        undecided
    }

    /// What has been tried, as it is kept while the message waits for a recipient that is away.
    pub(crate) fn tried(&self) -> Vec<Tried> {
        self.tries.kept()
    }

    /// Someone is being asked for the first time.
    pub(crate) fn asked(&mut self, delivery: DeliveryId, whom: &Subscription, role: Role) {
        self.tries.begin(delivery, whom, role);
    }

    /// Someone is being asked again.
    pub(crate) fn asked_again(&mut self, delivery: DeliveryId) {
        self.tries.stand(delivery, Standing::Asked);
    }

    /// Someone who was to be asked cannot be now, by no fault of its own.
    pub(crate) fn put_off(&mut self, delivery: DeliveryId, until: Timestamp) {
        self.tries.stand(delivery, Standing::Again(until));
    }

    /// It was not this one's turn: it has not been asked this time.
    pub(crate) fn not_asked(&mut self, delivery: DeliveryId, now: Timestamp) {
        self.tries.step_back(delivery, now);
    }

    /// This one is not waited for any more.
    pub(crate) fn ended(&mut self, delivery: DeliveryId) {
        self.tries.stand(delivery, Standing::Failed);
    }

    pub(crate) fn get(&self, delivery: DeliveryId) -> Option<&Try> {
        self.tries.get(delivery)
    }

    /// Others who listen now and have not been asked, newest first: they are asked before the
    /// message is given up.
    pub(crate) fn ask_also(&mut self, chain: Vec<Arc<Subscription>>) -> bool {
        let asked = |agent: &AgentId| self.tries.has(agent, |role| role != Role::Observer);
        let new: Vec<_> = chain.into_iter().filter(|one| !asked(&one.agent)).collect();
        self.chain.extend(new);
        !self.chain.is_empty()
    }

    /// Asks these, for want of anyone else, to see to it that somebody listens. Once is enough.
    pub(crate) fn offer(&mut self, handlers: Vec<Arc<Subscription>>) -> bool {
        if self.offered || handlers.is_empty() {
            return false;
        }
        self.offered = true;
        self.chain = handlers.into();
        true
    }

    /// As what the next of the chain is asked.
    pub(crate) fn role(&self, next: &Subscription) -> Role {
        let is_handler = self.offered && next.pattern.as_str() == route::UNROUTED;
        if is_handler { Role::DefaultHandler } else { Role::Handler }
    }

    /// Who is to be asked next, if the chain goes on.
    pub(crate) fn next(&mut self) -> Step {
        if self.verdict.is_some() {
            return Step::Wait;
        }
        if self.out_of_time {
            self.chain.clear();
        }
        // The chain goes on by its own answers; observers are beside it.
        if self.tries.is_chain_open() {
            return Step::Wait;
        }
        match self.chain.pop_front() {
            Some(next) => Step::Ask(next),
            None if self.tries.is_open() => Step::Wait,
            None => self.conclude(),
        }
    }

    /// Everyone has answered; some may be asked again.
    fn conclude(&mut self) -> Step {
        if let Some(agent) = self.taken_by() {
            return self.settle(Verdict::Processed(agent));
        }
        if self.out_of_time {
            return self.settle(Verdict::Expired);
        }
        let decides = self.who_decides();
        let again = |one: &Try| {
            matches!(one.standing, Standing::Again(_))
                && (one.role == decides || one.role == Role::DefaultHandler)
        };
        if self.tries.iter().any(again) {
            return Step::Wait;
        }
        if let Some(handler) = self.cared_for_by() {
            return match self.observed_by() {
                Some(agent) => self.settle(Verdict::Processed(agent)),
                None => Step::AwaitSubscriber(handler),
            };
        }
        let verdict = self.judge();
        self.settle(verdict)
    }

    fn settle(&mut self, verdict: Verdict) -> Step {
        self.verdict = Some(verdict.clone());
        Step::Settle(verdict)
    }

    /// Takes what a recipient said, and tells what follows from it. `again` is when it is asked
    /// again, if it is.
    pub(crate) fn answered(
        &mut self,
        delivery: DeliveryId,
        policy: Policy,
        answer: Answer,
        again: Option<(Duration, Timestamp)>,
    ) -> Step {
        let processed = answer.outcome == AttemptOutcome::Processed;
        let again = again.filter(|_| !self.out_of_time && !processed);
        let standing = match again {
            _ if processed => Standing::Processed,
            Some((_, at)) => Standing::Again(at),
            None => Standing::Failed,
        };
        let Some(one) = self.tries.stand(delivery, standing) else {
            return Step::Wait;
        };
        one.attempts += 1;
        one.last = (!processed).then(|| (answer.outcome, answer.message.clone()));
        let one = one.clone();
        if standing == Standing::Failed {
            self.failed(&one, answer.again != Again::NotAsked);
        }
        match one.role {
            Role::Handler if stops_chain(policy, &answer) => {
                self.stopped |= answer.stop;
                self.chain.clear();
            }
            // One that sees to it is enough.
            Role::DefaultHandler if processed => self.chain.clear(),
            Role::Handler | Role::Observer | Role::DefaultHandler => {}
        }
        if one.attempts == 1 {
            let ack = Ack {
                agent: one.agent,
                outcome: answer.outcome,
                message: answer.message,
                payload: answer.payload,
                again_in: again.map(|(delay, _)| delay),
            };
            self.acks.push((one.role, ack));
        }
        self.next()
    }

    fn failed(&mut self, one: &Try, gave_up: bool) {
        let Some((outcome, words)) = one.last.clone() else { return };
        let failure = Some(Failure { outcome, gave_up, words });
        match one.role {
            Role::Observer => self.observer_failure = failure,
            Role::Handler if self.message.address.agent() == Some(&one.agent) => {
                self.addressee_failure = failure;
            }
            Role::Handler | Role::DefaultHandler => self.last_failure = failure,
        }
    }

    /// Where others are subscribed one of those must process the message; where there are only
    /// observers any of them that does settles it.
    fn who_decides(&self) -> Role {
        let only_observers = self.observers_settle && self.is_up_to_observers();
        if only_observers { Role::Observer } else { Role::Handler }
    }

    fn taken_by(&self) -> Option<AgentId> {
        let decides = self.who_decides();
        let taken = |one: &&Try| one.role == decides && one.standing == Standing::Processed;
        self.tries.iter().rev().find(taken).map(|one| one.agent.clone())
    }

    fn observed_by(&self) -> Option<AgentId> {
        let saw = |one: &&Try| one.role == Role::Observer && one.standing == Standing::Processed;
        self.tries.iter().find(saw).map(|one| one.agent.clone())
    }

    /// The default handler that has seen to it that somebody will listen.
    fn cared_for_by(&self) -> Option<AgentId> {
        if self.tries.iter().any(|one| one.role == Role::Handler) {
            return None;
        }
        let cares =
            |one: &&Try| one.role == Role::DefaultHandler && one.standing == Standing::Processed;
        self.tries.iter().find(cares).map(|one| one.agent.clone())
    }

    fn judge(&self) -> Verdict {
        let only_observers = self.who_decides() == Role::Observer;
        let failure = if only_observers {
            &self.observer_failure
        } else if self.addressee_failure.is_some() {
            &self.addressee_failure
        } else {
            &self.last_failure
        };
        let asked_others = self.tries.iter().any(|one| one.role == Role::Handler);
        match failure {
            None => Verdict::nobody_subscribed(),
            Some(failure) if only_observers || asked_others => Verdict::of(failure),
            Some(failure) => Verdict::not_taken_care_of(failure.words.as_deref()),
        }
    }

    /// The time of day was set by so many microseconds.
    pub(crate) fn clock_set(&mut self, by: i64) {
        self.tries.clock_set(by);
    }

    /// An observer that processes the message settles it from here on, where nobody else is asked.
    pub(crate) fn let_observers_settle(&mut self) {
        self.observers_settle = true;
    }

    /// The message goes on after all: somebody may come who takes it.
    pub(crate) fn reopen(&mut self) {
        self.verdict = None;
    }

    /// It was settled from outside.
    pub(crate) fn settled(&mut self, verdict: Verdict) {
        self.verdict = Some(verdict);
    }

    /// Its time has run out. Returns what follows, which may be that somebody still has it.
    pub(crate) fn run_out(&mut self) -> Step {
        self.out_of_time = true;
        self.next()
    }

    /// Those who would be asked again, though nothing depends on them any more. Observers are asked
    /// whatever became of the message.
    pub(crate) fn take_idle(&mut self) -> Vec<DeliveryId> {
        let out_of_time = self.out_of_time;
        self.tries.end_waiting(|role| role != Role::Observer || out_of_time)
    }
}

/// Whether nobody after the one that answered so is asked.
fn stops_chain(policy: Policy, answer: &Answer) -> bool {
    let processed = answer.outcome == AttemptOutcome::Processed && !answer.stops_only_on_request;
    match policy {
        Policy::StopPropagationOnProcessed => processed || answer.stop,
        Policy::StopPropagationOnStop => answer.stop,
        Policy::ContinueAll => false,
    }
}

#[cfg(test)]
mod tests;
