//! However a run of records falls into batches, the same is on disk in the end.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use proptest::prelude::*;
use sqlx::{Connection, Row, SqliteConnection};
use switchboard_model::{DeadReason, DeliveryState, MessageState, Totals};

use super::sample::*;
use crate::record::Record;
use crate::{Commit, open as opening};

/// What may happen to a message, in an order that need not make sense.
#[derive(Clone, Debug)]
enum Step {
    Accept,
    /// One that its recipient processes at once.
    Take,
    Deliver(u8),
    Attempt(u8, u32, DeliveryState),
    Settle(u8, MessageState, MessageState, bool),
    Seen(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let state = || prop::sample::select(MessageState::ALL.to_vec());
    let from = prop_oneof![3 => Just(MessageState::Waiting), 1 => state()];
    prop_oneof![
        3 => Just(Step::Accept),
        2 => Just(Step::Take),
        2 => any::<u8>().prop_map(Step::Deliver),
        3 => (any::<u8>(), 1_u32..4, prop::sample::select(DeliveryState::ALL.to_vec()))
            .prop_map(|(delivery, number, state)| Step::Attempt(delivery, number, state)),
        5 => (any::<u8>(), from, state(), any::<bool>())
            .prop_map(|(message, from, state, to)| Step::Settle(message, from, state, to)),
        1 => any::<bool>().prop_map(Step::Seen),
    ]
}

/// Writes with numbers that the broker could have given.
fn writes(steps: &[Step]) -> Vec<Vec<Record>> {
    let (mut messages, mut deliveries) = (0, 0);
    let (mut states, mut died) = (HashMap::new(), HashSet::new());
    // Who has processed a message is not asked again.
    let mut over = HashSet::new();
    let mut writes = Vec::new();
    for step in steps {
        match step {
            Step::Accept => {
                messages += 1;
                writes.push(accepted(message(messages)));
            }
            Step::Take => {
                (messages, deliveries) = (messages + 1, deliveries + 1);
                over.insert(deliveries);
                states.insert(messages, MessageState::Processed);
                writes.push(accepted(message(messages)));
                writes.push(vec![delivery(deliveries, messages)]);
                writes.push(vec![
                    attempt(deliveries, 1, DeliveryState::Processed),
                    taken_by(messages, "analyzer"),
                ]);
            }
            Step::Deliver(pick) if messages > 0 => {
                deliveries += 1;
                writes.push(vec![delivery(deliveries, u64::from(*pick) % messages + 1)]);
            }
            Step::Attempt(pick, number, state) if deliveries > 0 => {
                let delivery = u64::from(*pick) % deliveries + 1;
                if over.contains(&delivery) {
                    continue;
                }
                if *state == DeliveryState::Processed {
                    over.insert(delivery);
                }
                let mut record = attempt(delivery, *number, *state);
                if let Record::Attempt(attempt) = &mut record {
                    // Tells it from others of the same number, of which only the first counts.
                    attempt.message = Some(format!("write {}", writes.len()));
                }
                writes.push(vec![record]);
            }
            Step::Settle(pick, from, state, to) if messages > 0 => {
                let seq = u64::from(*pick) % messages + 1;
                let mut records = vec![Record::Settled {
                    message: seq,
                    from: *from,
                    state: *state,
                    at: moment(i64::from(*pick)),
                    to: to.then(|| agent(&format!("agent-{pick}"))),
                    error: (*state == MessageState::Dead).then(|| "nobody".to_owned()),
                }];
                // A dead letter is recorded with the death, and only with a death.
                let now = states.entry(seq).or_insert(MessageState::Waiting);
                let moves = *now == *from;
                if moves {
                    *now = *state;
                }
                if moves && *from == MessageState::Dead {
                    records.push(discarded(seq));
                }
                if moves && *state == MessageState::Dead && died.insert(seq) {
                    records.push(Record::DeadLetter {
                        message: seq,
                        reason: DeadReason::GaveUp,
                        at: moment(i64::from(*pick)),
                    });
                }
                writes.push(records);
            }
            Step::Seen(known) => {
                let id = agent("analyzer");
                let at = moment(i64::try_from(writes.len()).unwrap());
                writes.push(vec![if *known {
                    Record::Agent(crate::AgentRecord {
                        mailbox: false,
                        label: None,
                        blocked: false,
                        declared_by: None,
                        id,
                        name: "Analyzer".to_owned(),
                        version: String::new(),
                        door: switchboard_model::Door::Bus,
                        capabilities: None,
                        first_seen: at,
                        last_seen: moment(3),
                    })
                } else {
                    Record::AgentSeen { id, at }
                }]);
            }
            Step::Deliver(_) | Step::Attempt(..) | Step::Settle(..) => {}
        }
    }
    writes
}

/// Writes in batches of these sizes, the last one as often as needed.
async fn write_in(dir: &Path, writes: &[Vec<Record>], sizes: &[usize]) -> Totals {
    let mut parts = opening::open(dir, &options()).await.unwrap();
    let mut rest = writes;
    let mut sizes = sizes.iter().copied();
    let mut size = usize::MAX;
    while !rest.is_empty() {
        size = sizes.next().unwrap_or(size).min(rest.len()).max(1);
        let (now, later) = rest.split_at(size);
        for records in now {
            parts.queue.try_write(records.clone()).unwrap();
        }
        assert!(parts.writer.turn().await);
        match parts.commits.recv().await {
            Some(Commit::Done { .. }) => {}
            other => panic!("{other:?}"),
        }
        rest = later;
    }
    let stored = crate::total::read(&mut parts.connection).await.unwrap();
    parts.queue.close();
    parts.readers.close().await;
    parts.writer.run().await;
    stored.totals
}

/// Everything in the tables that batches touch, as text.
async fn dump(dir: &Path) -> Vec<String> {
    let url = format!("sqlite://{}", dir.join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let statements = [
        "select json_array(seq, sender, recipient, topic, accepted_at, state, settled_at, error, payload) from message order by seq",
        "select json_array(id, message, agent, state, due_at, started_at, ended_at, outcome, words, answer) from asked order by id",
        "select json_array(delivery, number, outcome, message) from attempt order by delivery, number",
        "select json_array(message, reason, died_at, status, closed_at) from dead_letter order by message",
        "select json_array(id, first_seen, last_seen) from agent order by id",
        "select json_array(accepted, processed, waiting, dead, discarded, expired, last_seq, last_delivery) from total",
    ];
    let mut lines = Vec::new();
    for statement in statements {
        let rows = sqlx::query(statement).fetch_all(&mut connection).await.unwrap();
        lines.extend(rows.iter().map(|row| row.get::<String, _>(0)));
    }
    connection.close().await.unwrap();
    lines
}

/// What the rows themselves say, for comparison with the counters.
async fn counted(dir: &Path) -> Totals {
    let url = format!("sqlite://{}", dir.join("switchboard.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let count = "select \
         count(*) filter (where state <> 'refused'), count(*) filter (where state = 'processed'), \
         count(*) filter (where state = 'waiting'), count(*) filter (where state = 'dead'), \
         count(*) filter (where state = 'discarded'), count(*) filter (where state = 'expired') \
         from message";
    let row = sqlx::query(count).fetch_one(&mut connection).await.unwrap();
    let number = |column| u64::try_from(row.get::<i64, usize>(column)).unwrap();
    let totals = Totals {
        accepted: number(0),
        processed: number(1),
        waiting: number(2),
        dead: number(3),
        discarded: number(4),
        expired: number(5),
    };
    connection.close().await.unwrap();
    totals
}

#[test]
fn one_batch_many_batches_and_single_writes_leave_the_same_rows_and_totals_that_add_up() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let steps = prop::collection::vec(step(), 1..40);
    let sizes = prop::collection::vec(1_usize..8, 1..20);
    proptest!(ProptestConfig::with_cases(40), |(steps in steps, sizes in sizes)| {
        let writes = writes(&steps);
        runtime.block_on(async {
            let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
            let [single, some, whole] = &dirs;
            let totals = write_in(single.path(), &writes, &[1; 64]).await;
            assert_eq!(totals.difference(), 0);
            assert_eq!(totals, counted(single.path()).await, "counters and rows agree");
            write_in(some.path(), &writes, &sizes).await;
            write_in(whole.path(), &writes, &[]).await;
            let expected = dump(single.path()).await;
            assert_eq!(dump(some.path()).await, expected, "in batches of {sizes:?}");
            assert_eq!(dump(whole.path()).await, expected, "in one batch");
        });
    });
}

#[tokio::test]
async fn messages_that_are_written_eight_at_a_time_are_as_they_would_be_one_by_one() {
    let steps = [vec![Step::Take; 19], vec![Step::Accept; 17], vec![Step::Take; 8]].concat();
    let writes = writes(&steps);
    let (together, singly) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let totals = write_in(together.path(), &writes, &[]).await;
    // A message and what became of it still come together, so that it is one row.
    let of_a_message: Vec<Vec<Record>> = writes[..57].chunks(3).map(|all| all.concat()).collect();
    let others =
        writes[57..74].iter().cloned().chain(writes[74..].chunks(3).map(|all| all.concat()));
    let one_by_one: Vec<Vec<Record>> = of_a_message.into_iter().chain(others).collect();
    assert_eq!(write_in(singly.path(), &one_by_one, &vec![1; one_by_one.len()]).await, totals);
    assert_eq!(dump(together.path()).await, dump(singly.path()).await);
    assert_eq!(totals, counted(singly.path()).await);
}

#[test]
fn a_write_knows_whether_somebody_waits_for_it() {
    let (queue, mut receiver) = crate::queue::Queue::new();
    queue.try_write(accepted(message(1))).unwrap();
    queue.try_write(vec![delivery(1, 1)]).unwrap();
    assert!(receiver.try_recv().is_ok_and(|(write, _)| write.has_message()));
    assert!(receiver.try_recv().is_ok_and(|(write, _)| !write.has_message()));
}
