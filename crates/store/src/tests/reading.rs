use proptest::prelude::*;
use switchboard_model::{
    Capability, DeadReason, DeliveryState, Door, MessageFilter, MessageState, Policy,
    SubscriptionId,
};

use super::sample::*;
use crate::{AgentRecord, Record, SubscriptionRecord};

#[tokio::test]
async fn everything_is_still_there_after_closing_and_opening() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    assert_eq!(opened.restored.next_seq, 1);
    let record = AgentRecord {
        id: agent("analyzer"),
        mailbox: false,
        label: None,
        blocked: false,
        declared_by: None,
        name: "Analyzer".to_owned(),
        version: "1.2".to_owned(),
        door: Door::Bus,
        capabilities: Some(vec![
            Capability {
                keywords: vec!["text".to_owned()],
                authorized_requester_ids: Some(vec!["tg-bridge".to_owned()]),
                ..Capability::named("summarize")
            },
            Capability::named("analyze"),
        ]),
        first_seen: moment(0),
        last_seen: moment(1),
    };
    let subscription = SubscriptionRecord {
        id: SubscriptionId(4),
        agent: agent("analyzer"),
        door: Door::Bus,
        pattern: "inbound:*".to_owned(),
        policy: Policy::ContinueAll,
        at: moment(1),
    };
    opened.written(vec![Record::Agent(record.clone()), Record::Subscribed(subscription)]).await;
    // Payload text keeps its spaces, its large numbers and its escapes.
    let payload = "{ \"n\" : 123456789012345678901234567890,\n \"t\":\"\\u00e9 \u{1F600}\" }";
    opened.written(accepted(message_on(1, "agent:analyzer", payload))).await;
    opened.written(accepted(message(2))).await;
    opened.written(accepted(message(3))).await;
    opened
        .written(vec![
            delivery(7, 1),
            attempt(7, 1, DeliveryState::Waiting),
            attempt(7, 2, DeliveryState::Processed),
            taken_by(1, "someone-else"),
            settled(2, MessageState::Waiting, MessageState::Dead),
            Record::DeadLetter { message: 2, reason: DeadReason::NobodySubscribed, at: moment(9) },
        ])
        .await;
    opened.store.close().await;

    let opened = open(dir.path()).await;
    assert_eq!(opened.restored.agents, [record]);
    let totals = opened.restored.totals;
    assert_eq!((totals.accepted, totals.processed, totals.waiting, totals.dead), (3, 1, 1, 1));
    assert_eq!(opened.restored.next_seq, 4);
    assert_eq!(opened.restored.next_delivery, 8);
    assert_eq!(opened.restored.next_subscription, 5);
    assert_eq!(opened.store.waiting(0, 10).await.unwrap(), [message(3)]);

    let sent = message_on(1, "agent:analyzer", payload);
    let detail = opened.store.message(sent.id).await.unwrap().unwrap();
    assert_eq!(detail.payload_text, payload);
    assert_eq!(detail.row.to, Some(agent("analyzer")), "the addressed agent stays the recipient");
    assert_eq!(detail.row.topic.as_deref(), Some("agent:analyzer"));
    assert_eq!(detail.row.state, MessageState::Processed);
    assert_eq!(detail.row.payload_bytes, u64::try_from(payload.len()).unwrap());
    let [only] = detail.deliveries.as_slice() else {
        panic!("one delivery, not {:?}", detail.deliveries);
    };
    assert_eq!(only.state, DeliveryState::Processed);
    assert_eq!(only.attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [1, 2]);

    let dead = opened.store.message(message(2).id).await.unwrap().unwrap();
    assert_eq!(dead.letter.map(|letter| letter.reason), Some(DeadReason::NobodySubscribed));
    assert_eq!(opened.restored.open_letters, [2]);
    assert!(opened.store.size_bytes().await.unwrap() > 0);
    opened.store.close().await;
}

#[tokio::test]
async fn an_agent_that_joins_again_keeps_its_first_day_and_what_it_did_not_declare_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let first = AgentRecord {
        id: agent("a"),
        mailbox: false,
        label: None,
        blocked: false,
        declared_by: None,
        name: "A".to_owned(),
        version: "1".to_owned(),
        door: Door::Bus,
        capabilities: Some(vec![Capability::named("x")]),
        first_seen: moment(1),
        last_seen: moment(1),
    };
    let again = AgentRecord {
        version: "2".to_owned(),
        door: Door::Lobby,
        capabilities: None,
        first_seen: moment(5),
        last_seen: moment(5),
        ..first.clone()
    };
    opened.written(vec![Record::Agent(first.clone())]).await;
    opened.written(vec![Record::Agent(again.clone())]).await;
    let seen = Record::AgentSeen { id: agent("a"), at: moment(9) };
    opened.written(vec![seen]).await;
    opened.store.close().await;

    let opened = open(dir.path()).await;
    let expected = AgentRecord {
        capabilities: first.capabilities,
        first_seen: moment(1),
        last_seen: moment(9),
        ..again
    };
    assert_eq!(opened.restored.agents, [expected]);
    opened.store.close().await;
}

#[tokio::test]
async fn an_agents_name_may_be_as_long_as_names_may_be() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path()).await;
    let mut long = message(1);
    long.address = switchboard_model::Address::Agent(agent(&"\u{1F600}".repeat(128)));
    opened.written(accepted(long.clone())).await;
    assert_eq!(opened.store.waiting(0, 1).await.unwrap(), [long]);
    opened.store.close().await;
}

#[test]
fn pages_cover_the_history_without_gaps_or_doubles() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let opened = runtime.block_on(async {
        let mut opened = open(dir.path()).await;
        let records = (1..=60).flat_map(|seq| accepted(message(seq))).collect();
        opened.written(records).await;
        let settles = (1..=60).filter(|seq| seq % 3 == 0).map(|seq| taken_by(seq, "analyzer"));
        opened.written(settles.collect()).await;
        opened
    });
    proptest!(ProptestConfig::with_cases(32), |(size in 1_u32..25, only_settled: bool, words: bool)| {
        let filter = MessageFilter {
            state: only_settled.then_some(MessageState::Processed),
            text: words.then(|| "numb".to_owned()),
            ..MessageFilter::default()
        };
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let page = opened.store.messages(&filter, before, size, false);
            let page = runtime.block_on(page).unwrap();
            let page = page.rows;
            prop_assert!(page.len() <= size as usize);
            let Some(last) = page.last() else { break };
            before = Some(last.seq);
            seen.extend(page.iter().map(|row| row.seq));
        }
        let wanted = (1..=60).rev().filter(|seq| !only_settled || seq % 3 == 0);
        prop_assert_eq!(seen, wanted.collect::<Vec<u64>>());
    });
    runtime.block_on(opened.store.close());
}
