//! The power is cut at every sync and in between: what was acknowledged is there when it comes back.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bub::{Answer, Bus, ClientInfo};
use rusqlite::{Connection, OpenFlags};
use rustix::process::Signal;
use serde_json::json;
use switchboard_model::{AgentId, Payload};
use switchboard_store::{Options, Store, Synchronous};
use switchboard_tests::Proof;
use switchboard_tests::proof::{Chance, cases};
use tempfile::{TempDir, tempdir};

use crate::disk::{CUTS, Cut, Disk};
use crate::strace::Traced;
use crate::trace::{self, Event};

const PUBLISHERS: usize = 3;
/// In the first life, which ends in order, and in the second, which moves a large log beside its work.
const MESSAGES: [usize; 2] = [60, 90];
const LARGE: usize = 60_000;

/// What was sent, by the broker's id for it.
type Sent = Arc<Mutex<HashMap<String, String>>>;

/// What a broker did to its disk, and what it said.
struct Record {
    events: Vec<Event>,
    sent: HashMap<String, String>,
    _folder: TempDir,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_by_a_power_cut() {
    let mut proof = Proof::new(2, "power-cut", "a power cut loses nothing that was acknowledged, and damages nothing")
        .how(
            "strace records what switchboardd does to its files and says on its sockets; the disk is rebuilt as it could be \
             after a cut at and between its syncs (unsynced writes dropped, kept, cut off, reordered, torn by sector and \
             by page, zeros), opened by the real store, checked, and every payload acknowledged before the cut compared",
        )
        .peer("SQLite's WAL with synchronous=NORMAL, by a trial: acknowledged rows lost in 735 of 800 states; FULL: in none");
    let record = record("full").await;
    let states = cases(300, 5_000);
    let mut acknowledged = 0;
    for state in states_of(&record, states, true) {
        acknowledged = acknowledged.max(state.acknowledged.len());
        let result = look_at(&state, Synchronous::Full).await;
        proof.case(&state.name, result);
    }
    let losing = losing_with_normal(cases(60, 800)).await;
    proof.check(
        "the same with synchronous=normal loses something, so that losses are seen",
        losing.0 > 0,
    );
    let syncs = record.events.iter().filter(|event| matches!(event, Event::Synced { .. })).count();
    proof.close(format!(
        "{states} states of a disk with {syncs} syncs and up to {acknowledged} acknowledged messages: 0 lost, 0 damaged; with \
         NORMAL, {} of {} states had lost some",
        losing.0, losing.1
    ));
}

/// In how many of how many states something was lost that was acknowledged, with less care.
async fn losing_with_normal(states: u64) -> (u64, u64) {
    let record = record("normal").await;
    let mut losing = 0;
    for state in states_of(&record, states, false) {
        match look_at(&state, Synchronous::Normal).await {
            Ok(()) => {}
            Err(why) if why.contains("lost") => losing += 1,
            Err(why) => println!("with NORMAL, {}: {why}", state.name),
        }
    }
    (losing, states)
}

/// Lets a broker work, in two lives, and records both.
async fn record(synchronous: &str) -> Record {
    let folder = tempdir().unwrap();
    let settings = format!(
        "[durability]\nsynchronous = \"{synchronous}\"\n[discovery]\nmdns = false\n[delivery]\nbackoff_ms = 20\n"
    );
    std::fs::write(folder.path().join("switchboard.toml"), settings).unwrap();
    let (mut events, sent) = (Vec::new(), Sent::default());
    let records = tempdir().unwrap();
    for (life, messages) in MESSAGES.into_iter().enumerate() {
        let record = records.path().join(format!("{life}"));
        let traced = Traced::start(&trace::arguments(&record), folder.path()).await.unwrap();
        work(&traced.program.url, life, messages, &sent).await;
        traced.end(if life == 0 { Signal::TERM } else { Signal::KILL }).await;
        events.extend(trace::read(&record, folder.path()));
    }
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    Record { events, sent, _folder: folder }
}

/// Messages for one that takes them, one that is away, one that wants them later, and nobody.
async fn work(url: &str, life: usize, messages: usize, sent: &Sent) {
    let connect = async |id: &str| {
        let agent = AgentId::parse(id).unwrap();
        Bus::connect(url, &agent, ClientInfo::new("proof", "0.2.0"), None).await.unwrap()
    };
    connect("absent").await.close().await;
    let taker = connect("taker").await;
    taker.subscribe("news", None).await.unwrap();
    let takes = tokio::spawn(async move {
        for turn in 0.. {
            let Some(delivery) = taker.next_delivery().await else { return };
            let answer =
                if turn % 5 == 4 { Answer::retry("later", 0) } else { Answer::processed() };
            if delivery.answer(answer).await.is_err() {
                return;
            }
        }
    });
    let mut publishers = Vec::new();
    for publisher in 0..PUBLISHERS {
        let bus = connect(&format!("publisher-{publisher}")).await;
        let sent = sent.clone();
        publishers.push(tokio::spawn(async move {
            for number in 0..messages {
                let topic = ["news", "agent:absent", "nowhere", "news"][number % 4];
                // In the second life the log becomes large.
                let filling = if life == 1 && number % 4 != 3 { LARGE } else { number * 7 % 600 };
                let payload =
                    json!({ "type": "t", "n": number, "filling": "x".repeat(filling) }).to_string();
                let result = bus.send(topic, &Payload::trusted(payload.clone())).await.unwrap();
                sent.lock().unwrap().insert(result.message_id.unwrap(), payload);
            }
        }));
    }
    for publisher in publishers {
        publisher.await.unwrap();
    }
    takes.abort();
}

/// A disk after a cut, and what was acknowledged before it.
struct State<'a> {
    name: String,
    folder: TempDir,
    acknowledged: Vec<&'a String>,
    record: &'a Record,
}

