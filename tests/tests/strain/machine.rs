//! A machine that fails the broker: its disk, its descriptors, its clock, its sleep. What the broker does then is in
//! docs/FAULTS.md, is seen in the console, and ends by itself when the fault does.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::broker::unaccounted;
use switchboard_tests::peer::Peer;
use switchboard_tests::program::Program;
use switchboard_tests::socket::Socket;
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};
use tokio::process::Command;

use crate::burden::{
    agent, aloud_under, answers_all, descriptors, is_root, listener, report, send, takes_again,
    under, write_settings,
};

/// Runs it to its end; what it said where it failed.
async fn done(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{program} {arguments:?}: {said}")) }
}

/// A broker on a disk of its own, which only it has mounted, and which ends with it.
struct OnSmallDisk {
    program: Program,
    /// The disk as others can reach it.
    disk: PathBuf,
}

/// Makes a disk at `folder`, in a mount namespace of its own, and starts there what comes after it.
fn on_a_disk(folder: &Path, options: &str, settings: &str) -> [String; 6] {
    let folder = folder.display();
    let settings = format!("{settings}\n[discovery]\nmdns = false\n");
    let script = format!(
        "mount -t tmpfs -o size=24m tmpfs {folder}; printf %s '{settings}' > {folder}/switchboard.toml; \
         mount -o remount,{options} {folder}; exec \"$@\""
    );
    ["unshare", "--mount", "sh", "-ec", &script, "sh"].map(str::to_owned)
}

fn words(burden: &[String]) -> Vec<&str> {
    burden.iter().map(String::as_str).collect()
}

impl OnSmallDisk {
    async fn start(folder: &Path, settings: &str) -> Self {
        let command = under(&words(&on_a_disk(folder, "rw", settings)), folder);
        let program = Program::spawn(command, folder).await.unwrap();
        let disk = PathBuf::from(format!("/proc/{}/root{}", program.id(), folder.display()));
        Self { program: program.found_at(disk.clone()), disk }
    }

    /// Leaves so many bytes free.
    fn leave(&self, bytes: u64) {
        let filler = self.disk.join("filler");
        drop(std::fs::remove_file(&filler));
        let mut free =
            rustix::fs::statvfs(&self.disk).map(|disk| disk.f_bavail * disk.f_frsize).unwrap();
        let mut file = std::fs::File::create(&filler).unwrap();
        while free > bytes {
            let more = vec![0; usize::try_from((free - bytes).min(1 << 16)).unwrap()];
            if std::io::Write::write(&mut file, &more).is_err() {
                break;
            }
            free =
                rustix::fs::statvfs(&self.disk).map(|disk| disk.f_bavail * disk.f_frsize).unwrap();
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.disk.join("filler")).unwrap();
    }
}

