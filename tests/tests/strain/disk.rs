//! A disk that fails the broker: full, or suddenly read-only. What the broker does then is in docs/FAULTS.md, is seen in the
//! console, and ends by itself when the fault does.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard_tests::peer::Peer;
use switchboard_tests::program::Program;
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};
use tokio::process::Command;

use crate::burden::{
    agent, aloud_under, answers_all, conserved, done, in_trouble, is_root, listener, report, send,
    takes_again, under, write_settings,
};

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
