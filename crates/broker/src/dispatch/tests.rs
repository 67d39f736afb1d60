use super::*;
use crate::subscriptions::tests::subscription;
use switchboard_model::{Address, Door, Kind, MessageId, Payload, Priority, Topic};
use switchboard_model::{DeadReason, DeliveryState};

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
        dialect: switchboard_model::Dialect::Bus,
        context: None,
        decision: None,
        answer_by: None,
        accepted_at: Timestamp(0),
        expires_at: None,
        replay_of: None,
    })
}

fn answer(outcome: AttemptOutcome, stop: bool) -> Answer {
    Answer {
        outcome,
        stop,
        stops_only_on_request: false,
        again: Again::NotAsked,
        message: None,
        payload: None,
    }
}

/// A message on its way, with the numbers that the core would give.
struct Trial {
    dispatch: Dispatch,
    next: u64,
}

impl Trial {
    fn new(chain: Vec<Arc<Subscription>>) -> Self {
        Self { dispatch: Dispatch::new(message(), chain, true), next: 0 }
    }

    fn ask(&mut self, whom: &Subscription, role: Role) -> DeliveryId {
        self.next += 1;
        self.dispatch.asked(DeliveryId(self.next), whom, role);
        DeliveryId(self.next)
    }

    /// Asks the next of the chain, who must be there.
    fn ask_next(&mut self, step: &Step) -> (DeliveryId, Arc<Subscription>) {
        let Step::Ask(next) = step else { panic!("somebody is to be asked, not {step:?}") };
        (self.ask(next, Role::Handler), next.clone())
    }

    fn hear(&mut self, from: (DeliveryId, &Subscription), answer: Answer) -> Step {
        self.dispatch.answered(from.0, from.1.policy, answer, None)
    }

    fn hear_again(&mut self, from: (DeliveryId, &Subscription), outcome: AttemptOutcome) -> Step {
        let again = Some((Duration::from_secs(5), Timestamp(5)));
        self.dispatch.answered(from.0, from.1.policy, answer(outcome, false), again)
    }
}

/// How one subscriber answers: its policy, how it went, and whether it says stop.
type Answers = (Policy, AttemptOutcome, bool);

