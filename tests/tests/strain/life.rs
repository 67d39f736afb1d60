//! One broker that meets every fault, one after the other, on one database, while it works. After each of them, and after a
//! `kill -9` behind it, everything is accounted for.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::broker::{STATES, unaccounted};
use switchboard_tests::peer::Peer;
use switchboard_tests::program::Program;
use switchboard_tests::proof::{Chance, cases};
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::burden::{
    agent, conserved, done, faketime, is_root, listener, sweep_up_after, under, write_settings,
};

/// Messages that are sent during each fault.
const SENT: u64 = 40;
/// How long the machine sleeps: longer than a delivery may take.
const SLEEP: Duration = Duration::from_secs(2);

/// What befalls the broker.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Killed,
    Stopped,
    /// Writes and syncs fail with this.
    Disk(&'static str),
    /// Each sync takes long.
    SlowDisk,
    /// The time of day is another one.
    Clock(&'static str),
    Asleep,
    /// Nobody new can be let in.
    NoDescriptors,
    /// A recipient takes messages, says nothing, and is gone.
    Stuck,
}

const FAULTS: [Fault; 12] = [
    Fault::Killed,
    Fault::Disk("EIO"),
    Fault::Disk("ENOSPC"),
    Fault::Disk("EROFS"),
    Fault::SlowDisk,
    Fault::Clock("+1d"),
    Fault::Clock("-1h"),
    Fault::Clock("+0"),
    Fault::Asleep,
    Fault::NoDescriptors,
    Fault::Stuck,
    Fault::Stopped,
];

/// A broker on this folder, whose time of day stands in a file.
async fn start(folder: &Path) -> Program {
    let mut command = under(&["env"], folder);
    if let Some(library) = faketime() {
        command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", folder.join("clock"));
        command.env("FAKETIME_NO_CACHE", "1").env("DONT_FAKE_MONOTONIC", "1");
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
    Program::spawn(command, folder).await.unwrap()
}

/// Answers as chance will have it: most are processed, some declined, some asked for again.
fn answers(mut peer: Peer, seed: u64) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut chance = Chance::new(seed);
        while let Some(heard) = peer.hear_for_ever().await {
            if heard.get("method").is_none() {
                continue;
            }
            let result = match chance.below(10) {
                0 => json!({ "processed": false }),
                1 | 2 => json!({ "processed": false, "should_retry": true }),
                _ => json!({ "processed": true }),
            };
            peer.answer(&heard, result).await;
        }
    })
}

/// Sends a mixture and hears what is said of it: the ids of what was accepted, and how much was refused. It ends early with
/// the connection.
async fn talk(mut peer: Peer, seed: u64, answers: Arc<AtomicU64>) -> (Vec<Value>, u64) {
    let mut chance = Chance::new(seed);
    for n in 0..SENT {
        let payload = json!({ "type": "t", "n": n });
        let params = match chance.below(8) {
            0 => json!({ "topic": "agent:away", "payload": payload }),
            1 => json!({ "topic": "agent:away", "payload": payload, "ttl_seconds": 1 }),
            2 => json!({ "topic": "nobody:listens", "payload": payload }),
            3 => json!({ "topic": "agent:stuck", "payload": payload, "ttl_seconds": 2 }),
            _ => json!({ "topic": "agent:near", "payload": payload }),
        };
        let request =
            json!({ "jsonrpc": "2.0", "method": "sendMessage", "params": params, "id": n });
        if !peer.try_say(request.to_string()).await {
            break;
        }
    }
    let (mut accepted, mut refused) = (Vec::new(), 0);
    while accepted.len() as u64 + refused < SENT {
        let heard = tokio::time::timeout(2 * PATIENCE, peer.hear_for_ever()).await;
        let Some(said) = heard.expect("somebody is never answered") else { break };
        answers.fetch_add(1, Ordering::Relaxed);
        match &said["result"]["messageId"] {
            Value::Null => refused += 1,
            id => accepted.push(id.clone()),
        }
    }
    (accepted, refused)
}

/// strace that does this to every write and sync of a broker, once it has all of its threads.
async fn inject(pid: u32, what: &str) -> Child {
    let calls = "pwrite64,fdatasync,fsync,ftruncate";
    let strace = Command::new("strace")
        .args(["-f", "-p", &pid.to_string(), "-o", "/dev/null", "-e", &format!("trace={calls}")])
        .args(["-e", &format!("inject={what}")])
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    eventually("strace is there", async || {
        let traced = |task: std::path::PathBuf| {
            let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
            !status.contains("TracerPid:\t0\n")
        };
        let mut tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        tasks.all(|task| traced(task.unwrap().path())).then_some(())
    })
    .await;
    strace
}

async fn let_go(mut strace: Child) {
    done("kill", &[&strace.id().unwrap().to_string()]).await.unwrap();
    strace.wait().await.unwrap();
}

/// What is known of this life so far.
struct Life {
    folder: tempfile::TempDir,
    program: Program,
    acknowledged: Vec<Value>,
    refused: u64,
    seed: u64,
}

