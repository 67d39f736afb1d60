use std::sync::Arc;

use proptest::prelude::*;
use sqlx::Row;
use switchboard_model::{
    ConversationId, Door, Kind, Message, MessageFilter, MessageState, Priority, Timestamp,
};

use super::sample::*;
use crate::open::{self as opening, Parts};
use crate::{Record, history};

async fn find(parts: &Parts, filter: &MessageFilter) -> Vec<u64> {
    let rows = history::messages(&parts.readers, filter, None, 1000, false).await.unwrap();
    rows.rows.iter().map(|row| row.seq).collect()
}

fn text(text: &str) -> MessageFilter {
    MessageFilter { text: Some(text.to_owned()), ..MessageFilter::default() }
}

async fn write(parts: &mut Parts, records: Vec<Record>) {
    parts.queue.try_write(records).unwrap();
    parts.writer.turn().await;
    assert!(parts.commits.recv().await.is_some());
}

/// Describes messages up to this one, as if it were the last of its block.
fn index(parts: &mut Parts, up_to: u64) {
    parts.writer.hand().describe(up_to);
}

#[tokio::test]
async fn a_search_finds_what_is_indexed_what_is_not_yet_and_who_took_it_since() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    write(&mut parts, accepted(message_on(1, "inbound:1", r#"{"t":"apple pie"}"#))).await;
    write(&mut parts, accepted(message_on(2, "inbound:2", r#"{"t":"plum"}"#))).await;
    index(&mut parts, 2);
    write(&mut parts, accepted(message_on(3, "inbound:3", r#"{"t":"apple juice"}"#))).await;
    assert_eq!(parts.writer.hand().house.looked_at_up_to(), 2, "the third is not in the index");
    assert_eq!(find(&parts, &text("appl")).await, [3, 1]);
    assert_eq!(find(&parts, &text("apple pi")).await, [1]);
    assert_eq!(find(&parts, &text("inbound")).await, [3, 2, 1]);

    write(&mut parts, vec![taken_by(1, "greengrocer")]).await;
    assert_eq!(find(&parts, &text("greengrocer apple")).await, [1], "marked to be indexed again");
    index(&mut parts, 3);
    let left = sqlx::query("select seq from search_again");
    assert!(left.fetch_optional(&mut parts.connection).await.unwrap().is_none());
    assert_eq!(find(&parts, &text("greengrocer apple")).await, [1], "indexed again");

    // A message that comes later than one with a higher number.
    write(&mut parts, accepted(message_on(9, "inbound:9", r#""late""#))).await;
    index(&mut parts, 9);
    write(&mut parts, accepted(message_on(5, "inbound:5", r#""late""#))).await;
    assert_eq!(find(&parts, &text("late")).await, [9, 5]);
}

#[tokio::test]
async fn what_changes_while_its_block_is_looked_at_bit_by_bit_is_looked_at_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let of_block = (1..=1030).filter(|seq| *seq != 60);
    let plum = |seq| accepted(message_on(seq, "inbound:1", &format!(r#"["plum","n{seq:04}"]"#)));
    write(&mut parts, of_block.flat_map(plum).collect()).await;
    assert!(!parts.writer.hand().look(100), "there is more of it");
    assert_eq!(parts.writer.hand().house.looked_at_up_to(), 101);
    write(&mut parts, vec![taken_by(50, "greengrocer")]).await;
    write(&mut parts, accepted(message_on(60, "inbound:late", r#""late""#))).await;
    let marked = sqlx::query("select count(*) from search_again");
    let marked: i64 = marked.fetch_one(&mut parts.connection).await.unwrap().get(0);
    assert_eq!(marked, 2);

    while !parts.writer.hand().look(100) {}
    parts.writer.hand().describe_whole();
    assert_eq!(crate::search::progress(&mut parts.connection).await.unwrap(), 1023);
    let left = sqlx::query("select seq from search_again");
    assert!(left.fetch_optional(&mut parts.connection).await.unwrap().is_none());
    assert_eq!(find(&parts, &text("greengrocer plum")).await, [50]);
    assert_eq!(find(&parts, &text("late")).await, [60]);
    for seq in [1, 100, 101, 102, 1023] {
        assert_eq!(find(&parts, &text(&format!("n{seq:04} plum"))).await, [seq]);
    }
}

#[tokio::test]
async fn words_are_found_through_many_blocks_page_by_page() {
    const LAST: u64 = 3000;
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let records = (1..=LAST).flat_map(|seq| {
        let rare = if seq % 1000 == 7 { "rare" } else { "usual" };
        accepted(message_on(seq, "t", &format!(r#"["common","{rare}","n{seq}"]"#)))
    });
    write(&mut parts, records.collect()).await;
    while parts.writer.hand().house.looked_at_up_to() < 2047 {
        parts.writer.turn().await;
    }
    assert_eq!(parts.writer.hand().house.looked_at_up_to(), 2047, "the last block is not full");
    assert_eq!(find(&parts, &text("rare")).await, [2007, 1007, 7]);
    assert_eq!(find(&parts, &text("n1500")).await, [1500]);
    assert_eq!(find(&parts, &text("common n29")).await.len(), 111, "29, 290 to 299, 2900 to 2999");
    assert_eq!(find(&parts, &text("rare usual")).await, [0; 0]);
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = history::messages(&parts.readers, &text("com"), before, 700, false).await;
        let page = page.unwrap();
        found.extend(page.rows.iter().map(|row| row.seq));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(found, (1..=LAST).rev().collect::<Vec<u64>>());
}

#[tokio::test]
async fn hostile_search_text_is_only_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    write(&mut parts, accepted(message_on(1, "t", r#""and or not near words""#))).await;
    index(&mut parts, 1);
    for hostile in
        ["AND", "or NOT", "\"and\"", "words:and", "NEAR(and or)", "and*", "^and", "'; drop"]
    {
        let found = find(&parts, &text(hostile)).await;
        let expected: &[u64] = if hostile.contains("drop") { &[] } else { &[1] };
        assert_eq!(found, expected, "{hostile:?}");
    }
}

fn messages() -> impl Strategy<Value = Vec<(Message, bool)>> {
    let word = "[a-cA-Cé√]{1,3}";
    let one = (
        prop::collection::vec(word, 0..4),
        "[a-c]{1,2}(:[A-C])?",
        prop::option::of("[a-cÉ]{1,3}"),
        prop::sample::select(Kind::ALL.to_vec()),
        prop::sample::select(Door::ALL.to_vec()),
        any::<bool>(),
    );
    prop::collection::vec(one, 1..12).prop_map(|all| {
        let numbered = (1..).zip(all);
        numbered
            .map(|(seq, (words, topic, capability, kind, door, taken))| {
                let payload = serde_json::to_string(&words.join("\n")).unwrap();
                let mut message = message_on(seq, &topic, &payload);
                message.capability = capability;
                message.kind = kind;
                message.door = door;
                message.conversation = (seq % 3 == 0).then(|| ConversationId("a".into()));
                (message, taken)
            })
            .collect()
    })
}

fn filters() -> impl Strategy<Value = MessageFilter> {
    (
        prop::option::of("[a-cA-Cé\"*: -]{0,4}"),
        prop::option::of("[a-zA-Z]{0,1}"),
        prop::option::weighted(0.2, "[a-zA-Z]{0,1}"),
        prop::option::weighted(0.2, "[a-zA-Z]{0,1}"),
        prop::option::of("[a-cA-C:É]{0,2}"),
        prop::option::weighted(0.2, prop::sample::select(Kind::ALL.to_vec())),
        prop::option::weighted(0.2, prop::sample::select(Door::ALL.to_vec())),
        prop::option::weighted(0.2, Just(MessageState::Processed)),
        filters_of_times(),
    )
        .prop_map(|(text, agent, from, to, topic, kind, door, state, times)| MessageFilter {
            kind,
            door,
            state,
            from,
            to,
            agent,
            topic,
            text,
            ..times
        })
}

fn filters_of_times() -> impl Strategy<Value = MessageFilter> {
    (
        prop::option::weighted(0.1, prop::sample::select(Priority::ALL.to_vec())),
        prop::option::weighted(0.1, "[ab]"),
        prop::option::weighted(0.1, 0_i64..12),
        prop::option::weighted(0.1, 0_i64..12),
        prop::option::weighted(0.1, 0_u64..3),
    )
        .prop_map(|(priority, conversation, since, until, slower)| MessageFilter {
            priority,
            conversation: conversation.map(|id| ConversationId(id.into())),
            since: since.map(moment),
            until: until.map(moment),
            slower_micros: slower,
            ..MessageFilter::default()
        })
}

#[test]
fn history_and_live_feed_agree_on_every_filter() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let filters = prop::collection::vec(filters(), 8);
    proptest!(ProptestConfig::with_cases(48), |(messages in messages(), filters in filters, indexed: bool)| {
        runtime.block_on(async {
            let dir = tempfile::tempdir().unwrap();
            let mut parts = opening::open(dir.path(), &options()).await.unwrap();
            let half = messages.len() / 2;
            for (place, (message, taken)) in messages.iter().enumerate() {
                write(&mut parts, vec![Record::Message(Arc::new(message.clone()))]).await;
                if indexed && place == half {
                    index(&mut parts, message.seq);
                }
                // Some of the first half are taken before they are indexed, some after.
                if *taken {
                    write(&mut parts, vec![taken_by(message.seq, "Analyzer-b")]).await;
                }
            }
            let any = MessageFilter::default();
            let all = history::messages(&parts.readers, &any, None, 1000, true).await.unwrap().rows;
            assert_eq!(all.len(), messages.len());
            for filter in &filters {
                let live = all.iter().filter(|row| {
                    let payload = row.payload.as_ref().unwrap();
                    filter.accepts(row, payload.as_str())
                });
                let live: Vec<u64> = live.map(|row| row.seq).collect();
                assert_eq!(find(&parts, filter).await, live, "{filter:?}");
                if filter.is_empty() {
                    assert_eq!(live.len(), messages.len(), "{filter:?}");
                }
            }
        });
    });
}

#[tokio::test]
async fn slow_messages_are_found_newest_first_page_by_page_whatever_else_is_asked() {
    const SECOND: u64 = 1_000_000;
    let dir = tempfile::tempdir().unwrap();
    let mut parts = opening::open(dir.path(), &options()).await.unwrap();
    let took = [SECOND / 2, SECOND, SECOND + 1, 60 * SECOND, 3 * SECOND];
    for seq in 1..=50 {
        let mut message = message(seq);
        message.kind = if seq % 2 == 0 { Kind::Request } else { Kind::Event };
        let micros = took[usize::try_from(seq).unwrap() % took.len()];
        let settled = Record::Settled {
            message: seq,
            from: MessageState::Waiting,
            state: MessageState::Processed,
            at: Timestamp(message.accepted_at.0 + i64::try_from(micros).unwrap()),
            to: Some(agent("analyzer")),
            error: None,
        };
        // Some wait still.
        write(&mut parts, accepted(message)).await;
        if seq % 25 != 3 {
            write(&mut parts, vec![settled]).await;
        }
    }
    let any = MessageFilter::default();
    let all = history::messages(&parts.readers, &any, None, 1000, false).await.unwrap().rows;
    for least in took.into_iter().chain([2 * SECOND, 61 * SECOND]) {
        for kind in [None, Some(Kind::Request)] {
            let filter = MessageFilter { slower_micros: Some(least), kind, ..any.clone() };
            let live = all.iter().filter(|row| filter.accepts(row, ""));
            let live: Vec<u64> = live.map(|row| row.seq).collect();
            let (mut paged, mut before) = (Vec::new(), None);
            loop {
                let page = history::messages(&parts.readers, &filter, before, 3, false);
                let page = page.await.unwrap();
                paged.extend(page.rows.iter().map(|row| row.seq));
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(paged, live, "{filter:?}");
        }
    }
}
