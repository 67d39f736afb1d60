//! Fills a data folder with messages as a busy week leaves them, to try things with much history:
//! `fill FOLDER COUNT`. Writes through the store itself, and returns when every message can be found.
#![expect(clippy::unwrap_used, reason = "a tool for measuring: what goes wrong ends it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use switchboard_model::{
    Address, AgentId, ConversationId, DeadReason, Dialect, Door, Kind, Message, MessageFilter,
    MessageId, MessageState, Payload, Priority, Timestamp, Topic,
};
use switchboard_store::{Commit, Options, Record, Store};

#[derive(Parser)]
struct Arguments {
    /// The data folder; made if it is missing.
    folder: PathBuf,
    /// How many messages.
    count: u64,
}

const AGENTS: u64 = 200;
const WORDS: [&str; 16] = [
    "price",
    "offer",
    "invoice",
    "summary",
    "headphones",
    "report",
    "crawl",
    "draft",
    "review",
    "translate",
    "search",
    "ticket",
    "weather",
    "meeting",
    "budget",
    "release",
];
/// Messages in one write.
const WRITE: u64 = 256;
/// One message is so much later than the one before.
const APART_MICROS: i64 = 500_000;

#[tokio::main]
async fn main() {
    let Arguments { folder, count } = Arguments::parse();
    let options = Options { retention_days: 3650, retention_max_mb: 1 << 20, ..Options::default() };
    let mut opened = Store::open(&folder, &options).await.unwrap();
    let (store, first) = (opened.store.clone(), opened.restored.next_seq);
    let start = switchboard_broker::now().0 - APART_MICROS * i64::try_from(count).unwrap();
    let writing = tokio::spawn(async move {
        let mut last = None;
        for from in (0..count).step_by(WRITE as usize) {
            let seqs = from..(from + WRITE).min(count);
            let records = seqs.flat_map(|n| one(first + n, n, start));
            last = Some(store.write(records.collect()).await.unwrap());
        }
        last.unwrap()
    });
    let mut done = None;
    let mut writing = writing;
    let last = loop {
        tokio::select! {
            commit = opened.commits.recv() => match commit.unwrap() {
                Commit::Done { up_to } => done = Some(up_to),
                Commit::Failed { error, .. } => panic!("{error}"),
            },
            last = &mut writing => break last.unwrap(),
        }
    };
    while done.is_none_or(|done| done < last) {
        match opened.commits.recv().await.unwrap() {
            Commit::Done { up_to } => done = Some(up_to),
            Commit::Failed { error, .. } => panic!("{error}"),
        }
    }
    println!("{count} messages written; waiting for the index");
    while opened.store.not_indexed().await.unwrap() >= Store::DESCRIBED_TOGETHER {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let newest = opened.store.messages(&MessageFilter::default(), None, 1, false).await.unwrap();
    println!("done: the newest is {}", newest.rows[0].seq);
    opened.store.close().await;
}

/// One message with what became of it.
fn one(seq: u64, n: u64, start: i64) -> Vec<Record> {
    let at = Timestamp(start + APART_MICROS * i64::try_from(n).unwrap());
    let (from, to) = (n * 7 % AGENTS, n * 13 % AGENTS);
    let word = |k: u64| WORDS[usize::try_from((n / (k + 1) + k) % 16).unwrap()];
    let payload = format!(
        r#"{{"type":"task_request","capability":"{}","text":"{} {} for {} number{n}","rare":"needle{}","amount":{n}.5}}"#,
        word(0),
        word(1),
        word(2),
        word(3),
        n / 1000,
    );
    let message = Message {
        seq,
        id: MessageId(uuid::Uuid::now_v7()),
        from: AgentId::parse(&format!("agent-{from:03}")).unwrap(),
        address: Address::from(Topic::parse(&format!("agent:agent-{to:03}")).unwrap()),
        kind: if n.is_multiple_of(3) { Kind::Event } else { Kind::Request },
        capability: Some(word(0).to_owned()),
        priority: if n.is_multiple_of(50) { Priority::High } else { Priority::Normal },
        door: if n.is_multiple_of(4) { Door::Lobby } else { Door::Bus },
        correlation: None,
        conversation: n.is_multiple_of(2).then(|| ConversationId(format!("c-{}", n / 20).into())),
        payload: Payload::parse(&payload).unwrap(),
        dialect: Dialect::Bus,
        context: None,
        decision: None,
        answer_by: None,
        accepted_at: at,
        expires_at: None,
        replay_of: None,
    };
    let dead = n.is_multiple_of(500);
    let settled = Record::Settled {
        message: seq,
        from: MessageState::Waiting,
        state: if dead { MessageState::Dead } else { MessageState::Processed },
        at: Timestamp(at.0 + 1_000 + i64::try_from(n % 97).unwrap() * 100),
        to: None,
        error: dead.then(|| "log file missing".to_owned()),
    };
    let letter = Record::DeadLetter { message: seq, reason: DeadReason::DeclinedByAll, at };
    let mut records = vec![Record::Message(Arc::new(message)), settled];
    records.extend(dead.then_some(letter));
    records
}
