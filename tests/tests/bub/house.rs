//! Settings, copies of the database, a restart and diagnostics, at a shell.

use serde_json::json;

use crate::broker::{Broker, bub, code, soon};

const QUIET: &str = "[discovery]\nmdns = false\n";

#[tokio::test]
async fn settings_are_shown_changed_and_reset() {
    let broker = Broker::with(QUIET).await;
    let told = broker.told(&["settings", "set", "delivery.attempts", "5"]).await;
    assert!(told.contains("delivery.attempts is 5 now"), "{told}");
    let told = broker.told(&["settings", "set", "limits.connections", "50"]).await;
    assert!(told.contains("limits.connections is 50 after a restart"), "{told}");
    let told = broker.told(&["settings"]).await;
    let has =
        |words: [&str; 2]| told.lines().any(|line| words.iter().all(|one| line.contains(one)));
    assert!(has(["limits.connections", "50 after a restart"]), "{told}");
    assert!(has(["listen", "fixed by --listen"]), "{told}");
    let words = broker.refused(&["settings", "set", "delivery.attempts", "none"]).await;
    assert!(words.contains("give a whole number, 1 to 1000"), "{words}");
    let words = broker.refused(&["settings", "reset", "delivery.attemps"]).await;
    assert!(words.contains("no setting"), "{words}");

    let reset = broker.json(&["settings", "reset", "delivery.attempts"]).await;
    assert_eq!(reset, json!({"key": "delivery.attempts", "value": 3, "restartNeeded": false}));
    let listed = broker.json(&["settings", "list"]).await;
    assert_eq!(listed["restartNeeded"], true);
    let back = broker.json(&["restart"]).await;
    assert!(back["url"].as_str().unwrap().starts_with("ws://127.0.0.1:"), "{back}");
    assert_eq!(broker.json(&["settings"]).await["restartNeeded"], false);
}

#[tokio::test]
async fn a_copy_is_made_listed_put_back_and_deleted() {
    let broker = Broker::with(QUIET).await;
    let output = broker.told(&["backup"]).await;
    assert!(std::path::Path::new(output.trim()).is_file(), "{output}");
    let listed = broker.json(&["backup", "list"]).await;
    let name = listed[0]["name"].as_str().unwrap();
    assert!(broker.told(&["backup", "list"]).await.contains(name));

    let told = broker.told(&["backup", "restore", output.trim()]).await;
    assert!(told.contains(name) && told.contains("next start"), "{told}");
    let told = broker.told(&["backup", "restore", "--cancel"]).await;
    assert!(told.contains("stays as it is"), "{told}");
    broker.told(&["backup", "restore", name]).await;
    broker.told(&["restart"]).await;
    let listed = broker.json(&["backup", "list"]).await;
    assert!(listed[0]["name"].as_str().unwrap().starts_with("replaced-"), "{listed}");

    broker.told(&["backup", "delete", name]).await;
    let words = broker.refused(&["backup", "delete", name]).await;
    assert!(words.contains("no copy"), "{words}");
    assert!(broker.refused(&["backup", "delete", "../switchboard.db"]).await.contains("no copy"));
}

#[tokio::test]
async fn diagnostics_are_text_for_a_report() {
    let broker = Broker::with(QUIET).await;
    let told = broker.told(&["diagnostics"]).await;
    assert!(told.starts_with("## Program") && told.contains("difference: 0"), "{told}");
    let token = std::fs::read_to_string(broker.data.path().join("admin-token")).unwrap();
    assert!(!told.contains(token.trim()));
    assert!(broker.json(&["diagnostics"]).await["text"].is_string());
    for wrong in [&["settings", "set", "listen"][..], &["backup", "restore"], &["backup", "make"]] {
        let output = soon("bub", bub(wrong).output()).await.unwrap();
        assert_eq!(code(&output), 2, "{wrong:?}");
    }
}
