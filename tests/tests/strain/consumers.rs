//! Agents that do not read, that are slow, that are cut off without a word, or that are reached over a bad line: their
//! messages are kept, and the others do not suffer.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use switchboard_tests::broker::unaccounted;
use switchboard_tests::peer::Peer;
use switchboard_tests::program::Program;
use switchboard_tests::proof::cases;
use switchboard_tests::{Broker, Proof, eventually};

use crate::burden::{
    agent, answers_all, at_rest, is_root, listener, mb, median, round_trips, send, under,
    write_settings,
};
use crate::cable::Cable;

/// What each message carries, and how many of them an agent that does not read holds at first: more than are kept in
/// memory.
const BYTES: usize = 4_000;
const FIRST: u64 = 3_000;
/// The broker's allocator keeps what it may soon need again, for as long as nothing happens: that is not what is
/// promised, and would hide it.
const LETS_GO: [&str; 2] = ["env", "MIMALLOC_PURGE_DELAY=0"];
/// What the broker may grow by.
const GROWTH: u64 = 16 << 20;
/// The promise is twice; a machine that others use, too, needs more room than that. The ratio is printed.
const MOST: f64 = 5.0;

/// How much longer the middle one took during the trouble than before or after it, as a ratio. Whatever else the machine
/// does changes meanwhile; so the slower of the two is what it is compared with.
fn ratio(before: Vec<Duration>, during: Vec<Duration>, after: Vec<Duration>) -> f64 {
    median(during).as_secs_f64() / median(before).max(median(after)).as_secs_f64()
}

/// Sends without waiting for answers.
async fn flood(sender: &mut Peer, to: &str, from: u64, up_to: u64, bytes: usize) {
    let filling = "x".repeat(bytes);
    for n in from..up_to {
        let payload = json!({ "type": "t", "n": n, "filling": filling });
        sender
            .ask("sendMessage", json!({ "topic": format!("agent:{to}"), "payload": payload }))
            .await;
    }
}

/// Waits until so many are accepted in all.
async fn accepted(program: &Program, count: u64) {
    eventually("all are accepted", async || {
        (program.totals().await["accepted"].as_u64() >= Some(count)).then_some(())
    })
    .await;
}

