//! Wrong usage, missing brokers, and readers that leave.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncReadExt;

use crate::broker::{bub, code, document, soon, text};

#[tokio::test]
async fn wrong_usage_is_2_and_a_missing_broker_is_1_with_advice() {
    let nowhere = Path::new("/nonexistent/switchboard").to_str().unwrap();
    let id = "0192f0c1-8f5e-7cc3-98c4-dc0c0c07398f";
    let usage: [&[&str]; 20] = [
        &["dance"],
        &["send-message", "--topic", "a", "--payload", "{"],
        &["send-message", "--payload", "{}"],
        &["send-message", "--topic", "a", "--payload", "@/nonexistent.json"],
        &["send-message", "--topic", "a", "--payload", "{}", "--priority", "5"],
        &["send-message", "--topic", "a", "--payload", "{}", "--ttl", "soon"],
        &["messages", "--state", "lost"],
        &["dead-letters"],
        &["dead-letters", "show", "0192f0c1"],
        &["dead-letters", "discard", id, "--reason", " "],
        &["dead-letters", "replay", id, "--all"],
        &["dead-letters", "list", "--reason", "boredom"],
        &["route"],
        &["rules"],
        &["rules", "allow", "a", "b"],
        &["rules", "deny", "", "b", "c"],
        &["rules", "preview"],
        &["rules", "preview", "--allow", "a", "b", "c", "--deny", "a", "b", "c"],
        &["token", "issue", "a", "--ceiling", "HIGHEST"],
        &["token", "jwt"],
    ];
    for args in usage {
        let output = soon("bub", bub(args).output()).await.unwrap();
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?} says what is wrong");
    }
    let output = soon("bub", bub(&["send-message", "--payload", "{}"]).output()).await.unwrap();
    let words = text(&output.stderr);
    assert!(words.contains("--topic") && words.contains("BUB_DEFAULT_TOPIC"), "{words}");

    let send = ["send-message", "--topic", "a", "--payload", "{}", "--url", "ws://127.0.0.1:1"];
    let output = soon("bub", bub(&send).output()).await.unwrap();
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("start Switchboard"), "{}", text(&output.stderr));
    assert_eq!(document(&output)["success"], false, "programs read stdout whatever happens");

    let output = soon("bub", bub(&["status", "--data-dir", nowhere]).output()).await.unwrap();
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains(nowhere), "{}", text(&output.stderr));
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut printing = bub(&["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(printing.stdout.take());
    let ended = soon("the end", printing.wait()).await.unwrap();
    let mut words = String::new();
    printing.stderr.take().unwrap().read_to_string(&mut words).await.unwrap();
    assert_eq!((ended.code(), words.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn manual_and_completions_know_every_command() {
    for args in [&["man"][..], &["completions", "bash"]] {
        let printed = soon("bub", bub(args).output()).await.unwrap();
        assert_eq!(code(&printed), 0);
        // The manual writes a hyphen with a backslash before it.
        let printed = text(&printed.stdout).replace('\\', "");
        let known = ["send-message", "dead-letters", "replay", "route", "restore", "rules"];
        for command in [&known[..], &["preview", "suggest", "revoke", "jwt"]].concat() {
            assert!(printed.contains(command), "{args:?} does not know {command}");
        }
    }
}
