//! Programs that the default handler starts: where they run, what they know, how many there are, and that none is
//! left.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_tests::peer::Peer;
use switchboard_tests::program::{Program, path_of};
use switchboard_tests::proof::cases;
use switchboard_tests::{Broker, Proof, eventually};
use tokio::process::Command;

/// In the environment of the broker, and nobody else's business.
const BROKERS_OWN: [(&str, &str); 5] = [
    ("BUB_AUTH_TOKEN", "marker-token-of-somebody"),
    ("BUB_KEY", "marker-key-of-somebody"),
    ("BUB_CERT", "marker-certificate"),
    ("BUB_CA", "marker-authority"),
    ("BUB_AGENT_ID", "marker-somebody"),
];

/// A broker that starts this shell script for every topic that nobody listens to.
async fn with_script(folder: &Path, script: &str) -> Program {
    let settings = format!(
        "[default_handler]\ncommand = [\"/bin/sh\", \"-c\", {}]\n[delivery]\nattempts = 1\ntimeout_ms = 5000\n\
         [discovery]\nmdns = false\n",
        Value::from(script)
    );
    std::fs::write(folder.join("switchboard.toml"), settings).unwrap();
    let mut command = Command::new(path_of("switchboardd"));
    command
        .args(["--listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder)
        .envs(BROKERS_OWN)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Program::spawn(command, folder).await.unwrap()
}

async fn sender(broker: &Program) -> Peer {
    let mut peer = Peer::connect(broker.url()).await;
    peer.initialize("sender").await;
    peer
}

fn message(topic: &str) -> Value {
    json!({ "topic": topic, "payload": { "type": "hello" } })
}

async fn spawned(broker: &Program) -> Vec<Value> {
    broker.call("spawned", json!({})).await["agents"].as_array().unwrap().clone()
}

/// Topics that would be paths, if they were ever taken for one.
const TOPICS: [&str; 10] = [
    "../../../../tmp/escaped",
    "/tmp/escaped",
    "a/../../b",
    "..",
    "%2e%2e%2fescaped",
    "$(touch escaped)",
    "`touch escaped`",
    "; touch escaped",
    "-rf",
    "ünïcode/分析",
];

#[tokio::test]
async fn child_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"{ pwd; echo "$BUB_WORKSPACE"; ls -l /proc/self/fd; tr '\0' '\n' </proc/self/environ; } >told; mv told done"#;
    let broker = with_script(folder.path(), script).await;
    let mut peer = sender(&broker).await;
    let mut proof = Proof::new(
        18,
        "child-workspace",
        "a started program begins in a folder of its own in the data folder, with no open file of the broker's and \
         nothing of others' tokens in its environment",
    )
    .how("topics that look like paths and commands; each program writes down where it is, what it holds and knows");
    let before = entries(folder.path());
    let admin = std::fs::read_to_string(folder.path().join("admin-token")).unwrap();
    let workspaces =
        folder.path().join("workspaces").canonicalize().unwrap_or(folder.path().join("workspaces"));
    for topic in TOPICS {
        peer.ask("sendMessage", message(topic)).await;
        let child = eventually("it is started", async || {
            spawned(&broker).await.into_iter().find(|one| one["topic"] == topic)
        })
        .await;
        let workspace = workspaces.join(child["agent"].as_str().unwrap());
        let done = workspace.join("done");
        let told = eventually("it has told", async || std::fs::read_to_string(&done).ok()).await;
        let (place, rest) = told.split_once('\n').unwrap();
        proof.check(format!("{topic:?} began in {place}"), Path::new(place) == workspace);
        proof.check(format!("{topic:?} was told of its folder"), rest.starts_with(place));
        let open: Vec<_> =
            rest.lines().filter_map(|line| line.split_once(" -> ")).map(|(_, to)| to).collect();
        let own = |to: &&str| {
            to.starts_with("pipe:")
                || to.starts_with("/dev/null")
                || to.starts_with("/proc/")
                || to.starts_with(place)
        };
        proof.check(format!("{topic:?} holds {open:?}"), !open.is_empty() && open.iter().all(own));
        let leaks = BROKERS_OWN.iter().map(|(_, value)| *value).chain([admin.trim()]);
        let leaks: Vec<_> = leaks.filter(|value| told.contains(value)).collect();
        proof.check(format!("{topic:?} knows {leaks:?}"), leaks.is_empty());
        let output = json!({ "agent": child["agent"] });
        broker.call("spawnedOutput", output).await;
    }
    for id in [
        "../../admin-token",
        "/etc/passwd",
        "..",
        "agent-0/../../admin-token",
        "agent-000000000000",
    ] {
        let asked = broker.console().call::<Value>("spawnedOutput", &json!({ "agent": id })).await;
        let told = asked.map(|told| told.to_string()).unwrap_or_default();
        proof.check(
            format!("the output of {id:?}: {told}"),
            !told.contains(admin.trim()) && !told.contains("root:"),
        );
    }
    let new: Vec<_> = entries(folder.path()).difference(&before).cloned().collect();
    let fits = new.iter().all(|name| ["workspaces", "spawned"].contains(&name.as_str()));
    proof.check(format!("new in the data folder: {new:?}"), fits);
    proof.check(
        "a file escaped",
        !Path::new("/tmp/escaped").exists() && !Path::new("escaped").exists(),
    );
    let figure = format!("{} faults with {} topics", proof.failed(), TOPICS.len());
    assert_eq!(broker.terminate().await, 0);
    proof.close(figure);
}

fn entries(folder: &Path) -> BTreeSet<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.into_string().unwrap())
        .filter(|name| !name.starts_with("switchboard.db"))
        .collect()
}

