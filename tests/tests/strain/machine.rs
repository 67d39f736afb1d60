//! A machine that fails the broker: its descriptors, its clock, its sleep. What the broker does then is in docs/FAULTS.md, is
//! seen in the console, and ends by itself when the fault does.

use std::time::Duration;

use bub::Feed;
use serde_json::{Value, json};
use switchboard_tests::broker::unaccounted;
use switchboard_tests::program::Program;
use switchboard_tests::socket::Socket;
use switchboard_tests::{Broker, PATIENCE, Proof, eventually};

use crate::burden::{
    agent, answers_all, conserved, descriptors, done, faketime, listener, report, send,
    sweep_up_after, under, write_settings,
};

/// Waits until an open console tells of a trouble with these words that is not over, or is.
async fn is_told(feed: &mut Feed, words: &str, over: bool) -> bool {
    let telling = async {
        loop {
            let told = feed.next().await.unwrap();
            let troubles = told["status"]["troubles"].as_array().cloned().unwrap_or_default();
            let said = |one: &Value| one["words"].as_str().unwrap().contains(words);
            if troubles.iter().any(|one| said(one) && one["over"].is_null() != over) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, telling).await.is_ok()
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
        "every screen of the open console tells of it",
        is_told(&mut feed, "Nobody new can connect", false).await,
    );
    let came_in = others.len();
    drop(others);
    proof.check("and that it is over", is_told(&mut feed, "Nobody new can connect", true).await);
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
            let pid = program.id();
            program.kill().await;
            sweep_up_after(pid);
            program = start(jump).await;
            (sender, near) =
                (agent(&program.url, "sender").await, listener(&program.url, "near").await);
        }
        let again = near.process().await;
        if n.is_multiple_of(2) {
            proof.check(
                format!("{jump}: the console's report says by how much"),
                report(&program).await.contains("the clock of this machine was set"),
            );
        }
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
    .how("SIGSTOP for three times the delivery timeout with messages on their way, half of them answered meanwhile; then SIGCONT");
    let folder = tempfile::tempdir().unwrap();
    write_settings(
        folder.path(),
        "[delivery]\ntimeout_ms = 2000\nbackoff_ms = 100\n[limits]\nwrite_ms = 2000\n",
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
    // Half of them are answered while the broker sleeps, the others not before they are asked again.
    for delivery in &deliveries[..count / 2] {
        near.answer(delivery, json!({ "processed": true })).await;
    }
    let answering = answers_all(near);
    tokio::time::sleep(Duration::from_secs(6)).await;
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
    for id in &acknowledged[count / 2..] {
        let shown = program.call("message", json!({ "id": id })).await;
        let attempts = &shown["deliveries"][0]["attempts"];
        proof.check(
            format!("the console shows what became of it: {attempts}"),
            attempts[0]["outcome"] == "timedOut" && attempts[1]["outcome"] == "processed",
        );
    }
    let said = send(&mut sender, "near", 1000).await;
    proof.check("goes on", said["result"]["success"] == true);
    proof.check("it ends when it is told to", program.terminate().await == 0);
    let doubled = answering.await.unwrap().len() - 1;
    proof.close(format!("{count} in flight over a sleep of 6 s, 0 lost, {doubled} asked again"));
}
