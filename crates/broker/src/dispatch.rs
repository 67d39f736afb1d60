//! One message on its way through its recipients. Pure: answers come in, the next step goes out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    Ack, Again, AgentId, Answer, AttemptOutcome, DeadReason, DeliveryId, DeliveryState, Message,
    MessageState, Policy, Receipt, Timestamp,
};
use switchboard_store::Tried;

use crate::route;
use crate::subscriptions::Subscription;

/// A message whose recipients are being asked.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) message: Arc<Message>,
    /// Not asked yet.
    chain: VecDeque<Arc<Subscription>>,
    /// Everyone who was asked, in that order, which is also the order of their deliveries.
    tries: Vec<Try>,
    /// How many of them have not answered, and how many of those are no observers.
    open: usize,
    open_handlers: usize,
    /// Whether an observer that processes the message settles it, where nobody else is asked.
    observers_settle: bool,
    /// How the chain last failed, how the addressed agent did, and how an observer did.
    last_failure: Option<Failure>,
    addressee_failure: Option<Failure>,
    observer_failure: Option<Failure>,
    stopped: bool,
    /// Whom the chain asks now: default handlers, for want of anyone else.
    offered: bool,
    /// Its time has run out: whoever has it may still process it, but nobody is asked any more.
    out_of_time: bool,
    acks: Vec<Ack>,
    verdict: Option<Verdict>,
}

/// One recipient, and how it went so far.
#[derive(Clone, Debug)]
pub(crate) struct Try {
    pub(crate) delivery: DeliveryId,
    pub(crate) agent: AgentId,
    pub(crate) pattern: String,
    pub(crate) role: Role,
    /// How often it has answered, or failed to.
    pub(crate) attempts: u32,
    pub(crate) standing: Standing,
    /// How the last attempt ended, if it did not end well.
    last: Option<(AttemptOutcome, Option<String>)>,
}

/// Where one recipient's delivery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// In line, or in its hands.
    Asked,
    /// To be asked again then.
    Again(Timestamp),
    Processed,
    Failed,
}

/// As what a recipient was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One of the chain.
    Handler,
    /// Beside the chain.
    Observer,
    /// For want of anyone else: to see to it that somebody listens.
    DefaultHandler,
}