/// Ways to outlive a parent. Each leaves a process that sleeps for a time that nobody else sleeps for.
const WAYS: [(&str, &str); 7] = [
    ("waits", "exec sleep NAP"),
    ("in the background", "sleep NAP & wait"),
    ("left behind", "sleep NAP & exit 0"),
    ("ignores TERM", "trap '' TERM INT HUP; sleep NAP & while :; do wait; done"),
    ("nohup", "nohup sleep NAP >/dev/null 2>&1 & wait"),
    ("a session of its own", "setsid sleep NAP & wait"),
    ("forked twice", "(setsid sh -c 'sleep NAP & wait' </dev/null >/dev/null 2>&1 &) ; exit 0"),
];

/// The processes that sleep for this time.
fn sleepers(nap: &str) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        line.split(|byte| *byte == 0).any(|word| word == nap.as_bytes()).then_some(id)
    });
    ids.collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    InOrder,
    Killed,
}

#[tokio::test]
async fn child_orphans() {
    let mut proof = Proof::new(
        18,
        "child-orphans",
        "nothing that a started program started outlives the broker, which ends in order or by kill -9",
    )
    .how("programs that detach, fork twice, ignore signals and open sessions of their own × both ends, again and again");
    let rounds = cases(1, 10);
    let mut number = 0;
    for _ in 0..rounds {
        for end in [End::InOrder, End::Killed] {
            let folder = tempfile::tempdir().unwrap();
            number += 1;
            // Told apart by the topic, since one broker has one command.
            let nap = |at: usize| format!("{}.{number}{at}", 86_400 + std::process::id());
            let choice: String = WAYS
                .iter()
                .enumerate()
                .map(|(at, (_, script))| {
                    format!("way:{at}) {};;\n", script.replace("NAP", &nap(at)))
                })
                .collect();
            let script = format!("case $BUB_DEFAULT_TOPIC in\n{choice}esac");
            let broker = with_script(folder.path(), &script).await;
            let mut peer = sender(&broker).await;
            for at in 0..WAYS.len() {
                peer.ask("sendMessage", message(&format!("way:{at}"))).await;
            }
            for (at, (_, script)) in WAYS.iter().enumerate() {
                let ends_by_itself = script.ends_with("exit 0");
                eventually("it sleeps or has ended", async || {
                    let ended = spawned(&broker)
                        .await
                        .iter()
                        .any(|one| one["topic"] == format!("way:{at}") && !one["ended"].is_null());
                    (!sleepers(&nap(at)).is_empty() || (ends_by_itself && ended)).then_some(())
                })
                .await;
            }
            match end {
                End::InOrder => assert_eq!(broker.terminate().await, 0),
                End::Killed => broker.kill().await,
            }
            for (at, (way, _)) in WAYS.iter().enumerate() {
                let gone = async || sleepers(&nap(at)).is_empty().then_some(());
                let waited = tokio::time::timeout(
                    std::time::Duration::from_secs(15),
                    eventually("it is gone", gone),
                );
                let left = if waited.await.is_ok() { Vec::new() } else { sleepers(&nap(at)) };
                proof.check(format!("{way}, {end:?}: {left:?} is left"), left.is_empty());
                for id in left {
                    drop(std::process::Command::new("kill").args(["-9", &id.to_string()]).status());
                }
            }
        }
    }
    let left = proof.failed();
    proof.close(format!("{left} left of {} ways × 2 ends × {rounds}", WAYS.len()));
}

#[tokio::test]
async fn child_flood() {
    let folder = tempfile::tempdir().unwrap();
    let broker = with_script(folder.path(), "exec sleep 1").await;
    let mut peer = sender(&broker).await;
    let topics = cases(24, 200);
    let mut proof = Proof::new(
        18,
        "child-flood",
        "under a flood of new topics at most 8 programs run and at most 4 are started a second",
    )
    .how("as many topics at once as nobody listens to; what runs is asked again and again, and each start has its time");
    for number in 0..topics {
        peer.ask("sendMessage", message(&format!("flood:{number}"))).await;
    }
    let mut most = 0;
    eventually("enough were started", async || {
        let all = spawned(&broker).await;
        most = most.max(all.iter().filter(|one| one["ended"].is_null()).count());
        (all.len() >= 16).then_some(())
    })
    .await;
    proof.check(format!("{most} ran at once"), (1..=8).contains(&most));
    let all = spawned(&broker).await;
    let started = |one: &Value| {
        let at = one["startedAt"].as_str().unwrap();
        switchboard_model::Timestamp::parse_iso(at).unwrap().0
    };
    let mut starts: Vec<i64> = all.iter().map(started).collect();
    starts.sort_unstable();
    for five in starts.windows(5) {
        // The clock that is shown is not the one that counts the second.
        let apart = five[4] - five[0];
        proof.check(format!("5 starts within {apart} µs"), apart >= 950_000);
    }
    let figure = format!(
        "at most {most} at once of {topics} wanted; {} starts, never 5 within a second",
        starts.len()
    );
    assert_eq!(broker.terminate().await, 0);
    proof.close(figure);
}
