use std::time::Instant;

use switchboard_model::{
    AgentStatus, ChangedRule, DeadReason, DeliveryState, Door, Effect, Rule, RuleChange, RuleId,
    RulePart, Timestamp,
};

use super::sample::*;
use crate::open as opening;
use crate::retention::{Limits, Walk};
use crate::{AgentRecord, Opened, PresenceRecord, Record, RulesRecord, clock};

const SECOND: i64 = 1_000_000;

fn known(name: &str, at: Timestamp) -> Record {
    Record::Agent(AgentRecord {
        id: agent(name),
        mailbox: false,
        label: None,
        blocked: false,
        declared_by: None,
        name: name.to_owned(),
        version: "1".to_owned(),
        door: Door::Bus,
        capabilities: None,
        first_seen: at,
        last_seen: at,
    })
}

fn presence(name: &str, at: Timestamp, status: AgentStatus) -> Record {
    Record::Presence(PresenceRecord { agent: agent(name), at, status })
}

async fn statuses(opened: &Opened, at: Timestamp) -> Vec<(String, AgentStatus)> {
    let then = opened.store.moment(at).await.unwrap();
    then.agents.into_iter().map(|one| (one.agent.to_string(), one.status)).collect()
}

async fn queued(opened: &Opened, name: &str, at: Timestamp) -> u64 {
    let then = opened.store.moment(at).await.unwrap();
    then.agents.iter().find(|one| one.agent == agent(name)).map_or(0, |one| one.queued)
}

#[tokio::test]
async fn who_was_there_is_known_afterwards_and_nobody_was_while_the_broker_was_dead() {
    use AgentStatus::{Busy, Ready, Unavailable};
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let since = opened.store.moment(moment(0)).await.unwrap().kept_since;
    assert!(since <= clock::now() && since > moment(-SECOND), "from now on all is kept");
    opened
        .written(vec![
            known("a", moment(10)),
            known("b", moment(20)),
            presence("a", moment(10), Ready),
            presence("a", moment(30), Busy),
            presence("a", moment(40), Unavailable),
            presence("b", moment(20), Ready),
            Record::Running(moment(50)),
        ])
        .await;
    assert_eq!(statuses(&opened, moment(9)).await, []);
    assert_eq!(statuses(&opened, moment(10)).await, [("a".to_owned(), Ready)]);
    let both = |a, b| [("a".to_owned(), a), ("b".to_owned(), b)];
    assert_eq!(statuses(&opened, moment(35)).await, both(Busy, Ready));
    assert_eq!(statuses(&opened, moment(45)).await, both(Unavailable, Ready));
    opened.store.close().await;

    // Nobody said goodbye, as after a crash.
    let opened = open(dir.path()).await;
    assert_eq!(statuses(&opened, moment(50)).await, both(Unavailable, Ready));
    assert_eq!(statuses(&opened, moment(51)).await, both(Unavailable, Unavailable));
    opened.store.close().await;
}

#[tokio::test]
async fn what_waited_is_counted_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let at = |seconds: i64| moment(seconds * SECOND);
    let sent = |seq: u64, topic: &str, seconds: i64| {
        let mut sent = message_on(seq, topic, "{}");
        sent.accepted_at = at(seconds);
        accepted(sent)
    };
    let settled_at = |seq: u64, micros: i64, state| Record::Settled {
        message: seq,
        from: switchboard_model::MessageState::Waiting,
        state,
        at: moment(micros),
        to: None,
        error: None,
    };
    let processed = switchboard_model::MessageState::Processed;
    opened.written(vec![known("p", at(0)), known("analyzer", at(0))]).await;
    // One still waits for p; one did so for long; one for half a second; one died.
    opened.written(sent(1, "agent:p", 1)).await;
    opened.written(sent(2, "agent:p", 2)).await;
    opened.written(vec![settled_at(2, 20 * SECOND, processed)]).await;
    opened.written(sent(3, "agent:p", 3)).await;
    opened.written(vec![settled_at(3, 3 * SECOND + SECOND / 2, processed)]).await;
    opened.written(sent(4, "agent:p", 4)).await;
    let dead = switchboard_model::MessageState::Dead;
    let died = Record::DeadLetter { message: 4, reason: DeadReason::GaveUp, at: at(6) };
    opened.written(vec![settled_at(4, 6 * SECOND, dead), died]).await;
    // On a topic it waits for whoever has it.
    opened.written([sent(5, "news", 5), vec![delivery(1, 5)]].concat()).await;
    opened.written(vec![attempt(1, 1, DeliveryState::Waiting)]).await;

    for (seconds, expected) in [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 3), (6, 2), (19, 2)] {
        assert_eq!(queued(&opened, "p", at(seconds)).await, expected, "after {seconds} s");
    }
    assert_eq!(queued(&opened, "p", at(21)).await, 1, "one waits still");
    assert_eq!(queued(&opened, "analyzer", at(4)).await, 0, "not sent yet");
    assert_eq!(queued(&opened, "analyzer", at(5)).await, 1);
    opened.written(vec![attempt(1, 2, DeliveryState::Processed)]).await;
    assert_eq!(queued(&opened, "analyzer", at(5)).await, 0, "it was quick");

    let open_letters = async |seconds| opened.store.moment(at(seconds)).await.unwrap().open_letters;
    assert_eq!((open_letters(5).await, open_letters(6).await), (0, 1));
    opened.store.close().await;
}