/// So many states: at every sync, before and after it, in every way if there is room, and at random moments; or at
/// random moments only.
fn states_of(record: &Record, states: u64, at_syncs: bool) -> impl Iterator<Item = State<'_>> {
    let mut chance = Chance::new(2);
    let is_sync =
        |event: &Event| at_syncs && matches!(event, Event::SyncBegan { .. } | Event::Synced { .. });
    let syncs = (0..record.events.len()).filter(|at| is_sync(&record.events[*at]));
    let mut points: Vec<(usize, Cut)> = syncs
        .flat_map(|at| CUTS.into_iter().flat_map(move |cut| [(at, cut), (at + 1, cut)]))
        .collect();
    while points.len() < states as usize {
        let at = chance.below(record.events.len() as u64 + 1) as usize;
        points.push((at, CUTS[chance.below(CUTS.len() as u64) as usize]));
    }
    // Those that are one too many go, from anywhere.
    while points.len() > states as usize {
        points.swap_remove(chance.below(points.len() as u64) as usize);
    }
    points.sort_by_key(|(at, _)| *at);
    let (mut disk, mut followed, mut acknowledged) = (Disk::default(), 0, Vec::new());
    points.into_iter().map(move |(at, cut)| {
        for event in &record.events[followed..at] {
            disk.follow(event);
            if let Event::Said(words) = event {
                acknowledged.extend(receipts(words, &record.sent));
            }
        }
        followed = at;
        let folder = tempdir().unwrap();
        disk.cut(cut, &mut chance, folder.path());
        let name = format!("cut at event {at} of {}, {cut:?}", record.events.len());
        State { name, folder, acknowledged: acknowledged.clone(), record }
    })
}

/// The messages for which these words are the receipt.
fn receipts<'a>(words: &[u8], sent: &'a HashMap<String, String>) -> Vec<&'a String> {
    let words = String::from_utf8_lossy(words);
    let replies = words.split("\"jsonrpc\"").filter(|reply| reply.contains("\"deliveredTo\""));
    let id = |reply: &str| reply.split_once("\"messageId\":\"")?.1.get(..36).map(str::to_owned);
    replies.filter_map(id).filter_map(|id| sent.get_key_value(&id).map(|(id, _)| id)).collect()
}

/// Opens it as the broker would, and looks whether all is there and whole.
async fn look_at(state: &State<'_>, synchronous: Synchronous) -> Result<(), String> {
    let folder = state.folder.path();
    let options = Options { synchronous, ..Options::default() };
    let opened =
        Store::open(folder, &options).await.map_err(|error| format!("not opened: {error}"))?;
    let totals = opened.restored.totals;
    let troubles = opened.store.troubles().borrow().clone();
    if synchronous == Synchronous::Full && !troubles.is_empty() {
        return Err(format!("a false alarm: {troubles:?}"));
    }
    opened.store.close().await;
    let sum = totals.processed + totals.waiting + totals.dead + totals.discarded + totals.expired;
    if totals.accepted != sum {
        return Err(format!("the sum does not hold: {totals:?}"));
    }
    let found = content(folder).map_err(|error| format!("not read: {error}"))??;
    for id in &state.acknowledged {
        match found.get(*id) {
            None => {
                return Err(format!("{id} is lost, of {} acknowledged", state.acknowledged.len()));
            }
            Some(payload) if *payload != state.record.sent[*id] => {
                return Err(format!("{id} is altered"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Every message's payload, if the database is whole.
fn content(folder: &Path) -> rusqlite::Result<Result<HashMap<String, String>, String>> {
    let path = folder.join("switchboard.db");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let verdict: String = database.query_row("pragma integrity_check", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Ok(Err(format!("damaged: {verdict}")));
    }
    let mut rows = database.prepare("select id, payload from message")?;
    let rows = rows.query_map([], |row| {
        let id = uuid::Uuid::from_slice(&row.get::<_, Vec<u8>>(0)?).unwrap();
        Ok((id.to_string(), row.get(1)?))
    })?;
    rows.collect::<rusqlite::Result<_>>().map(Ok)
}
