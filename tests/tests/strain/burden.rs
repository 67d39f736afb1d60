//! A broker under a burden, and what is measured of it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::broker::unaccounted;
use switchboard_tests::peer::Peer;
use switchboard_tests::program::{Program, path_of};
use switchboard_tests::{Broker, PATIENCE, eventually};
use tokio::process::Command;
use tokio::time::Instant;

/// Whether this test may mount, trace and make networks; says so where it may not.
pub(crate) fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("not run: it needs root to mount, to trace and to make networks");
    }
    root
}

/// Settings for a broker that only its test shall find.
pub(crate) fn write_settings(folder: &Path, settings: &str) {
    let text = format!("{settings}\n[discovery]\nmdns = false\n");
    std::fs::write(folder.join("switchboard.toml"), text).unwrap();
}

/// `switchboardd` on this folder, started by another program that puts the burden on it. What it says is not kept: it
/// may be much, and nobody reads it.
pub(crate) fn under(burden: &[&str], folder: &Path) -> Command {
    let mut quiet = vec!["sh", "-c", "exec \"$@\" 2>/dev/null", "sh"];
    quiet.extend(burden);
    aloud_under(&quiet, folder)
}

/// The same; what it says can be read, and must be.
pub(crate) fn aloud_under(burden: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(burden[0]);
    command.args(&burden[1..]).arg(path_of("switchboardd"));
    command.args(["--data-dir", folder.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

pub(crate) async fn agent(url: &str, id: &str) -> Peer {
    let mut peer = Peer::connect(url).await;
    peer.initialize(id).await;
    peer
}

/// One that listens to what is sent to itself.
pub(crate) async fn listener(url: &str, id: &str) -> Peer {
    let mut peer = agent(url, id).await;
    peer.subscribe(&format!("agent:{id}")).await;
    peer
}

/// Sends to an agent and returns the whole response.
pub(crate) async fn send(sender: &mut Peer, to: &str, n: u64) -> Value {
    let payload = json!({ "type": "t", "n": n });
    sender.call("sendMessage", json!({ "topic": format!("agent:{to}"), "payload": payload })).await
}

/// Answers everything that comes, for as long as the connection lasts; returns the numbers.
pub(crate) fn answers_all(mut peer: Peer) -> tokio::task::JoinHandle<Vec<u64>> {
    tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(heard) = peer.hear_for_ever().await {
            if heard.get("method").is_some() {
                peer.answer(&heard, json!({ "processed": true })).await;
                seen.push(heard["params"]["payload"]["n"].as_u64().unwrap_or(u64::MAX));
            }
        }
        seen
    })
}

/// How long so many round trips took: from the sender, to the recipient, and its answer back.
pub(crate) async fn round_trips(sender: &mut Peer, to: &str, count: u64) -> Vec<Duration> {
    let mut took = Vec::new();
    for n in 0..count {
        let began = Instant::now();
        let said = send(sender, to, n).await;
        assert!(said["result"].is_object(), "{said}");
        took.push(began.elapsed());
    }
    took
}

/// The middle one.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn resident(pid: u32) -> u64 {
    in_status(pid, "VmRSS")
}

/// What it keeps in memory: what it had in its hands for a moment goes back to the system, and that is over when no
/// more has gone back for a while.
pub(crate) async fn at_rest(pid: u32) -> u64 {
    let (mut least, mut since) = (resident(pid), Instant::now());
    while since.elapsed() < Duration::from_secs(2) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = resident(pid);
        if mb(now) < mb(least) {
            (least, since) = (now, Instant::now());
        }
    }
    least
}

/// The most it ever had in memory.
pub(crate) fn peak(pid: u32) -> u64 {
    in_status(pid, "VmHWM")
}

fn in_status(pid: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

pub(crate) fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

pub(crate) fn mb(bytes: u64) -> u64 {
    bytes >> 20
}

/// What the operator finds in the report for help: the last warnings and errors are part of it.
pub(crate) async fn report(program: &Program) -> String {
    program.call("diagnostics", json!({})).await["text"].as_str().unwrap().to_owned()
}

/// Waits until the sender's messages are taken again.
pub(crate) async fn takes_again(sender: &mut Peer, to: &str, n: u64) -> Value {
    eventually("messages are taken again", async || {
        let said = send(sender, to, n).await;
        said["result"]["accepted"].as_bool().unwrap_or(false).then_some(said)
    })
    .await
}

/// Everything as the console sees it now.
pub(crate) async fn snapshot(program: &Program) -> Value {
    let mut feed =
        program.console().watch(&serde_json::from_value(json!({})).unwrap()).await.unwrap();
    tokio::time::timeout(PATIENCE, feed.next()).await.expect("no snapshot in time").unwrap()
}

/// Runs it to its end; what it said where it failed.
pub(crate) async fn done(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{program} {arguments:?}: {said}")) }
}

/// Everything that was acknowledged is kept, nothing else is, and all of it is accounted for.
pub(crate) async fn conserved(program: &Program, acknowledged: &[Value]) -> Result<(), String> {
    let totals = program.totals().await;
    if unaccounted(&totals) != 0 {
        return Err(format!("{} unaccounted for: {totals}", unaccounted(&totals)));
    }
    let mut kept = std::collections::HashSet::new();
    let mut query = json!({ "filter": {}, "limit": 500 });
    loop {
        let page = program.call("messages", query.clone()).await;
        for row in page["rows"].as_array().unwrap() {
            if row["state"] != "refused" {
                kept.insert(row["id"].as_str().unwrap().to_owned());
            }
        }
        match &page["next"] {
            Value::Null => break,
            next => query["before"] = next.clone(),
        }
    }
    let lost = acknowledged.iter().filter(|id| !kept.contains(id.as_str().unwrap())).count();
    let count = kept.len() as u64;
    match (lost, totals["accepted"].as_u64() == Some(count)) {
        (0, true) => Ok(()),
        (0, false) => Err(format!("{count} are kept of {totals}")),
        (lost, _) => Err(format!("{lost} of {} acknowledged are lost", acknowledged.len())),
    }
}

/// Whether every screen of the console tells of trouble with the disk that is not over.
pub(crate) async fn in_trouble(program: &Program) -> bool {
    let status = program.call("status", json!({})).await;
    status["troubles"].as_array().unwrap().iter().any(|one| one["over"].is_null())
}

/// Where Debian puts the library that tells a program another time.
pub(crate) fn faketime() -> Option<PathBuf> {
    let found = std::fs::read_dir("/usr/lib").unwrap().filter_map(Result::ok);
    let mut found =
        found.map(|one| one.path().join("faketime/libfaketimeMT.so.1")).filter(|one| one.exists());
    found.next()
}

/// Takes away what that library leaves in memory of a program that was killed.
pub(crate) fn sweep_up_after(pid: u32) {
    for name in [format!("faketime_shm_{pid}"), format!("sem.faketime_sem_{pid}")] {
        drop(std::fs::remove_file(Path::new("/dev/shm").join(name)));
    }
}