/// Runs a chain of subscribers that answer so; returns how many were asked and the verdict.
fn run(chain: &[Answers]) -> (usize, Verdict) {
    let members = (0..).zip(chain).map(|(id, (policy, ..))| subscription(id, "*", *policy));
    let mut trial = Trial::new(members.collect());
    let mut step = trial.dispatch.next();
    for (asked, (_, outcome, stop)) in chain.iter().enumerate() {
        if let Step::Settle(verdict) = step {
            return (asked, verdict);
        }
        let (delivery, by) = trial.ask_next(&step);
        step = trial.hear((delivery, &by), answer(*outcome, *stop));
    }
    match step {
        Step::Settle(verdict) => (chain.len(), verdict),
        other @ (Step::Ask(_) | Step::Wait | Step::AwaitSubscriber(_)) => {
            panic!("the chain is over, yet {other:?}")
        }
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
    let mut trial = Trial::new(chain);
    let early = Answer { stops_only_on_request: true, ..answer(AttemptOutcome::Processed, false) };
    let step = trial.dispatch.next();
    let (delivery, first) = trial.ask_next(&step);
    let step = trial.hear((delivery, &first), early.clone());
    let (delivery, second) = trial.ask_next(&step);
    let Step::Settle(verdict) = trial.hear((delivery, &second), early) else {
        panic!("both answered")
    };
    assert_eq!(verdict, Verdict::Processed(second.agent.clone()));
}

#[test]
fn an_observer_settles_a_message_only_where_nobody_else_listens() {
    let observer = subscription(9, "*", Policy::ContinueAll);
    let handler = subscription(1, "*", Policy::default());
    let processed = answer(AttemptOutcome::Processed, false);
    let mut trial = Trial::new(vec![handler]);
    let watching = trial.ask(&observer, Role::Observer);
    let step = trial.dispatch.next();
    let (delivery, handler) = trial.ask_next(&step);
    let waits = trial.hear((watching, &observer), processed.clone());
    assert!(matches!(waits, Step::Wait), "the handler has not answered");
    let declined = answer(AttemptOutcome::Declined, false);
    let Step::Settle(verdict) = trial.hear((delivery, &handler), declined) else {
        panic!("all answered")
    };
    assert!(matches!(verdict, Verdict::Dead { reason: DeadReason::DeclinedByAll, .. }));

    let mut alone = Trial::new(vec![]);
    let watching = alone.ask(&observer, Role::Observer);
    let Step::Settle(verdict) = alone.hear((watching, &observer), processed) else {
        panic!("the only one answered")
    };
    assert_eq!(verdict, Verdict::Processed(observer.agent.clone()));
}

#[test]
fn one_that_processes_settles_a_message_also_where_a_newer_one_asked_for_a_retry() {
    let chain =
        vec![subscription(2, "a*", Policy::default()), subscription(1, "*", Policy::default())];
    let observer = subscription(9, "*", Policy::ContinueAll);
    let mut trial = Trial::new(chain);
    let watching = trial.ask(&observer, Role::Observer);
    let step = trial.dispatch.next();
    let (first, by) = trial.ask_next(&step);
    let step = trial.hear_again((first, &by), AttemptOutcome::Declined);
    let (second, by) = trial.ask_next(&step);
    trial.hear_again((watching, &observer), AttemptOutcome::TimedOut);
    let step = trial.hear((second, &by), answer(AttemptOutcome::Processed, false));
    assert!(matches!(step, Step::Settle(Verdict::Processed(agent)) if agent == by.agent));
    assert_eq!(trial.dispatch.take_idle(), [first], "the observer is still to be told");
    assert!(!trial.dispatch.is_idle());
    let acks = trial.dispatch.receipt().acks;
    let again: Vec<bool> = acks.iter().map(|ack| ack.again_in.is_some()).collect();
    assert_eq!(again, [false, true, false], "only the observer is asked again");
}

#[test]
fn a_message_waits_while_somebody_is_to_be_asked_again_and_then_says_why_it_died() {
    use AttemptOutcome::{Declined, Disconnected, InvalidAnswer, TimedOut};
    let table = [
        (Declined, Again::Soon, DeadReason::GaveUp),
        (Declined, Again::NotAsked, DeadReason::DeclinedByAll),
        (TimedOut, Again::NotAsked, DeadReason::TimedOut),
        (Disconnected, Again::NotAsked, DeadReason::AgentGone),
        (InvalidAnswer, Again::NotAsked, DeadReason::InvalidAnswer),
    ];
    for (outcome, again, expected) in table {
        let mut trial = Trial::new(vec![subscription(1, "*", Policy::default())]);
        let step = trial.dispatch.next();
        let (delivery, by) = trial.ask_next(&step);
        let step = trial.hear_again((delivery, &by), outcome);
        assert!(matches!(step, Step::Wait), "{step:?}");
        assert!(trial.dispatch.is_round_over());
        trial.dispatch.asked_again(delivery);
        let step = trial.hear((delivery, &by), Answer { again, ..answer(outcome, false) });
        let Step::Settle(Verdict::Dead { reason, .. }) = step else { panic!("{step:?}") };
        assert_eq!(reason, expected);
        assert_eq!(trial.dispatch.receipt().acks.len(), 1, "an ack is of the first attempt");
    }
}

#[test]
fn a_message_out_of_time_is_nobodys_to_be_asked_again() {
    let mut trial = Trial::new(vec![
        subscription(2, "a*", Policy::default()),
        subscription(1, "*", Policy::default()),
    ]);
    let step = trial.dispatch.next();
    let (delivery, by) = trial.ask_next(&step);
    assert!(matches!(trial.dispatch.run_out(), Step::Wait), "the first still has it");
    let step = trial.hear_again((delivery, &by), AttemptOutcome::Declined);
    assert!(matches!(step, Step::Settle(Verdict::Expired)), "{step:?}");
}

#[test]
fn what_was_tried_before_goes_on_where_it_was() {
    let tried = |id: u64, state, attempts| Tried {
        delivery: DeliveryId(id),
        agent: AgentId::parse(&format!("agent-{id}")).unwrap(),
        pattern: Some("*".to_owned()),
        observer: false,
        state,
        due_at: None,
        attempts,
        last: Some((AttemptOutcome::Declined, Some("no".to_owned()))),
    };
    let chain = (1..=3).map(|id| subscription(id, "*", Policy::default())).collect();
    let mut trial = Trial::new(chain);
    let before = vec![tried(1, DeliveryState::Failed, 1), tried(2, DeliveryState::Waiting, 2)];
    let undecided = trial.dispatch.take_up(before.clone(), Timestamp(7));
    let seen: Vec<_> = undecided.iter().map(|one| (one.delivery.0, one.attempts)).collect();
    assert_eq!(seen, [(2, 2)], "the first has decided");
    assert_eq!(trial.dispatch.tried()[..2], before[..]);
    trial.next = 10;
    let step = trial.dispatch.next();
    let (delivery, third) = trial.ask_next(&step);
    assert_eq!(third.id.0, 3, "only one has not been asked");
    let step = trial.hear((delivery, &third), answer(AttemptOutcome::Declined, false));
    assert!(matches!(step, Step::Wait), "the second is still to be asked: {step:?}");
}
