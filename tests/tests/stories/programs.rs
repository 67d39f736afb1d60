//! `switchboardd` as a program: how it starts, how it ends, what it says when it cannot.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tempfile::tempdir;

use crate::peer::Peer;
use crate::program::{Program, run_to_end};

#[tokio::test]
async fn it_ends_in_order_when_it_is_told_to() {
    let folder = tempdir().unwrap();
    let program = Program::start(folder.path()).await;
    let mut peer = Peer::connect(&program.url).await;
    peer.initialize("a").await;
    peer.ok("sendMessage", json!({ "topic": "x", "payload": { "type": "t" } })).await;
    assert!(folder.path().join("endpoint.json").exists());
    assert_eq!(program.terminate().await, 0);
    assert!(!folder.path().join("endpoint.json").exists(), "nobody is sent there any more");
}

#[tokio::test]
async fn secrets_are_for_their_owner_only() {
    let folder = tempdir().unwrap();
    let program = Program::start(folder.path()).await;
    for file in ["admin-token", "switchboard.db", "endpoint.json"] {
        let mode = folder.path().join(file).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    program.terminate().await;
}

#[tokio::test]
async fn two_cannot_use_one_folder_and_the_second_says_so() {
    let folder = tempdir().unwrap();
    let program = Program::start(folder.path()).await;
    let path = folder.path().to_str().unwrap();
    let (code, said) = run_to_end(&["--data-dir", path, "--listen", "127.0.0.1:0"]).await;
    assert_eq!(code, 1);
    assert!(said.contains(path), "it names the folder: {said}");
    program.terminate().await;
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let (one, other) = (tempdir().unwrap(), tempdir().unwrap());
    let program = Program::start(one.path()).await;
    let address = program.url.strip_prefix("ws://").unwrap().to_owned();
    let path = other.path().to_str().unwrap();
    let (code, said) = run_to_end(&["--data-dir", path, "--listen", &address]).await;
    assert_eq!(code, 1);
    assert!(said.contains(&address) && said.contains("--listen"), "{said}");
    program.terminate().await;
}

#[tokio::test]
async fn wrong_settings_are_explained_with_exit_code_2() {
    let folder = tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let file = folder.path().join("other.toml");
    std::fs::write(&file, "[limits]\nqueu = 1").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, word) in [
        (vec!["--data-dir", path, "--config", file], "queu"),
        (vec!["--data-dir", path, "--config", "/nowhere.toml"], "/nowhere.toml"),
        (vec!["--data-dir", path, "--listen", "0.0.0.0:0"], "127.0.0.1"),
        (vec!["--data-dir", path, "--listen", "here"], "here"),
        (vec!["--nonsense"], "--nonsense"),
    ] {
        let (code, said) = run_to_end(&arguments).await;
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}
