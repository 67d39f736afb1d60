//! One message on its way through its recipients. Pure: answers come in, the next step goes out.

use std::collections::VecDeque;
use std::sync::Arc;

use switchboard_model::{
    Ack, AgentId, Answer, AttemptOutcome, DeadReason, Message, MessageState, Policy, Receipt,
    SubscriptionId,
};

use crate::subscriptions::Subscription;

/// A message whose recipients are being asked.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) message: Arc<Message>,
    /// Not asked yet.
    chain: VecDeque<Arc<Subscription>>,
    /// Whom the chain has asked.
    asked: Vec<SubscriptionId>,
    /// Whether an observer that processes the message settles it, where nobody else is asked.
    observers_settle: bool,
    /// The agent that the message is for was asked and went away.
    addressee_gone: bool,
    /// Asked, not answered yet.
    open: usize,
    taken_by: Option<AgentId>,
    observed_by: Option<AgentId>,
    /// How the chain last failed, and how an observer did.
    last_failure: Option<(AttemptOutcome, Option<String>)>,
    observer_failure: Option<(AttemptOutcome, Option<String>)>,
    stopped: bool,
    acks: Vec<Ack>,
    verdict: Option<Verdict>,
}

/// As what a recipient was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One of the chain.
    Handler,
    /// Beside the chain.
    Observer,
}

/// What to do next with a message.
#[derive(Debug)]
pub(crate) enum Step {
    /// Ask this one.
    Ask(Arc<Subscription>),
    /// Somebody has not answered yet.
    Wait,
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
            asked: Vec::new(),
            observers_settle,
            addressee_gone: false,
            open: 0,
            taken_by: None,
            observed_by: None,
            last_failure: None,
            observer_failure: None,
            stopped: false,
            acks: Vec::new(),
            verdict: None,
        }
    }

    /// Someone is being asked.
    pub(crate) fn asked(&mut self, whom: &Subscription, role: Role) {
        self.open += 1;
        if role == Role::Handler {
            self.asked.push(whom.id);
        }
    }

    /// Others who listen now and have not been asked, newest first: they are asked before the
    /// message is given up.
    pub(crate) fn ask_also(&mut self, chain: Vec<Arc<Subscription>>) -> bool {
        self.chain.extend(chain.into_iter().filter(|one| !self.asked.contains(&one.id)));
        !self.chain.is_empty()
    }

    /// Who is to be asked next, if the chain goes on.
    pub(crate) fn next(&mut self) -> Step {
        if let Some(next) = self.chain.pop_front() {
            return Step::Ask(next);
        }
        if self.open > 0 {
            return Step::Wait;
        }
        let verdict = self.judge();
        self.verdict = Some(verdict.clone());
        Step::Settle(verdict)
    }

    /// Takes what a recipient said, and tells what follows from it.
    pub(crate) fn answered(&mut self, by: &Subscription, role: Role, answer: Answer) -> Step {
        self.open -= 1;
        let processed = answer.outcome == AttemptOutcome::Processed;
        match (role, processed) {
            (Role::Handler, true) => self.taken_by = Some(by.agent.clone()),
            (Role::Observer, true) => self.observed_by = Some(by.agent.clone()),
            (Role::Handler, false) => {
                self.last_failure = Some((answer.outcome, answer.message.clone()));
                let gone = answer.outcome == AttemptOutcome::Disconnected;
                self.addressee_gone |= gone && self.message.address.agent() == Some(&by.agent);
            }
            (Role::Observer, false) => {
                self.observer_failure = Some((answer.outcome, answer.message.clone()));
            }
        }
        let stops = role == Role::Handler && stops_chain(by.policy, &answer);
        self.acks.push(Ack {
            agent: by.agent.clone(),
            outcome: answer.outcome,
            message: answer.message,
            payload: answer.payload,
        });
        if stops {
            self.stopped |= answer.stop;
            self.chain.clear();
        }
        match role {
            Role::Handler => self.next(),
            // The chain goes on by its own answers.
            Role::Observer if self.chain.is_empty() => self.next(),
            Role::Observer => Step::Wait,
        }
    }

    /// Where others are subscribed one of those must process the message; where there are only
    /// observers any of them that does settles it.
    fn judge(&self) -> Verdict {
        let only_observers = self.asked.is_empty() && self.observers_settle;
        let taken = if only_observers { &self.observed_by } else { &self.taken_by };
        if let Some(agent) = taken {
            return Verdict::Processed(agent.clone());
        }
        let failure = if only_observers { &self.observer_failure } else { &self.last_failure };
        let Some((outcome, words)) = failure else {
            return Verdict::nobody_subscribed();
        };
        let outcome = if self.addressee_gone { &AttemptOutcome::Disconnected } else { outcome };
        let (reason, why) = match outcome {
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

    /// The message waits for its recipient after all.
    pub(crate) fn reopen(&mut self) {
        self.verdict = None;
    }

    /// What the sender is told, as things stand.
    pub(crate) fn receipt(&self) -> Receipt {
        Receipt {
            message: self.message.id,
            state: match &self.verdict {
                None => MessageState::Waiting,
                Some(Verdict::Processed(_)) => MessageState::Processed,
                Some(Verdict::Dead { .. }) => MessageState::Dead,
            },
            stopped: self.stopped,
            acks: self.acks.clone(),
        }
    }
}

impl Verdict {
    fn nobody_subscribed() -> Self {
        Self::Dead {
            reason: DeadReason::NobodySubscribed,
            error: "nobody is subscribed to its topic".to_owned(),
        }
    }

    /// The broker was restarted with the message on its way, and its listeners stayed away.
    pub(crate) fn nobody_came_back() -> Self {
        Self::Dead {
            reason: DeadReason::AgentGone,
            error: "the broker was restarted and nobody came back for it".to_owned(),
        }
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
