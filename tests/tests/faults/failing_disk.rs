//! Single writes and syncs that fail: nobody is told that a message is on disk which is not, nothing hangs, the operator
//! sees it, and when the disk works again all goes on.

use std::collections::HashSet;

use bub::{Bus, ClientInfo};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Payload};
use switchboard_tests::broker::unaccounted;
use switchboard_tests::program::Program;
use switchboard_tests::proof::{Chance, cases, full};
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};
use tempfile::{TempDir, tempdir};

use crate::kill_9::key_in;
use crate::strace::{Fault, Injector, Traced, failed};

const FAULTS: [(&str, &str); 4] = [
    ("pwrite64", "EIO"),
    ("pwrite64", "ENOSPC"),
    ("fsync,fdatasync", "EIO"),
    ("fsync,fdatasync", "ENOSPC"),
];
/// The first so many of each.
const FIRST: u64 = 200;
const SETTINGS: &str = "[discovery]\nmdns = false\n";
/// After so many faults the broker is killed, and what is on disk is looked at.
const LIFE: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_or_sync_that_fails_is_told_and_survived() {
    let mut proof = Proof::new(3, "failing-disk", "a write or sync that fails is no acknowledgement, and no end")
        .how(
            "strace lets the nth write or sync of the thread that writes fail, once, with EIO or ENOSPC, under load: each of \
             the first 200; and each one while a new database is made. Then: the sender is told, the console and the log say \
             it, the next message is acknowledged, the sum holds, and after kill -9 every acknowledged message is there",
        );
    let mut chance = Chance::new(3);
    let mut faults = Vec::new();
    for (call, error) in FAULTS {
        match full() {
            true => faults.extend((1..=FIRST).map(|nth| Fault { call, error, nth })),
            false => {
                faults.extend((0..8).map(|_| Fault { call, error, nth: 1 + chance.below(100) }))
            }
        }
    }
    let mut refused = 0;
    for life in faults.chunks(LIFE) {
        refused += one_life(life, &mut proof).await;
    }
    let starts = starts_with_faults(&mut chance, &mut proof).await;
    proof.close(format!(
        "{} failed writes and syncs under load, {refused} messages refused because of them and none acknowledged in vain; \
         {starts} while a database was made",
        faults.len(),
    ));
}

/// A broker whose disk fails again and again. Returns how many messages were refused.
async fn one_life(faults: &[Fault], proof: &mut Proof) -> u64 {
    let folder = house();
    let mut program = Program::start(folder.path()).await;
    let mut acknowledged = HashSet::new();
    let mut refused = 0;
    for (number, fault) in faults.iter().enumerate() {
        let result = one_fault(&mut program, fault, number, &mut acknowledged).await;
        refused += result.as_ref().copied().unwrap_or(0);
        proof.case(format!("{fault:?}"), result.map(drop));
    }
    program.kill().await;
    let program = Program::start(folder.path()).await;
    let lost = acknowledged.difference(&keys(&program).await).count();
    proof.check(format!("{lost} acknowledged messages are not on disk"), lost == 0);
    proof.check("the sum holds after kill -9", unaccounted(&program.totals().await) == 0);
    program.kill().await;
    refused
}

fn house() -> TempDir {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("switchboard.toml"), SETTINGS).unwrap();
    folder
}

/// Sends until the fault has come and gone. Returns how many messages were refused because of it.
async fn one_fault(
    program: &mut Program,
    fault: &Fault,
    number: usize,
    acknowledged: &mut HashSet<String>,
) -> Result<u64, String> {
    let record = tempfile::NamedTempFile::new().unwrap();
    let bus = connect(&program.url, "sender").await;
    connect(&program.url, "absent").await.close().await;
    let before = troubles(program).await;
    let injector = Injector::attach(program.id(), "writer", fault, record.path()).await;
    let mut refused = 0;
    let mut sent = 0;
    while injector.failed() == 0 {
        refused += send(&bus, &format!("{number}-{}-{sent}", fault.nth), acknowledged).await?;
        sent += 1;
        if sent > 2_000 {
            return Err("the fault never came".to_owned());
        }
    }
    // What was under way when it failed.
    refused += send(&bus, &format!("{number}-{}-then", fault.nth), acknowledged).await?;
    injector.detach().await;
    let places =
        ["the database did not take a batch", "could not keep house", "could not move the log"];
    program.says_one_of(&places).await;
    let key = format!("{number}-{}-after", fault.nth);
    eventually("messages are acknowledged again", async || {
        send(&bus, &key, acknowledged).await.ok().filter(|refused| *refused == 0)
    })
    .await;
    let shown = eventually("the console says that it is over", async || {
        let now = troubles(program).await;
        let last = now.last()?.clone();
        (now != before && !last["over"].is_null()).then_some(last)
    })
    .await;
    let words = shown["words"].as_str().unwrap();
    if !words.contains("cannot be written to") || !words.contains("full, failing or gone") {
        return Err(format!("the console says {words:?}"));
    }
    let totals = program.totals().await;
    bus.close().await;
    match unaccounted(&totals) {
        0 => Ok(refused),
        _ => Err(format!("the sum does not hold: {totals}")),
    }
}