/// Takes deliveries until each of the numbers was there; returns how many came twice.
async fn takes_all(peer: &mut Peer, count: u64) -> u64 {
    let (mut seen, mut doubled) = (HashSet::new(), 0);
    while (seen.len() as u64) < count {
        let n = peer.process().await["params"]["payload"]["n"].as_u64().unwrap();
        doubled += u64::from(!seen.insert(n));
    }
    doubled
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_stuck_consumers() {
    // As much as may wait for one of them, but for a little.
    let (stuck, each, rounds) = (1, cases(5_000, 9_000), cases(200, 2_000));
    let mut proof = Proof::new(5, "stuck-consumers", "slow and stuck consumers slow nobody else down, cost little memory, and get everything when they are back")
        .how(format!("{stuck} agents that never read with {each} messages of 4 KB each, one that takes 20 ms for each; {rounds} round trips of others before and meanwhile"));
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), "[limits]\nwrite_ms = 120000\n[delivery]\ntimeout_ms = 120000\n");
    let program = Program::spawn(under(&LETS_GO, folder.path()), folder.path()).await.unwrap();
    let answering = answers_all(listener(&program.url, "near").await);
    let (mut sender, mut publisher) =
        (agent(&program.url, "sender").await, agent(&program.url, "publisher").await);
    round_trips(&mut sender, "near", rounds).await;
    let before = round_trips(&mut sender, "near", rounds).await;
    // Each of them holds as much as it may, and what is kept in memory for speed is full. Each has a publisher of its own:
    // one that has very much unanswered is not listened to meanwhile.
    let (mut sleepers, mut publishers) = (Vec::new(), Vec::new());
    for n in 0..stuck {
        let to = format!("stuck-{n}");
        sleepers.push(listener(&program.url, &to).await);
        let mut publisher = agent(&program.url, &format!("publisher-{n}")).await;
        flood(&mut publisher, &to, 0, FIRST, BYTES).await;
        accepted(&program, 2 * rounds + (n + 1) * FIRST).await;
        publishers.push((publisher, to));
    }
    let memory = at_rest(program.id()).await;
    for (n, (publisher, to)) in (1..).zip(&mut publishers) {
        flood(publisher, to, FIRST, each, BYTES).await;
        accepted(&program, 2 * rounds + stuck * FIRST + n * (each - FIRST)).await;
    }
    let mut slow = listener(&program.url, "slow").await;
    let slowly = tokio::spawn(async move {
        for _ in 0..100 {
            let delivery = slow.delivery().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            slow.answer(&delivery, json!({ "processed": true })).await;
        }
    });
    flood(&mut publisher, "slow", 0, 100, BYTES).await;
    accepted(&program, 2 * rounds + stuck * each + 100).await;
    let during = round_trips(&mut sender, "near", rounds).await;
    let grown = at_rest(program.id()).await.saturating_sub(memory);
    proof.check(format!("{} MB grown", mb(grown)), grown < GROWTH);
    // They end without a word, and come back.
    sleepers.into_iter().for_each(Peer::vanish);
    let mut doubled = 0;
    for n in 0..stuck {
        let mut back = listener(&program.url, &format!("stuck-{n}")).await;
        doubled += takes_all(&mut back, each).await;
        proof.pass();
    }
    slowly.await.unwrap();
    let totals = eventually("all are settled", async || {
        let totals = program.totals().await;
        (totals["waiting"] == 0).then_some(totals)
    })
    .await;
    let times = ratio(before, during, round_trips(&mut sender, "near", rounds).await);
    proof.check(format!("others take {times:.2} times as long"), times < MOST);
    proof.check(format!("none died: {totals}"), totals["dead"] == 0 && unaccounted(&totals) == 0);
    drop(answering);
    proof.close(format!(
        "others' median round trip × {times:.2}; {} MB grown while {} MB more came for {stuck} that do not read; all {} redelivered, {doubled} twice",
        mb(grown),
        mb(stuck * (each - FIRST) * BYTES as u64),
        stuck * each
    ));
}

#[tokio::test]
async fn a_peer_that_is_cut_off_without_a_word() {
    if !is_root() {
        return;
    }
    // Few enough that the system takes all of them at once: a write that waits would tell.
    let (count, rounds) = (20, cases(200, 2_000));
    let mut proof = Proof::new(5, "half-open", "messages for a peer that is cut off without a word are kept, and arrive when it is back")
        .how(format!("{count} messages to a peer in another network namespace whose cable loses every frame; {rounds} round trips of others before and meanwhile"));
    let folder = tempfile::tempdir().unwrap();
    write_settings(
        folder.path(),
        "[limits]\nwrite_ms = 400\n[delivery]\ntimeout_ms = 2000\nbackoff_ms = 200\n",
    );
    let mut cable = Cable::plug_in().await;
    let program = Program::spawn(under(&LETS_GO, folder.path()), folder.path()).await.unwrap();
    let mut far = Peer::over(cable.dial(program.address()).await, &program.url).await;
    far.initialize("far").await;
    far.subscribe("agent:far").await;
    let answering = answers_all(listener(&program.url, "near").await);
    let (mut sender, mut publisher) =
        (agent(&program.url, "sender").await, agent(&program.url, "publisher").await);
    let before = round_trips(&mut sender, "near", rounds).await;
    let memory = at_rest(program.id()).await;
    cable.loses(1.0).await;
    flood(&mut publisher, "far", 0, count, 200).await;
    let during = round_trips(&mut sender, "near", rounds).await;
    let away = eventually("the broker finds out", async || {
        let agents = program.call("agents", json!({})).await;
        let all = agents["agents"].as_array().unwrap().iter();
        all.clone().find(|one| one["id"] == "far" && one["status"] == "unavailable").cloned()
    })
    .await;
    proof.check(format!("the console shows it as away: {away}"), away["status"] == "unavailable");
    let grown = at_rest(program.id()).await.saturating_sub(memory);
    let totals = program.totals().await;
    proof.check(
        format!("none died meanwhile: {totals}"),
        totals["dead"] == 0 && totals["waiting"] == count,
    );
    proof.check(format!("{} MB grown", mb(grown)), grown < GROWTH);
    cable.loses(0.0).await;
    let mut back = Peer::over(cable.dial(program.address()).await, &program.url).await;
    back.initialize("far").await;
    back.subscribe("agent:far").await;
    takes_all(&mut back, count).await;
    let totals = eventually("all are settled", async || {
        let totals = program.totals().await;
        (totals["waiting"] == 0).then_some(totals)
    })
    .await;
    proof.check(format!("all arrived: {totals}"), totals["dead"] == 0 && unaccounted(&totals) == 0);
    let times = ratio(before, during, round_trips(&mut sender, "near", rounds).await);
    proof.check(format!("others take {times:.2} times as long"), times < MOST);
    drop((answering, far));
    proof.close(format!("{count} of {count} kept and redelivered; others' median round trip × {times:.2}, {} MB grown", mb(grown)));
}

