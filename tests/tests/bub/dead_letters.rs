//! `dead-letters list`, `show`, `replay`, `discard` and `restore`, by ids.

use bub::Answer;
use serde_json::{Value, json};

use crate::broker::{Broker, code, document, soon, text};

fn ids(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_nobody_took_is_listed_with_its_reason_and_its_payload() {
    let broker = Broker::start().await;
    assert_eq!(broker.json(&["dead-letters", "list"]).await, json!([]));
    let dead = broker.letters(&["inbound:1", "outbound:1"]).await;

    let rows = broker.json(&["dead-letters", "list"]).await;
    assert_eq!(ids(&rows), [&*dead[1], &*dead[0]], "newest first");
    let row = &rows[1];
    assert_eq!(row["messageId"], *dead[0]);
    assert_eq!(row["from"], "sender");
    assert_eq!(row["topic"], "inbound:1");
    assert_eq!(row["reason"], "nobodySubscribed");
    assert_eq!(row["attempts"], 0);
    assert_eq!(row["payload"], json!({"type": "note", "n": 1}));
    for name in ["to", "capability", "diedAt"] {
        assert!(row.get(name).is_some(), "{name} is missing in {row}");
    }

    for (choice, expected) in [
        (&["--topic", "inbound"][..], &dead[..1]),
        (&["--text", "outbound"], &dead[1..]),
        (&["--from", "sender", "--limit", "1"], &dead[1..]),
        (&["--from", "somebody-else"], &[]),
        (&["--reason", "timedOut"], &[]),
        (&["--status", "discarded"], &[]),
    ] {
        let rows = broker.json(&[&["dead-letters", "list"], choice].concat()).await;
        assert_eq!(ids(&rows), expected, "{choice:?}");
    }

    let told = broker.told(&["dead-letters", "list"]).await;
    let last = told.lines().last().unwrap();
    assert!(last.contains("nobody subscribed") && last.contains(&dead[1]), "{told}");
    let status = broker.told(&["status"]).await;
    assert!(status.contains("2 letters wait for you"), "{status}");
}

#[tokio::test]
async fn a_letter_is_shown_with_every_attempt_and_what_was_said() {
    let broker = Broker::with("[delivery]\nattempts = 2\nbackoff_ms = 10\n").await;
    let unwilling = broker.agent("unwilling").await;
    unwilling.subscribe("inbound:*", None).await.unwrap();
    let declining = tokio::spawn(async move {
        while let Some(delivery) = unwilling.next_delivery().await {
            delivery
                .answer(Answer { should_retry: true, ..Answer::declined("not now") })
                .await
                .unwrap();
        }
    });
    let (status, result) =
        broker.send("inbound:1", r#"{"type":"x","n":12345678901234567890}"#).await;
    assert_eq!(result["acks"][0]["retryScheduled"], true, "{status} {result}");
    let id = result["messageId"].as_str().unwrap();
    soon("its death", async { while broker.json(&["dead-letters", "list"]).await == json!([]) {} })
        .await;
    declining.abort();

    let shown = broker.run(&["dead-letters", "show", id, "--json"]).await;
    assert!(text(&shown.stdout).contains("12345678901234567890"), "every digit is kept");
    let shown = document(&shown);
    assert_eq!(shown["messageId"], id);
    assert_eq!(shown["reason"], "gaveUp");
    assert_eq!(shown["attempts"], 2);
    let attempts = &shown["deliveries"][0]["attempts"];
    assert_eq!(attempts.as_array().unwrap().len(), 2, "{shown}");
    assert_eq!(attempts[1]["outcome"], "declined");
    assert_eq!(attempts[1]["message"], "not now");

    let told = broker.told(&["dead-letters", "show", id]).await;
    for part in ["every allowed attempt failed", "unwilling", "1. ", "2. ", "declined", "not now"] {
        assert!(told.contains(part), "{part:?} is missing in\n{told}");
    }

    let (_, taken) = {
        let _subscriber = broker.subscribe("outbound:*").await;
        broker.send("outbound:1", r#"{"type":"x"}"#).await
    };
    let refused =
        broker.refused(&["dead-letters", "show", taken["messageId"].as_str().unwrap()]).await;
    assert!(refused.contains("is no dead letter"), "{refused}");
    let unknown = "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f";
    assert!(!broker.refused(&["dead-letters", "show", unknown]).await.is_empty());
}

#[tokio::test]
async fn a_replayed_letter_is_a_new_message_and_the_letter_closes() {
    let broker = Broker::start().await;
    let dead = broker.letters(&["inbound:1", "inbound:2"]).await;
    let mut subscriber = broker.subscribe("inbound:*").await;

    let results = broker.json(&["dead-letters", "replay", &dead[0]]).await;
    assert_eq!(results[0]["replayOf"], *dead[0]);
    assert_eq!(results[0]["state"], "processed");
    let heard = subscriber.next().await;
    assert_eq!(heard["messageId"], results[0]["messageId"]);
    assert_ne!(heard["messageId"], *dead[0], "it is a new message");
    assert_eq!(heard["from"], "sender", "of the same sender");
    assert_eq!(heard["payload"], json!({"type": "note", "n": 1}));

    let shown = broker.json(&["dead-letters", "show", &dead[0]]).await;
    assert_eq!((&shown["status"], &shown["replayedAs"]), (&json!("replayed"), &heard["messageId"]));
    assert_eq!(ids(&broker.json(&["dead-letters", "list"]).await), [&*dead[1]]);

    // One that is refused does not keep the others from being sent.
    let both = broker.run(&["dead-letters", "replay", &dead[0], &dead[1]]).await;
    assert_eq!(code(&both), 1);
    assert!(text(&both.stderr).contains(&format!("{} was refused", dead[0])), "{both:?}");
    assert!(text(&both.stdout).contains(&dead[1]), "{both:?}");
    assert!(text(&both.stdout).contains("processed: listener processed"), "{both:?}");
    assert_eq!(subscriber.next().await["payload"]["n"], 2);
}

#[tokio::test]
async fn a_letter_can_be_replayed_to_another_topic_with_another_payload() {
    let broker = Broker::start().await;
    let dead = broker.letters(&["inbound:1", "inbound:2"]).await;
    let mut subscriber = broker.subscribe("mended:*").await;
    let mended =
        ["--to-topic", "mended:1", "--payload", r#"{"type":"mended","n":12345678901234567890}"#];
    broker.json(&[&["dead-letters", "replay", &dead[0]], &mended[..]].concat()).await;
    let heard = subscriber.next().await;
    assert_eq!(heard["topic"], "mended:1");
    assert_eq!(heard["payload"]["n"].to_string(), "12345678901234567890");

    let meant = broker.run(&["dead-letters", "replay", &dead[1], "--topic", "mended:1"]).await;
    assert_eq!(code(&meant), 2, "--topic chooses letters");
    assert!(text(&meant.stderr).contains("--to-topic"), "{meant:?}");

    let told = broker.told(&["dead-letters", "replay", &dead[1]]).await;
    assert!(told.contains("died again"), "nobody listens there still: {told}");
}

#[tokio::test]
async fn letters_are_thrown_away_with_a_reason_and_taken_back() {
    let broker = Broker::start().await;
    let dead = broker.letters(&["inbound:1", "inbound:2", "inbound:3"]).await;
    let unknown = "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f";

    let some = ["dead-letters", "discard", &dead[0], &dead[0], &dead[1], "--reason", "a test"];
    let told = broker.told(&some).await;
    assert!(told.contains("2 dead letters thrown away"), "{told}");
    let shown = broker.json(&["dead-letters", "show", &dead[0]]).await;
    assert_eq!((&shown["status"], &shown["note"]), (&json!("discarded"), &json!("a test")));
    let totals = broker.json(&["status"]).await["totals"].clone();
    assert_eq!((&totals["dead"], &totals["discarded"]), (&json!(1), &json!(2)));

    let refused =
        broker.refused(&["dead-letters", "discard", unknown, &dead[2], "--reason", "a test"]).await;
    assert!(refused.contains(unknown) && !refused.contains(&*dead[2]), "{refused}");
    assert_eq!(broker.json(&["dead-letters", "list"]).await, json!([]), "the known one is gone");

    broker.told(&["dead-letters", "restore", &dead[2]]).await;
    assert_eq!(ids(&broker.json(&["dead-letters", "list"]).await), [&*dead[2]]);
    let refused = broker.refused(&["dead-letters", "restore", &dead[2]]).await;
    assert!(refused.contains("is no dead letter that is discarded"), "{refused}");

    let jobs = broker.json(&["dead-letters", "jobs"]).await;
    let first = jobs.as_array().unwrap().last().unwrap();
    assert_eq!((&first["kind"], &first["done"]), (&json!("discard"), &json!(2)));
    let job = first["id"].to_string();
    broker.told(&["dead-letters", "restore", "--job", &job]).await;
    let open = broker.json(&["dead-letters", "list"]).await;
    assert_eq!(ids(&open).len(), 3, "the undo of one job takes back what that job threw away");
}