/// Returns 1 if it was refused because of the disk; anything else than that or a receipt is wrong.
async fn send(bus: &Bus, key: &str, acknowledged: &mut HashSet<String>) -> Result<u64, String> {
    let payload = Payload::trusted(json!({ "type": "t", "key": key }).to_string());
    let sent = tokio::time::timeout(PATIENCE, bus.send("agent:absent", &payload)).await;
    match sent.map_err(|_| "a sender hangs")? {
        Ok(_) => {
            acknowledged.insert(key.to_owned());
            Ok(0)
        }
        Err(error) if error.to_string().contains("disk") => Ok(1),
        Err(error) => Err(format!("a sender was told: {error}")),
    }
}

async fn connect(url: &str, id: &str) -> Bus {
    let agent = AgentId::parse(id).unwrap();
    Bus::connect(url, &agent, ClientInfo::new("proof", "0.2.0"), None).await.unwrap()
}

async fn troubles(program: &Program) -> Vec<Value> {
    program.call("status", json!({})).await["troubles"].as_array().unwrap().clone()
}

/// The keys in all messages that are kept.
async fn keys(program: &Program) -> HashSet<String> {
    let mut keys = HashSet::new();
    let mut query = json!({ "filter": {}, "limit": 500, "payloads": true });
    loop {
        let page = program.call("messages", query.clone()).await;
        let rows = page["rows"].as_array().unwrap();
        keys.extend(rows.iter().filter_map(|row| key_in(&row["payload"].to_string())));
        match &page["next"] {
            Value::Null => return keys,
            next => query["before"] = next.clone(),
        }
    }
}

/// Faults while a new database is made: it starts, or says why not; and it starts when the disk works again. Returns how
/// many there were.
async fn starts_with_faults(chance: &mut Chance, proof: &mut Proof) -> u64 {
    let mut faults = 0;
    for (call, error) in FAULTS {
        for turn in 1..=cases(2, FIRST) {
            let nth = if full() { turn } else { 1 + chance.below(20) };
            let fault = Fault { call, error, nth };
            match one_start(&fault).await {
                // There are not so many.
                Ok(false) => break,
                Ok(true) => {
                    faults += 1;
                    proof.pass();
                }
                Err(why) => proof.fail(format!("while a database was made, {fault:?}"), why),
            }
        }
    }
    faults
}

/// Whether the fault came.
async fn one_start(fault: &Fault) -> Result<bool, String> {
    let folder = house();
    let record = tempfile::NamedTempFile::new().unwrap();
    let mut arguments = fault.arguments(record.path());
    arguments.push("-f".to_owned());
    for end in ["", "-wal", "-journal"] {
        let path = folder.path().join(format!("switchboard.db{end}"));
        arguments.extend(["-P".to_owned(), path.to_str().unwrap().to_owned()]);
    }
    match Traced::start(&arguments, folder.path()).await {
        Ok(traced) => traced.end(rustix::process::Signal::KILL).await,
        Err(said) if said.contains("panicked") => return Err(format!("it panicked: {said}")),
        Err(said) if said.contains("switchboard.db") || said.contains("database") => {}
        Err(said) => return Err(format!("it ended, and said only: {said}")),
    }
    let came = failed(record.path()) > 0;
    let program = Program::start(folder.path()).await;
    let bus = connect(&program.url, "sender").await;
    connect(&program.url, "absent").await.close().await;
    let mut acknowledged = HashSet::new();
    let refused = send(&bus, "afterwards", &mut acknowledged).await?;
    let balanced = unaccounted(&program.totals().await) == 0;
    program.kill().await;
    if refused > 0 || !balanced {
        return Err(format!("afterwards {refused} refused, balanced: {balanced}"));
    }
    Ok(came)
}