fn changed(id: u64, at: Timestamp, after: Option<Effect>) -> Record {
    let part = |text: &str| RulePart::parse(text).unwrap();
    let (caller, provider, capability) = (part("a"), part("b"), part("x"));
    let made = after.map(|effect| Rule {
        id: RuleId(id),
        caller: caller.clone(),
        provider: provider.clone(),
        capability: capability.clone(),
        effect,
        created_at: at,
        created_by: "operator".to_owned(),
    });
    let edit = ChangedRule { caller, provider, capability, before: None, after };
    let change = RuleChange {
        id,
        at,
        by: "operator".to_owned(),
        note: None,
        undoes: None,
        undone_by: None,
        edits: vec![edit],
    };
    Record::Rules(Box::new(RulesRecord { change, made: vec![made] }))
}

#[tokio::test]
async fn the_rules_are_those_that_the_changes_until_then_came_to() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    opened.written(vec![changed(1, moment(10), Some(Effect::Allow))]).await;
    opened.written(vec![changed(2, moment(20), Some(Effect::Deny))]).await;
    opened.written(vec![changed(3, moment(30), None)]).await;
    for (micros, expected) in
        [(9, None), (10, Some(Effect::Allow)), (25, Some(Effect::Deny)), (30, None)]
    {
        let rules = opened.store.moment(moment(micros)).await.unwrap().rules;
        let effects: Vec<Effect> = rules.iter().map(|rule| rule.effect).collect();
        assert_eq!(effects, Vec::from_iter(expected), "after {micros} µs");
    }
    opened.store.close().await;
}

#[tokio::test]
async fn what_is_old_is_forgotten_but_not_how_it_ended() {
    const DAY: i64 = 24 * 60 * 60 * SECOND;
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let status = |n: i64| if n % 2 == 0 { AgentStatus::Ready } else { AgentStatus::Unavailable };
    let mut records = vec![known("a", moment(0))];
    records.extend((0..301).map(|n| presence("a", moment(n), status(n))));
    opened.written(records).await;
    opened.store.close().await;

    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let (mut walk, limits) = (Walk::default(), Limits { days: 7, max_mb: 1000 });
    let now = Timestamp(clock::now().0 + 8 * DAY);
    while walk.step(&parts.writer.hand().pen, limits, now).unwrap() {}
    let then = crate::moment::read(&parts.readers, now).await.unwrap();
    assert_eq!(then.kept_since, Timestamp(now.0 - 7 * DAY), "and it is said since when");
    assert_eq!(then.agents[0].status, AgentStatus::Unavailable, "they went when the store closed");
    let left = sqlx::query("select agent from presence").fetch_all(&mut parts.connection);
    assert_eq!(left.await.unwrap().len(), 1);
}

/// Prints how long it takes to look at moments among a million messages.
#[tokio::test]
#[ignore = "takes half a minute; run it when the statements change"]
async fn a_moment_among_a_million_messages_is_found_at_once() {
    const FILL: &str = "with recursive n (n) as (select 1 union all select n + 1 from n limit 1000000) \
         insert into message (seq, id, sender, recipient, topic, kind, priority, door, accepted_at, \
         state, settled_at, payload) \
         select n, cast(printf('%016d', n) as blob), 'a', 'p' || (n % 500), \
         iif(n % 2, 'agent:p' || (n % 500), 'news'), 'request', 'NORMAL', 'bus', \
         ?1 + n * 100, iif(n % 1000, 'processed', 'waiting'), \
         iif(n % 1000, ?1 + n * 100 + iif(n % 10, 5000, 30000000), null), \
         printf('{\"text\":\"%.200c\"}', 'x') from n";
    const DELIVERIES: &str = "insert into delivery (id, message, agent, door, state, created_at) \
         select seq, seq, recipient, 'bus', state, accepted_at from message";
    const ATTEMPTS: &str = "insert into attempt (delivery, number, started_at, ended_at, outcome) \
         select seq, 1, accepted_at, settled_at, 'processed' from message \
         where settled_at is not null";
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let connection = &mut parts.connection;
    let first = moment(0).0 - 200 * SECOND;
    sqlx::query(FILL).bind(first).execute(&mut *connection).await.unwrap();
    for statement in [DELIVERIES, ATTEMPTS, "pragma wal_checkpoint(truncate)"] {
        sqlx::query(statement).execute(&mut *connection).await.unwrap();
    }
    for seconds in [1, 20, 50, 99, 150] {
        let (began, at) = (Instant::now(), Timestamp(first + seconds * SECOND));
        crate::moment::read(&parts.readers, at).await.unwrap();
        println!("after {seconds} s of 100: {:?}", began.elapsed());
    }
}