/// How a recipient failed for good.
#[derive(Clone, Debug)]
struct Failure {
    outcome: AttemptOutcome,
    /// It asked for another try to the end.
    gave_up: bool,
    words: Option<String>,
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

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// This agent took care of it.
    Processed(AgentId),
    /// Nobody did.
    Dead { reason: DeadReason, error: String },
    /// Its time ran out first.
    Expired,
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
            tries: Vec::new(),
            open: 0,
            open_handlers: 0,
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
        for one in tried {
            let role = match one.pattern.as_deref() {
                _ if one.observer => Role::Observer,
                Some(route::UNROUTED) => Role::DefaultHandler,
                Some(_) | None => Role::Handler,
            };
            let listens = |sub: &Arc<Subscription>| sub.agent == one.agent;
            let standing = match one.state {
                DeliveryState::Processed => Standing::Processed,
                DeliveryState::Failed => Standing::Failed,
                DeliveryState::Waiting => Standing::Again(one.due_at.unwrap_or(otherwise_at)),
            };
            if role == Role::Handler {
                self.chain.retain(|sub| !listens(sub));
            }
            let resumed = Try {
                delivery: one.delivery,
                agent: one.agent,
                pattern: one.pattern.unwrap_or_default(),
                role,
                attempts: one.attempts,
                standing,
                last: one.last,
            };
            match standing {
                Standing::Failed => self.failed(&resumed, false),
                Standing::Asked | Standing::Again(_) => undecided.push(resumed.clone()),
                Standing::Processed => {}
            }
            self.tries.push(resumed);
        }
        self.tries.sort_unstable_by_key(|one| one.delivery);
        undecided
    }

    /// Whether this agent watches already.
    pub(crate) fn is_watched_by(&self, agent: &AgentId) -> bool {
        self.tries.iter().any(|one| one.role == Role::Observer && one.agent == *agent)
    }

    /// What has been tried, as it is kept while the message waits for a recipient that is away.
    pub(crate) fn tried(&self) -> Vec<Tried> {
        let kept = |one: &Try| Tried {
            delivery: one.delivery,
            agent: one.agent.clone(),
            pattern: Some(one.pattern.clone()),
            observer: one.role == Role::Observer,
            state: match one.standing {
                Standing::Asked | Standing::Again(_) => DeliveryState::Waiting,
                Standing::Processed => DeliveryState::Processed,
                Standing::Failed => DeliveryState::Failed,
            },
            due_at: None,
            attempts: one.attempts,
            last: one.last.clone(),
        };
        self.tries.iter().map(kept).collect()
    }

    /// Someone is being asked for the first time.
    pub(crate) fn asked(&mut self, delivery: DeliveryId, whom: &Subscription, role: Role) {
        self.tries.push(Try {
            delivery,
            agent: whom.agent.clone(),
            pattern: whom.pattern.to_string(),
            role,
            attempts: 0,
            standing: Standing::Asked,
            last: None,
        });
        self.count(role, true);
    }

    fn count(&mut self, role: Role, opens: bool) {
        let change = |count: &mut usize| *count = if opens { *count + 1 } else { *count - 1 };
        change(&mut self.open);
        if role != Role::Observer {
            change(&mut self.open_handlers);
        }
    }

    /// Someone is being asked again.
    pub(crate) fn asked_again(&mut self, delivery: DeliveryId) {
        if let Some(one) = self.get_mut(delivery)
            && one.standing != Standing::Asked
        {
            one.standing = Standing::Asked;
            let role = one.role;
            self.count(role, true);
        }
    }

    /// It was not this one's turn, and will not be: it has not been asked this time.
    pub(crate) fn not_asked(&mut self, delivery: DeliveryId) {
        let Some(one) = self.get_mut(delivery).filter(|one| one.standing == Standing::Asked) else {
            return;
        };
        let (role, first_time) = (one.role, one.attempts == 0);
        one.standing = Standing::Failed;
        self.count(role, false);
        if first_time {
            self.tries.retain(|one| one.delivery != delivery);
        }
    }

    pub(crate) fn get(&self, delivery: DeliveryId) -> Option<&Try> {
        let at = self.tries.binary_search_by_key(&delivery, |one| one.delivery).ok()?;
        self.tries.get(at)
    }

    fn get_mut(&mut self, delivery: DeliveryId) -> Option<&mut Try> {
        let at = self.tries.binary_search_by_key(&delivery, |one| one.delivery).ok()?;
        self.tries.get_mut(at)
    }

    /// Others who listen now and have not been asked, newest first: they are asked before the
    /// message is given up.
    pub(crate) fn ask_also(&mut self, chain: Vec<Arc<Subscription>>) -> bool {
        let asked = |sub: &Arc<Subscription>| {
            self.tries.iter().any(|one| one.role != Role::Observer && one.agent == sub.agent)
        };
        let new: Vec<_> = chain.into_iter().filter(|sub| !asked(sub)).collect();
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

    /// Whether this agent was asked as one of the chain.
    pub(crate) fn has_asked(&self, agent: &AgentId) -> bool {
        self.tries.iter().any(|one| one.role == Role::Handler && one.agent == *agent)
    }

    /// Whether only observers were asked.
    pub(crate) fn is_only_watched(&self) -> bool {
        self.tries.iter().all(|one| one.role == Role::Observer)
    }

    /// Those who are being asked.
    pub(crate) fn being_asked(&self) -> Vec<DeliveryId> {
        let asked = self.tries.iter().filter(|one| one.standing == Standing::Asked);
        asked.map(|one| one.delivery).collect()
    }

    /// Those of the chain who are to be asked again.
    pub(crate) fn to_be_asked_again(&self) -> Vec<Try> {
        let again =
            |one: &&Try| matches!(one.standing, Standing::Again(_)) && one.role != Role::Observer;
        self.tries.iter().filter(again).cloned().collect()
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
        if self.open_handlers > 0 {
            return Step::Wait;
        }
        match self.chain.pop_front() {
            Some(next) => Step::Ask(next),
            None if self.open > 0 => Step::Wait,
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
        let decides = if self.only_observers() { Role::Observer } else { Role::Handler };
        let again = |one: &Try| {
            matches!(one.standing, Standing::Again(_))
                && (one.role == decides || one.role == Role::DefaultHandler)
        };
        if self.tries.iter().any(again) {
            return Step::Wait;
        }
        if let Some(handler) = self.cared_for_by() {
            return Step::AwaitSubscriber(handler);
        }
        let verdict = self.judge();
        self.settle(verdict)
    }

    fn settle(&mut self, verdict: Verdict) -> Step {
        self.verdict = Some(verdict.clone());
        Step::Settle(verdict)
    }

    /// Takes what a recipient said, and tells what follows from it. `again_at` is when it is asked
    /// again, if it is.
    pub(crate) fn answered(
        &mut self,
        delivery: DeliveryId,
        policy: Policy,
        answer: Answer,
        again: Option<(Duration, Timestamp)>,
    ) -> Step {
        let again = again.filter(|_| !self.out_of_time);
        let Some(one) = self.get_mut(delivery) else {
            return Step::Wait;
        };
        let processed = answer.outcome == AttemptOutcome::Processed;
        let was_open = one.standing == Standing::Asked;
        one.attempts += 1;
        one.standing = match again {
            _ if processed => Standing::Processed,
            Some((_, at)) => Standing::Again(at),
            None => Standing::Failed,
        };
        one.last = (!processed).then(|| (answer.outcome, answer.message.clone()));
        let one = one.clone();
        if was_open {
            self.count(one.role, false);
        }
        if one.standing == Standing::Failed {
            self.failed(&one, answer.again != Again::NotAsked);
        }
        if one.role == Role::Handler && stops_chain(policy, &answer) {
            self.stopped |= answer.stop;
            self.chain.clear();
        }
        if one.attempts == 1 {
            self.acks.push(Ack {
                agent: one.agent,
                outcome: answer.outcome,
                message: answer.message,
                payload: answer.payload,
                again_in: again.map(|(delay, _)| delay).filter(|_| !processed),
            });
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
    fn taken_by(&self) -> Option<AgentId> {
        let decides = if self.only_observers() { Role::Observer } else { Role::Handler };
        let taken = |one: &&Try| one.role == decides && one.standing == Standing::Processed;
        self.tries.iter().rev().find(taken).map(|one| one.agent.clone())
    }

    /// The default handler that has seen to it that somebody will listen.
    fn cared_for_by(&self) -> Option<AgentId> {
        let asked_others = self.tries.iter().any(|one| one.role == Role::Handler);
        let cares =
            |one: &&Try| one.role == Role::DefaultHandler && one.standing == Standing::Processed;
        self.tries.iter().find(cares).filter(|_| !asked_others).map(|one| one.agent.clone())
    }

    fn only_observers(&self) -> bool {
        self.observers_settle && self.is_only_watched()
    }

    fn judge(&self) -> Verdict {
        let failure = if self.only_observers() {
            &self.observer_failure
        } else if self.addressee_failure.is_some() {
            &self.addressee_failure
        } else {
            &self.last_failure
        };
        let Some(Failure { outcome, gave_up, words }) = failure else {
            return Verdict::nobody_subscribed();
        };
        if self.tries.iter().all(|one| one.role != Role::Handler) && !self.only_observers() {
            return Verdict::not_taken_care_of(words.as_deref());
        }
        let (reason, why) = match outcome {
            AttemptOutcome::Processed | AttemptOutcome::Declined if *gave_up => {
                (DeadReason::GaveUp, "every attempt failed")
            }
            AttemptOutcome::Processed | AttemptOutcome::Declined => {
                (DeadReason::DeclinedByAll, "nobody who was asked processed it")
            }
            AttemptOutcome::InvalidAnswer => {
                (DeadReason::InvalidAnswer, "the recipient's answer cannot be used")
            }
            AttemptOutcome::TimedOut => {
                (DeadReason::TimedOut, "the recipient did not answer in time")
            }
            AttemptOutcome::Disconnected => {
                (DeadReason::AgentGone, "the recipient disconnected before it answered")
            }
            AttemptOutcome::QueueFull => {
                (DeadReason::QueueFull, "the recipient has as much waiting as it may have")
            }
        };
        Verdict::Dead { reason, error: words.clone().unwrap_or_else(|| why.to_owned()) }
    }

    /// The message goes on after all: somebody may come who takes it.
    pub(crate) fn reopen(&mut self) {
        self.verdict = None;
    }

    pub(crate) fn is_out_of_time(&self) -> bool {
        self.out_of_time
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Its time has run out. Returns what follows, which may be that somebody still has it.
    pub(crate) fn run_out(&mut self) -> Step {
        self.out_of_time = true;
        self.next()
    }

    /// Those who would be asked again, though nothing depends on them any more. Observers are asked
    /// whatever became of the message.
    pub(crate) fn take_idle(&mut self) -> Vec<DeliveryId> {
        let mut idle = Vec::new();
        for one in &mut self.tries {
            let again = matches!(one.standing, Standing::Again(_));
            if again && (one.role != Role::Observer || self.out_of_time) {
                one.standing = Standing::Failed;
                idle.push(one.delivery);
            }
        }
        idle
    }

    /// Whether anyone has not answered.
    pub(crate) fn is_asking(&self) -> bool {
        self.open > 0
    }

    /// Whether everyone has been asked once, or cannot be.
    pub(crate) fn is_round_over(&self) -> bool {
        self.chain.is_empty() && !self.is_asking()
    }

    /// Whether nobody has it, and nobody is to be asked again.
    pub(crate) fn is_idle(&self) -> bool {
        let decided = |one: &Try| matches!(one.standing, Standing::Processed | Standing::Failed);
        self.open == 0 && self.tries.iter().all(decided)
    }

    /// Where the message is.
    pub(crate) fn state(&self) -> MessageState {
        match &self.verdict {
            None => MessageState::Waiting,
            Some(Verdict::Processed(_)) => MessageState::Processed,
            Some(Verdict::Dead { .. }) => MessageState::Dead,
            Some(Verdict::Expired) => MessageState::Expired,
        }
    }

    /// It was settled from outside.
    pub(crate) fn settled(&mut self, verdict: Verdict) {
        self.verdict = Some(verdict);
    }

    /// What the sender is told, as things stand.
    pub(crate) fn receipt(&self) -> Receipt {
        Receipt {
            message: self.message.id,
            state: self.state(),
            stopped: self.stopped,
            acks: self.acks.clone(),
        }
    }
}

impl Verdict {
    fn nobody_subscribed() -> Self {
        let error = "nobody is subscribed to its topic".to_owned();
        Self::Dead { reason: DeadReason::NobodySubscribed, error }
    }

    /// Nobody was subscribed, and the default handler would not see to it.
    fn not_taken_care_of(words: Option<&str>) -> Self {
        let why = words.unwrap_or("it did not take it");
        let error = format!("nobody is subscribed to its topic; the default handler: {why}");
        Self::Dead { reason: DeadReason::NobodySubscribed, error }
    }

    /// The broker was restarted with the message on its way, and its listeners stayed away.
    pub(crate) fn nobody_came_back() -> Self {
        let error = "the broker was restarted and nobody came back for it".to_owned();
        Self::Dead { reason: DeadReason::AgentGone, error }
    }

    /// Whether the message died only because nobody was there to take it.
    pub(crate) fn is_for_want_of_a_recipient(&self) -> bool {
        matches!(
            self,
            Self::Dead { reason: DeadReason::AgentGone | DeadReason::NobodySubscribed, .. }
        )
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