/// Everything that was acknowledged is kept, nothing else is, and all of it is accounted for.
async fn conserved(program: &Program, acknowledged: &[Value]) -> Result<(), String> {
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
async fn in_trouble(program: &Program) -> bool {
    let status = program.call("status", json!({})).await;
    status["troubles"].as_array().unwrap().iter().any(|one| one["over"].is_null())
}

/// Sends until one is refused; returns the ids of those that were not, and the refusal.
async fn until_refused(sender: &mut Peer, to: &str, bytes: usize) -> (Vec<Value>, Value) {
    let mut acknowledged = Vec::new();
    let filling = "x".repeat(bytes);
    let sending = async {
        loop {
            let payload = json!({ "type": "t", "filling": filling });
            let params = json!({ "topic": format!("agent:{to}"), "payload": payload });
            let said = sender.call("sendMessage", params).await;
            match said["result"]["accepted"].as_bool() {
                Some(true) => acknowledged.push(said["result"]["messageId"].clone()),
                _ => return said,
            }
        }
    };
    let refusal = tokio::time::timeout(PATIENCE, sending).await.expect("nothing was refused");
    (acknowledged, refusal)
}

/// With a guard of so many MB, fills the disk until messages are refused, and looks at everything then.
async fn fill(proof: &mut Proof, guard: u64, left: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let on = OnSmallDisk::start(folder.path(), &format!("[limits]\ndisk_free_mb = {guard}")).await;
    let program = &on.program;
    let mut sender = agent(&program.url, "sender").await;
    drop(listener(&program.url, "away").await);
    let mut acknowledged = vec![send(&mut sender, "away", 1).await["result"]["messageId"].clone()];
    on.leave(left);
    let (more, refusal) = until_refused(&mut sender, "away", 20_000).await;
    acknowledged.extend(more);
    let case = |words: &str| format!("guard {guard} MB: {words}");
    let words = refusal["error"].to_string();
    proof.check(case(&format!("the sender is told: {refusal}")), words.contains("disk"));
    let free = program.call("storage", json!({})).await["freeBytes"].as_u64().unwrap();
    proof.check(case(&format!("the console shows that {free} bytes are free")), free < 10 << 20);
    let text = report(program).await;
    proof.check(case("the console's report says why"), text.contains("full"));
    proof.check(case("every screen of the console tells of it"), in_trouble(program).await);
    // How much is free is asked once in a second: until then a small message may still find room.
    let told = eventually("the operator is told, too", async || {
        let params = json!({ "topic": "agent:away", "payload": "{\"type\":\"t\"}" });
        program.console().call::<Value>("send", params).await.err()
    })
    .await;
    proof.check(
        case(&format!("the operator is told, too: {told}")),
        told.to_string().contains("disk"),
    );
    proof.case(case("nothing is lost"), conserved(program, &acknowledged).await);
    // What was accepted before is delivered though nothing new is.
    let mut back = listener(&program.url, "away").await;
    back.process().await;
    let answering = answers_all(back);
    on.make_room();
    let said = takes_again(&mut sender, "away", 2).await;
    proof.check(
        case("taken again when there is room, without a restart"),
        said["result"]["messageId"].is_string(),
    );
    acknowledged.push(said["result"]["messageId"].clone());
    eventually("no more of it", async || (!in_trouble(program).await).then_some(())).await;
    proof.case(case("nothing is lost after it"), conserved(program, &acknowledged).await);
    answering.abort();
    acknowledged.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk() {
    if !is_root() {
        return;
    }
    let mut proof = Proof::new(
        4,
        "disk-full",
        "a full disk refuses new messages, loses none, and is over when there is room",
    )
    .how("a 24 MB tmpfs filled up to the guard, and beyond it to the last byte; then room is made");
    let guarded = fill(&mut proof, 10, 2 << 20).await;
    let to_the_last = fill(&mut proof, 0, 0).await;
    proof.close(format!(
        "{guarded} + {to_the_last} acknowledged, 0 lost, recovery without a restart"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_descriptors_left() {
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), "");
    let command = under(&["prlimit", "--nofile=96:96"], folder.path());
    let program = Program::spawn(command, folder.path()).await.unwrap();
    let mut proof = Proof::new(
        4,
        "descriptors",
        "without descriptors those who are connected go on, and others come in when some are free",
    )
    .how("prlimit --nofile=96, connections until none is accepted; then they are closed");
    let mut sender = agent(&program.url, "sender").await;
    let answering = answers_all(listener(&program.url, "near").await);
    let mut feed =
        program.console().watch(&serde_json::from_value(json!({})).unwrap()).await.unwrap();
    feed.next().await.unwrap();
    let mut others = Vec::new();
    // One that is not let in waits in the system's own queue: nobody answers it.
    while let Ok(Ok(socket)) =
        tokio::time::timeout(Duration::from_secs(2), Socket::try_connect(&program.url)).await
    {
        others.push(socket);
    }
    proof.check(
        format!("{} came in, {} descriptors", others.len(), descriptors(program.id())),
        others.len() > 20,
    );
    for n in 0..200 {
        let said = send(&mut sender, "near", n).await;
        proof.check(
            format!("message {n} without descriptors: {said}"),
            said["result"]["success"] == true,
        );
    }
    proof.check(
        "the open console is told",
        tokio::time::timeout(PATIENCE, feed.next()).await.is_ok_and(|told| told.is_ok()),
    );
    let came_in = others.len();
    drop(others);
    eventually("others come in again", async || {
        let trying =
            tokio::time::timeout(Duration::from_secs(2), Socket::try_connect(&program.url)).await;
        trying.ok()?.ok()
    })
    .await;
    proof.check(
        "the console's report says what was wrong",
        report(&program).await.contains("could not accept a connection"),
    );
    proof.check("all are accounted for", unaccounted(&program.totals().await) == 0);
    proof.check("it ends when it is told to", program.terminate().await == 0);
    let seen = answering.await.unwrap().len();
    proof.close(format!("{came_in} connections until none was left, {seen} of 200 messages delivered meanwhile, then all as before"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_becomes_read_only() {
    if !is_root() {
        return;
    }
    let mut proof = Proof::new(4, "read-only", "a folder that cannot be written to is named at the start; one that becomes so refuses messages until it is not")
        .how("a tmpfs mounted read-only at the start; EROFS for each write and sync of a running broker (strace inject), then none");
    let folder = tempfile::tempdir().unwrap();
    let burden = on_a_disk(folder.path(), "ro", "");
    let output = aloud_under(&words(&burden), folder.path()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let named = said.contains("cannot write to") && said.contains("--data-dir");
    proof
        .check(format!("refuses to start and says why: {said}"), !output.status.success() && named);

    write_settings(folder.path(), "");
    let program = Program::start(folder.path()).await;
    let mut sender = agent(&program.url, "sender").await;
    let answering = answers_all(listener(&program.url, "near").await);
    drop(listener(&program.url, "away").await);
    let mut acknowledged = vec![send(&mut sender, "away", 1).await["result"]["messageId"].clone()];
    let pid = program.id().to_string();
    let mut strace = Command::new("strace")
        .args([
            "-f",
            "-p",
            &pid,
            "-e",
            "trace=pwrite64,fdatasync,fsync,ftruncate",
            "-o",
            "/dev/null",
        ])
        .args(["-e", "inject=pwrite64,fdatasync,fsync,ftruncate:error=EROFS"])
        .kill_on_drop(true)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (more, refusal) = until_refused(&mut sender, "away", 100).await;
    acknowledged.extend(more);
    proof.check(
        format!("the sender is told: {refusal}"),
        refusal["error"].to_string().contains("disk"),
    );
    proof.check("the console answers", program.call("status", json!({})).await.is_object());
    proof.check(
        "the console's report says why",
        report(&program).await.contains("could not be written to disk"),
    );
    for n in 0..20 {
        let said = send(&mut sender, "near", n).await;
        proof.check(format!("message {n} is not acknowledged: {said}"), said["error"].is_object());
    }
    proof.check("every screen of the console tells of it", in_trouble(&program).await);
    done("kill", &[&strace.id().unwrap().to_string()]).await.unwrap();
    strace.wait().await.unwrap();
    let said = takes_again(&mut sender, "away", 2).await;
    acknowledged.push(said["result"]["messageId"].clone());
    proof.check(
        "a message is delivered again",
        send(&mut sender, "near", 99).await["result"]["success"] == true,
    );
    eventually("no more of it", async || (!in_trouble(&program).await).then_some(())).await;
    proof.case("nothing is lost", conserved(&program, &acknowledged).await);
    let program = {
        program.kill().await;
        Program::start(folder.path()).await
    };
    proof.case("nor after kill -9", conserved(&program, &acknowledged).await);
    drop(program);
    drop(answering);
    proof.close(format!("{} acknowledged, 0 lost; recovery without a restart", acknowledged.len()));
}

/// Where Debian puts the library that tells a program another time.
fn faketime() -> Option<PathBuf> {
    let found = std::fs::read_dir("/usr/lib").unwrap().filter_map(Result::ok);
    let mut found =
        found.map(|one| one.path().join("faketime/libfaketimeMT.so.1")).filter(|one| one.exists());
    found.next()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps() {
    let Some(library) = faketime() else {
        eprintln!("not run: there is no libfaketime");
        return;
    };
    let mut proof = Proof::new(4, "clock", "a clock that is set on or back delays, loses and doubles nothing")
        .how("libfaketime sets the time of day of a running broker by an hour and a day, on and back; the same across kill -9");
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), "[delivery]\nbackoff_ms = 200\n");
    let clock = folder.path().join("clock");
    let start = async |time: &str| {
        std::fs::write(&clock, time).unwrap();
        let mut command = under(&["env"], folder.path());
        command.env("LD_PRELOAD", &library).env("FAKETIME_TIMESTAMP_FILE", &clock);
        command
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
        Program::spawn(command, folder.path()).await.unwrap()
    };
    let mut program = start("+0").await;
    let mut acknowledged = Vec::new();
    let mut last = String::new();
    for (n, jump) in ["+1h", "+0", "-1h", "+0", "+1d", "+0", "-1d", "+0"].into_iter().enumerate() {
        let n = n as u64;
        let mut sender = agent(&program.url, "sender").await;
        let mut near = listener(&program.url, "near").await;
        // One is to be tried again soon when the clock jumps, one waits for an agent that is away.
        let to_near = json!({ "topic": "agent:near", "payload": { "type": "t", "n": n } });
        let id = sender.ask("sendMessage", to_near).await;
        let delivery = near.delivery().await;
        near.answer(
            &delivery,
            json!({ "processed": false, "should_retry": true, "retry_seconds": 1 }),
        )
        .await;
        acknowledged.push(sender.response_to(&json!(id)).await["result"]["messageId"].clone());
        drop(listener(&program.url, "away").await);
        acknowledged.push(send(&mut sender, "away", n).await["result"]["messageId"].clone());
        std::fs::write(&clock, jump).unwrap();
        if n % 2 == 1 {
            // The same when the broker does not live to see it.
            program.kill().await;
            program = start(jump).await;
            (sender, near) =
                (agent(&program.url, "sender").await, listener(&program.url, "near").await);
        }
        let again = near.process().await;
        proof.check(format!("{jump}: asked again in time"), again["params"]["payload"]["n"] == n);
        let answering = answers_all(near);
        let said = send(&mut sender, "near", 1000 + n).await;
        proof.check(format!("{jump}: a message is delivered"), said["result"]["success"] == true);
        acknowledged.push(said["result"]["messageId"].clone());
        let mut away = listener(&program.url, "away").await;
        proof.check(
            format!("{jump}: what waited arrives"),
            away.process().await["params"]["payload"]["n"] == n,
        );
        let newest = program.call("messages", json!({ "filter": {}, "limit": 1 })).await;
        last = newest["rows"][0]["createdAt"].to_string();
        proof.case(format!("{jump}: nothing is lost"), conserved(&program, &acknowledged).await);
        eventually("all is settled", async || {
            (program.totals().await["waiting"] == 0).then_some(())
        })
        .await;
        drop(answering);
    }
    proof.close(format!("8 jumps, 4 of them with a kill: {} acknowledged, 0 lost, each asked again in time (last at {last})", acknowledged.len()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_sleeps() {
    let mut proof = Proof::new(
        4,
        "sleep",
        "a machine that sleeps longer than any time limit loses nothing and goes on",
    )
    .how("SIGSTOP for three times the delivery timeout with messages on their way, then SIGCONT");
    let folder = tempfile::tempdir().unwrap();
    write_settings(
        folder.path(),
        "[delivery]\ntimeout_ms = 1000\nbackoff_ms = 100\n[limits]\nwrite_ms = 1000\n",
    );
    let program = Program::start(folder.path()).await;
    let mut sender = agent(&program.url, "sender").await;
    let mut near = listener(&program.url, "near").await;
    let mut asked = Vec::new();
    let count = 200;
    for n in 0..count {
        let params = json!({ "topic": "agent:near", "payload": { "type": "t", "n": n } });
        asked.push(sender.ask("sendMessage", params).await);
    }
    let mut deliveries = Vec::new();
    for _ in 0..count {
        deliveries.push(near.delivery().await);
    }
    let pid = program.id().to_string();
    done("kill", &["-STOP", &pid]).await.unwrap();
    // They answer while the broker sleeps.
    for delivery in &deliveries {
        near.answer(delivery, json!({ "processed": true })).await;
    }
    let answering = answers_all(near);
    tokio::time::sleep(Duration::from_secs(3)).await;
    done("kill", &["-CONT", &pid]).await.unwrap();
    let mut acknowledged = Vec::new();
    for id in asked {
        let said = sender.response_to(&json!(id)).await;
        proof.check(
            format!("answered after the sleep: {said}"),
            said["result"]["messageId"].is_string(),
        );
        acknowledged.push(said["result"]["messageId"].clone());
    }
    let totals = eventually("all are settled", async || {
        let totals = program.totals().await;
        (totals["waiting"] == 0).then_some(totals)
    })
    .await;
    proof.check(
        format!("all are processed: {totals}"),
        totals["processed"] == count && totals["dead"] == 0,
    );
    proof.case("nothing is lost", conserved(&program, &acknowledged).await);
    let said = send(&mut sender, "near", 1000).await;
    proof.check("goes on", said["result"]["success"] == true);
    proof.check("it ends when it is told to", program.terminate().await == 0);
    let doubled = answering.await.unwrap().len() - 1;
    proof.close(format!("{count} in flight over a sleep of 3 s, 0 lost, {doubled} asked again"));
}