impl Life {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_settings(
            folder.path(),
            "[delivery]\ntimeout_ms = 1500\nbackoff_ms = 50\n[limits]\nwrite_ms = 2000\n",
        );
        std::fs::write(folder.path().join("clock"), "+0").unwrap();
        let program = start(folder.path()).await;
        drop(listener(&program.url, "away").await);
        drop(listener(&program.url, "stuck").await);
        Self { folder, program, acknowledged: Vec::new(), refused: 0, seed: 0 }
    }

    /// Work goes on while the fault lasts; then it ends.
    async fn meet(&mut self, fault: Fault) {
        self.seed += 1;
        let (url, pid) = (self.program.url.clone(), self.program.id());
        let near = answers(listener(&url, "near").await, self.seed);
        let sender = agent(&url, "sender").await;
        let answered = Arc::new(AtomicU64::new(0));
        let talking = talk(sender, self.seed, answered.clone());
        let process = pid.to_string();
        let (accepted, refused) = match fault {
            Fault::Killed | Fault::Stopped => {
                let talking = tokio::spawn(talking);
                // In the middle of it, each time elsewhere.
                let so_far = self.seed % SENT;
                eventually("some are answered", async || {
                    (answered.load(Ordering::Relaxed) >= so_far).then_some(())
                })
                .await;
                let signal = if matches!(fault, Fault::Killed) { "-KILL" } else { "-TERM" };
                self.start_again(signal).await;
                talking.await.unwrap()
            }
            Fault::Disk(error) => {
                let what = format!("pwrite64,fdatasync,fsync,ftruncate:error={error}");
                let strace = inject(pid, &what).await;
                let heard = talking.await;
                let_go(strace).await;
                heard
            }
            Fault::SlowDisk => {
                let strace = inject(pid, "fdatasync,fsync:delay_enter=300000").await;
                let heard = talking.await;
                let_go(strace).await;
                heard
            }
            Fault::Clock(time) => {
                let talking = tokio::spawn(talking);
                std::fs::write(self.folder.path().join("clock"), time).unwrap();
                talking.await.unwrap()
            }
            Fault::Asleep => {
                let talking = tokio::spawn(talking);
                done("kill", &["-STOP", &process]).await.unwrap();
                tokio::time::sleep(SLEEP).await;
                done("kill", &["-CONT", &process]).await.unwrap();
                talking.await.unwrap()
            }
            Fault::NoDescriptors => {
                done("prlimit", &["--pid", &process, "--nofile=8:4096"]).await.unwrap();
                let heard = talking.await;
                done("prlimit", &["--pid", &process, "--nofile=4096:4096"]).await.unwrap();
                heard
            }
            Fault::Stuck => {
                let stuck = listener(&url, "stuck").await;
                let heard = talking.await;
                stuck.vanish();
                heard
            }
        };
        self.acknowledged.extend(accepted);
        self.refused += refused;
        near.abort();
    }

    /// Ends it by this signal, and starts another on the same folder.
    async fn start_again(&mut self, signal: &str) {
        let pid = self.program.id();
        done("kill", &[signal, &pid.to_string()]).await.unwrap();
        eventually("it has ended", async || self.program.has_ended().then_some(())).await;
        sweep_up_after(pid);
        self.program = start(self.folder.path()).await;
    }

    /// The operator sends one dead letter again, and throws another away.
    async fn tend_letters(&self) {
        let open = json!({ "filter": {}, "limit": 2 });
        let page = self.program.call("deadLetters", open).await;
        let letters: Vec<_> = page["rows"].as_array().unwrap().iter().collect();
        if let [one, other] = letters[..] {
            self.program.call("replay", json!({ "id": one["messageId"] })).await;
            let which = json!({ "filter": { "ids": [other["messageId"]] }, "reason": "enough" });
            self.program.call("discard", which).await;
        }
    }

    /// All that was acknowledged is kept, and all that is kept is in one of the five states. What is on its way to the disk
    /// has a moment to get there.
    async fn is_conserved(&self) -> Result<(), String> {
        let mut wrong = "not read in time".to_owned();
        let asking = async {
            while let Err(words) = conserved(&self.program, &self.acknowledged).await {
                wrong = words;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        // All of it is read each time, page by page.
        tokio::time::timeout(6 * PATIENCE, asking).await.map_err(|_| wrong)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_life_with_every_fault() {
    if !is_root() {
        return;
    }
    let rounds = cases(1, 12);
    let mut proof = Proof::new(8, "conservation", "accepted = processed + waiting + dead + discarded + expired, whatever befalls one broker")
        .how(format!("one database through {rounds} rounds of {} faults under load (kill -9, EIO, ENOSPC, EROFS, slow syncs, the clock set on and back, sleep, no descriptors, a stuck recipient, a restart), dead letters sent again and thrown away between; asked after each fault, and again after a kill -9 behind it", FAULTS.len()));
    let mut life = Life::begin().await;
    let mut greatest = 0;
    for round in 0..rounds {
        for fault in FAULTS {
            life.meet(fault).await;
            proof.case(format!("round {round}, {fault:?}"), life.is_conserved().await);
            life.tend_letters().await;
            life.start_again("-KILL").await;
            proof.case(format!("round {round}, {fault:?}, kill -9"), life.is_conserved().await);
            greatest = greatest.max(unaccounted(&life.program.totals().await).abs());
        }
    }
    // Those who were away come back, and nothing waits any more.
    let answering = ["away", "stuck", "near"].map(|id| {
        let url = life.program.url.clone();
        tokio::spawn(async move { answers(listener(&url, id).await, 0).await.unwrap() })
    });
    let totals = eventually("nothing waits any more", async || {
        let totals = life.program.totals().await;
        (totals["waiting"] == 0).then_some(totals)
    })
    .await;
    proof.case("in the end", life.is_conserved().await);
    let sum: Vec<_> = STATES.iter().map(|state| format!("{} {state}", totals[state])).collect();
    drop(answering);
    let pid = life.program.id();
    life.program.kill().await;
    sweep_up_after(pid);
    proof.close(format!(
        "{} faults: {} accepted = {}; difference {greatest} at most; {} acknowledged, 0 lost, {} refused",
        rounds * FAULTS.len() as u64,
        totals["accepted"],
        sum.join(" + "),
        life.acknowledged.len(),
        life.refused
    ));
}
