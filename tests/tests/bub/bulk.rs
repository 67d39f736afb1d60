//! Many letters at once: `replay --all`, `discard --all`, `jobs`, `stop` and `resume`.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::broker::{Broker, document, end, soon, text};

async fn list(broker: &Broker) -> usize {
    broker.json(&["dead-letters", "list"]).await.as_array().unwrap().len()
}

/// The newest job, as soon as it has dealt with a letter.
async fn begun(broker: &Broker) -> Value {
    soon("a job at work", async {
        loop {
            let jobs = broker.json(&["dead-letters", "jobs"]).await;
            if jobs[0]["done"].as_u64().is_some_and(|done| done > 0) {
                return jobs[0].clone();
            }
        }
    })
    .await
}

#[tokio::test]
async fn all_that_match_are_replayed_and_the_others_are_left() {
    let broker = Broker::start().await;
    broker.letters(&["inbound:1", "outbound:1", "inbound:2", "inbound:3"]).await;
    let mut subscriber = broker.subscribe("second:*").await;

    let all = ["dead-letters", "replay", "--all", "--topic", "inbound", "--to-topic", "second:try"];
    let job = broker.json(&all).await;
    assert_eq!(
        (&job["status"], &job["total"], &job["done"]),
        (&json!("done"), &json!(3), &json!(3))
    );
    let mut heard = BTreeSet::new();
    for _ in 0..3 {
        heard.insert(subscriber.next().await["payload"]["n"].to_string());
    }
    assert_eq!(heard.into_iter().collect::<Vec<_>>(), ["1", "3", "4"]);
    assert_eq!(list(&broker).await, 1, "what did not match is still there");
    let told = broker.told(&["dead-letters", "replay", "--all", "--from", "nobody-at-all"]).await;
    assert!(told.contains("0 dead letters sent again"), "{told}");
}

#[tokio::test]
async fn ctrl_c_stops_the_work_and_says_how_it_goes_on_and_nothing_is_sent_twice() {
    const LETTERS: usize = 30;
    let broker = Broker::start().await;
    broker.letters(&["inbound:1"; LETTERS]).await;
    let mut subscriber = broker.subscribe("inbound:*").await;

    let mut replaying = broker
        .bub(&["dead-letters", "replay", "--all", "--rate", "10"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let job = begun(&broker).await["id"].to_string();
    assert_eq!(end(&mut replaying, "-INT").await, 1, "it has not done what it was asked for");
    let mut words = String::new();
    replaying.stderr.take().unwrap().read_to_string(&mut words).await.unwrap();
    assert!(words.contains(&format!("bub dead-letters resume {job}")), "{words}");

    let stopped = broker.json(&["dead-letters", "jobs"]).await;
    assert_eq!(stopped[0]["status"], "stopped");
    let done = stopped[0]["done"].as_u64().unwrap();
    assert!(0 < done && done < LETTERS as u64, "stopped half-way: {stopped}");
    // What was sent last may still be on its way to the disk, which is where the list comes from.
    let left = LETTERS - usize::try_from(done).unwrap();
    soon("the letters that are left", async { while list(&broker).await != left {} }).await;

    let resumed = broker.json(&["dead-letters", "resume", &job]).await;
    assert_eq!((&resumed["status"], &resumed["done"]), (&json!("done"), &json!(LETTERS)));
    assert_eq!(list(&broker).await, 0);
    let mut heard = BTreeSet::new();
    for _ in 0..LETTERS {
        heard.insert(subscriber.next().await["payload"]["n"].as_u64().unwrap());
    }
    assert_eq!(heard.len(), LETTERS, "each was sent again, and each once");
}

#[tokio::test]
async fn work_that_is_left_to_the_broker_can_be_stopped_from_another_shell() {
    let broker = Broker::start().await;
    broker.letters(&["inbound:1"; 20]).await;
    let all = ["dead-letters", "replay", "--all", "--rate", "2", "--detach"];
    let job = broker.json(&all).await;
    assert_eq!((&job["status"], &job["perSecond"]), (&json!("running"), &json!(2)));
    let id = job["id"].to_string();
    begun(&broker).await;
    let told = broker.told(&["dead-letters", "stop", &id]).await;
    assert!(told.contains(&format!("bub dead-letters resume {id}")), "{told}");
    let jobs = broker.told(&["dead-letters", "jobs"]).await;
    assert!(jobs.contains("stopped") && jobs.contains("--rate 2"), "{jobs}");
    assert!(!broker.refused(&["dead-letters", "resume", "4711"]).await.is_empty());
}

#[tokio::test]
async fn all_that_match_are_thrown_away_and_the_undo_is_named() {
    let broker = Broker::start().await;
    broker.letters(&["inbound:1", "outbound:1", "inbound:2"]).await;
    let all = ["dead-letters", "discard", "--all", "--topic", "inbound", "--reason", "a test"];
    let choice = ["--died-of", "nobodySubscribed", "--json"];
    let discarded = broker.run(&[&all[..], &choice].concat()).await;
    let job = document(&discarded);
    assert_eq!((&job["kind"], &job["done"]), (&json!("discard"), &json!(2)));
    let undo = format!("restore --job {}", job["id"]);
    assert!(text(&discarded.stderr).contains(&undo), "{discarded:?}");
    assert_eq!(list(&broker).await, 1);
    broker.told(&["dead-letters", "restore", "--job", &job["id"].to_string()]).await;
    assert_eq!(list(&broker).await, 3);
    let again = ["dead-letters", "restore", "--job", &job["id"].to_string()];
    assert!(broker.refused(&again).await.contains("nothing is left"), "it cannot be undone twice");
}