#[tokio::test]
async fn a_line_that_loses_packets() {
    if !is_root() {
        return;
    }
    let (count, rounds) = (cases(300, 3_000), cases(200, 2_000));
    let mut proof = Proof::new(5, "packet-loss", "what goes over a line that loses packets arrives, and others do not suffer")
        .how(format!("{count} messages to a peer in another network namespace whose cable loses 5 % of all frames, chosen by chance; {rounds} round trips of others"));
    let folder = tempfile::tempdir().unwrap();
    write_settings(folder.path(), "");
    let mut cable = Cable::plug_in().await;
    let program = Program::spawn(under(&LETS_GO, folder.path()), folder.path()).await.unwrap();
    let mut far = Peer::over(cable.dial(program.address()).await, &program.url).await;
    far.initialize("far").await;
    far.subscribe("agent:far").await;
    let answering = answers_all(listener(&program.url, "near").await);
    let (mut sender, mut publisher) =
        (agent(&program.url, "sender").await, agent(&program.url, "publisher").await);
    let far = answers_all(far);
    // The same over a good line first: what is kept in memory for speed is full then.
    flood(&mut publisher, "far", 0, count, 2_000).await;
    accepted(&program, count).await;
    let before = round_trips(&mut sender, "near", rounds).await;
    let memory = at_rest(program.id()).await;
    cable.loses(0.05).await;
    flood(&mut publisher, "far", count, 2 * count, 2_000).await;
    let during = round_trips(&mut sender, "near", rounds).await;
    let totals = eventually("all are settled", async || {
        let totals = program.totals().await;
        (totals["waiting"] == 0 && totals["accepted"] == 2 * count + 2 * rounds).then_some(totals)
    })
    .await;
    let grown = at_rest(program.id()).await.saturating_sub(memory);
    proof.check(format!("all arrived: {totals}"), totals["dead"] == 0 && unaccounted(&totals) == 0);
    proof.check(format!("{} MB grown", mb(grown)), grown < GROWTH);
    let said = send(&mut sender, "far", 2 * count).await;
    proof.check(format!("it still answers: {said}"), said["result"]["success"] == true);
    cable.loses(0.0).await;
    let times = ratio(before, during, round_trips(&mut sender, "near", rounds).await);
    proof.check(format!("others take {times:.2} times as long"), times < MOST);
    proof.check("it ends when it is told to", program.terminate().await == 0);
    let mut seen = far.await.unwrap();
    let arrived = seen.len() as u64 - 1;
    seen.sort_unstable();
    seen.dedup();
    proof.check(
        format!("{arrived} arrived, {} of them once", seen.len()),
        seen.len() as u64 == 2 * count + 1,
    );
    drop(answering);
    proof.close(format!("{count} of {count} arrived over a line with 5 % loss, {} of them twice; others' median round trip × {times:.2}, {} MB grown", arrived - 2 * count, mb(grown)));
}
