//! One message on its way through its recipients. Pure: answers come in, the next step goes out.

use std::collections::VecDeque;
use std::sync::Arc;

use switchboard_model::{
    Ack, AgentId, Answer, AttemptOutcome, DeadReason, Message, MessageState, Policy, Receipt,
};

use crate::route::Plan;
use crate::subscriptions::Subscription;

/// A message whose recipients are being asked.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) message: Arc<Message>,
    /// Not asked yet.
    chain: VecDeque<Arc<Subscription>>,
    /// Whether anyone but observers was there to ask.
    had_chain: bool,
    /// Asked, not answered yet.
    open: usize,
    taken_by: Option<AgentId>,
    observed_by: Option<AgentId>,
    last_failure: Option<(AttemptOutcome, Option<String>)>,
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
    pub(crate) fn new(message: Arc<Message>, chain: Vec<Arc<Subscription>>) -> Self {
        Self {
            message,
            had_chain: !chain.is_empty(),
            chain: chain.into(),
            open: 0,
            taken_by: None,
            observed_by: None,
            last_failure: None,
            stopped: false,
            acks: Vec::new(),
            verdict: None,
        }
    }

    /// Takes a plan apart: the dispatch, and who is asked beside the chain.
    pub(crate) fn of_plan(message: Arc<Message>, plan: Plan) -> (Self, Vec<Arc<Subscription>>) {
        (Self::new(message, plan.chain), plan.observers)
    }

    /// Someone is being asked.
    pub(crate) fn asked(&mut self) {
        self.open += 1;
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
            (Role::Handler | Role::Observer, false) => {
                self.last_failure = Some((answer.outcome, answer.message.clone()));
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
        let taken = if self.had_chain { &self.taken_by } else { &self.observed_by };
        if let Some(agent) = taken {
            return Verdict::Processed(agent.clone());
        }
        let Some((outcome, words)) = &self.last_failure else {
            return Verdict::nobody_subscribed();
        };
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

    /// Whether the message died only because its recipient went away.
    pub(crate) fn is_agent_gone(&self) -> bool {
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
mod tests {
    use super::*;
    use crate::subscriptions::tests::subscription;
    use switchboard_model::{Address, Door, Kind, MessageId, Payload, Priority, Timestamp, Topic};

    fn message() -> Arc<Message> {
        Arc::new(Message {
            seq: 1,
            id: MessageId(uuid::Uuid::nil()),
            from: AgentId::parse("planner").unwrap(),
            address: Address::Topic(Topic::parse("inbound:1").unwrap()),
            kind: Kind::Event,
            capability: None,
            priority: Priority::Normal,
            door: Door::Bus,
            correlation: None,
            conversation: None,
            payload: Payload::trusted("{}"),
            accepted_at: Timestamp(0),
            expires_at: None,
        })
    }

    fn answer(outcome: AttemptOutcome, stop: bool) -> Answer {
        Answer { outcome, stop, stops_only_on_request: false, message: None, payload: None }
    }

    /// How one subscriber answers: its policy, how it went, and whether it says stop.
    type Answers = (Policy, AttemptOutcome, bool);

    /// Runs a chain of subscribers that answer so; returns how many were asked and the verdict.
    fn run(chain: &[Answers]) -> (usize, Verdict) {
        let members = (0..).zip(chain).map(|(id, (policy, ..))| subscription(id, "*", *policy));
        let mut dispatch = Dispatch::new(message(), members.collect());
        let mut step = dispatch.next();
        for (asked, (_, outcome, stop)) in chain.iter().enumerate() {
            match step {
                Step::Ask(by) => {
                    dispatch.asked();
                    step = dispatch.answered(&by, Role::Handler, answer(*outcome, *stop));
                }
                Step::Settle(verdict) => return (asked, verdict),
                Step::Wait => panic!("nobody is being asked"),
            }
        }
        match step {
            Step::Settle(verdict) => (chain.len(), verdict),
            other => panic!("the chain is over, yet {other:?}"),
        }
    }

    #[test]
    fn each_policy_stops_where_it_should() {
        use AttemptOutcome::{Declined, Processed};
        use Policy::{StopPropagationOnProcessed as OnProcessed, StopPropagationOnStop as OnStop};
        let table: [(&str, &[Answers], usize, bool); 6] = [
            ("the first that processes wins", &[(OnProcessed, Processed, false); 2], 1, true),
            (
                "who declines passes it on",
                &[(OnProcessed, Declined, false), (OnProcessed, Processed, false)],
                2,
                true,
            ),
            (
                "stop means stop, processed or not",
                &[(OnProcessed, Declined, true), (OnProcessed, Processed, false)],
                1,
                false,
            ),
            ("on-stop goes on after processing", &[(OnStop, Processed, false); 2], 2, true),
            (
                "on-stop stops when told",
                &[(OnStop, Processed, true), (OnStop, Processed, false)],
                1,
                true,
            ),
            ("nobody processed it", &[(OnProcessed, Declined, false); 2], 2, false),
        ];
        for (why, chain, asked, processed) in table {
            let (was_asked, verdict) = run(chain);
            assert_eq!(was_asked, asked, "{why}");
            assert_eq!(matches!(verdict, Verdict::Processed(_)), processed, "{why}");
        }
    }

    #[test]
    fn an_answer_of_the_first_generation_settles_but_does_not_stop() {
        let chain =
            vec![subscription(2, "*", Policy::default()), subscription(1, "*", Policy::default())];
        let mut dispatch = Dispatch::new(message(), chain);
        let Step::Ask(first) = dispatch.next() else { panic!("someone is there") };
        dispatch.asked();
        let early =
            Answer { stops_only_on_request: true, ..answer(AttemptOutcome::Processed, false) };
        let Step::Ask(second) = dispatch.answered(&first, Role::Handler, early.clone()) else {
            panic!("the second is asked too")
        };
        dispatch.asked();
        let Step::Settle(verdict) = dispatch.answered(&second, Role::Handler, early) else {
            panic!("both answered")
        };
        assert_eq!(verdict, Verdict::Processed(second.agent.clone()));
    }

    #[test]
    fn an_observer_settles_a_message_only_where_nobody_else_listens() {
        let observer = subscription(9, "*", Policy::ContinueAll);
        let handler = subscription(1, "*", Policy::default());
        let mut dispatch = Dispatch::new(message(), vec![handler]);
        dispatch.asked();
        let Step::Ask(handler) = dispatch.next() else { panic!("the handler is asked") };
        dispatch.asked();
        let processed = answer(AttemptOutcome::Processed, false);
        let waits = dispatch.answered(&observer, Role::Observer, processed.clone());
        assert!(matches!(waits, Step::Wait), "the handler has not answered");
        let declined = answer(AttemptOutcome::Declined, false);
        let Step::Settle(verdict) = dispatch.answered(&handler, Role::Handler, declined) else {
            panic!("all answered")
        };
        assert!(matches!(verdict, Verdict::Dead { reason: DeadReason::DeclinedByAll, .. }));

        let mut alone = Dispatch::new(message(), vec![]);
        alone.asked();
        let Step::Settle(verdict) = alone.answered(&observer, Role::Observer, processed) else {
            panic!("the only one answered")
        };
        assert_eq!(verdict, Verdict::Processed(observer.agent.clone()));
    }
}
