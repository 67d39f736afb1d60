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
    let mut dispatch = Dispatch::new(message(), members.collect(), true);
    let mut step = dispatch.next();
    for (asked, (_, outcome, stop)) in chain.iter().enumerate() {
        match step {
            Step::Ask(by) => {
                dispatch.asked(&by, Role::Handler);
                step = dispatch.answered(&by, Role::Handler, answer(*outcome, *stop));
            }
            Step::Settle(verdict) => return (asked, verdict),
            Step::Wait => panic!("nobody is being asked"),
        }
    }
    match step {
        Step::Settle(verdict) => (chain.len(), verdict),
        other @ (Step::Ask(_) | Step::Wait) => panic!("the chain is over, yet {other:?}"),
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
    let mut dispatch = Dispatch::new(message(), chain, true);
    let Step::Ask(first) = dispatch.next() else { panic!("someone is there") };
    dispatch.asked(&first, Role::Handler);
    let early = Answer { stops_only_on_request: true, ..answer(AttemptOutcome::Processed, false) };
    let Step::Ask(second) = dispatch.answered(&first, Role::Handler, early.clone()) else {
        panic!("the second is asked too")
    };
    dispatch.asked(&second, Role::Handler);
    let Step::Settle(verdict) = dispatch.answered(&second, Role::Handler, early) else {
        panic!("both answered")
    };
    assert_eq!(verdict, Verdict::Processed(second.agent.clone()));
}

#[test]
fn an_observer_settles_a_message_only_where_nobody_else_listens() {
    let observer = subscription(9, "*", Policy::ContinueAll);
    let handler = subscription(1, "*", Policy::default());
    let mut dispatch = Dispatch::new(message(), vec![handler], true);
    dispatch.asked(&observer, Role::Observer);
    let Step::Ask(handler) = dispatch.next() else { panic!("the handler is asked") };
    dispatch.asked(&handler, Role::Handler);
    let processed = answer(AttemptOutcome::Processed, false);
    let waits = dispatch.answered(&observer, Role::Observer, processed.clone());
    assert!(matches!(waits, Step::Wait), "the handler has not answered");
    let declined = answer(AttemptOutcome::Declined, false);
    let Step::Settle(verdict) = dispatch.answered(&handler, Role::Handler, declined) else {
        panic!("all answered")
    };
    assert!(matches!(verdict, Verdict::Dead { reason: DeadReason::DeclinedByAll, .. }));

    let mut alone = Dispatch::new(message(), vec![], true);
    alone.asked(&observer, Role::Observer);
    let Step::Settle(verdict) = alone.answered(&observer, Role::Observer, processed) else {
        panic!("the only one answered")
    };
    assert_eq!(verdict, Verdict::Processed(observer.agent.clone()));
}

#[test]
fn a_message_whose_addressee_left_waits_whatever_others_said_after() {
    let addressee = subscription(7, "*", Policy::default());
    let other = subscription(8, "*", Policy::default());
    let observer = subscription(9, "*", Policy::ContinueAll);
    let mut to_one = Message::clone(&message());
    to_one.address = Address::Agent(addressee.agent.clone());
    let chain = vec![addressee.clone(), other.clone()];
    let mut dispatch = Dispatch::new(Arc::new(to_one), chain, false);
    dispatch.asked(&observer, Role::Observer);
    let Step::Ask(first) = dispatch.next() else { panic!("the addressee is asked") };
    dispatch.asked(&first, Role::Handler);
    let gone = answer(AttemptOutcome::Disconnected, false);
    let Step::Ask(second) = dispatch.answered(&first, Role::Handler, gone) else {
        panic!("the other is asked")
    };
    dispatch.asked(&second, Role::Handler);
    let declined = answer(AttemptOutcome::Declined, false);
    dispatch.answered(&second, Role::Handler, declined);
    let processed = answer(AttemptOutcome::Processed, false);
    let Step::Settle(verdict) = dispatch.answered(&observer, Role::Observer, processed) else {
        panic!("all answered")
    };
    assert!(verdict.is_for_want_of_a_recipient(), "{verdict:?}");
}
