//! Certificates made at a shell, and `bub` over TLS.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::broker::{Broker, bub, code, document, soon, text};

const SETTINGS: &str = "[tls]\ncert = 'tls/server.pem'\nkey = 'tls/server-key.pem'\n";
const CLIENTS: &str = "client_ca = 'tls/ca.pem'\ncrl = 'tls/crl.pem'\n";

async fn tls(data: &Path, args: &[&str]) -> Value {
    let mut command = bub(&[&["tls"], args, &["--json"]].concat());
    let output = soon("bub", command.arg("--data-dir").arg(data).output()).await.unwrap();
    assert_eq!(code(&output), 0, "{args:?}: {}", text(&output.stderr));
    document(&output)
}

#[tokio::test]
async fn certificates_are_made_listed_and_revoked_without_a_broker() {
    let data = tempfile::tempdir().unwrap();
    let refused = bub(&["tls", "client", "alice", "--data-dir"]).arg(data.path()).output();
    let refused = refused.await.unwrap();
    assert_eq!(code(&refused), 1);
    assert!(text(&refused.stderr).contains("bub tls make"), "{}", text(&refused.stderr));

    let made = tls(data.path(), &["make", "--name", "box.example.org", "--days", "30"]).await;
    assert_eq!(
        made["settings"],
        "[tls]\ncert = \"tls/server.pem\"\nkey = \"tls/server-key.pem\"\n"
    );
    let names: Vec<_> = made["names"].as_array().unwrap().iter().collect();
    for name in ["localhost", "127.0.0.1", "::1", "box.example.org"] {
        assert!(names.iter().any(|one| *one == name), "{name}: {names:?}");
    }
    let alice = tls(data.path(), &["client", "alice"]).await;
    let bob = tls(data.path(), &["client", "bob"]).await;
    let listed = tls(data.path(), &["list"]).await;
    let kinds: Vec<_> = listed.as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["client", "client", "server", "authority"]);
    tls(data.path(), &["revoke", alice["file"].as_str().unwrap()]).await;
    tls(data.path(), &["revoke", bob["serial"].as_str().unwrap()]).await;
    let listed = tls(data.path(), &["list"]).await;
    let revoked = listed.as_array().unwrap().iter().filter(|one| one["revokedAt"].is_string());
    assert_eq!(revoked.count(), 2);

    for wrong in [&["tls", "revoke", "beef"][..], &["tls", "revoke", "/etc/hostname"]] {
        let output = bub(wrong).arg("--data-dir").arg(data.path()).output().await.unwrap();
        assert_eq!(code(&output), 1, "{wrong:?}: {}", text(&output.stderr));
    }
    let output = bub(&["tls", "client", "../x", "--data-dir"]).arg(data.path()).output();
    assert_eq!(code(&output.await.unwrap()), 2);
}

#[tokio::test]
async fn keys_are_for_their_owner_whatever_the_umask() {
    let data = tempfile::tempdir().unwrap();
    let program = bub(&[]).as_std().get_program().to_owned();
    let line = format!(
        "umask 000; {bub} tls make --data-dir . && {bub} tls client a --data-dir .",
        bub = program.to_str().unwrap()
    );
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", &line]).current_dir(data.path()).kill_on_drop(true);
    let output = soon("bub", shell.output()).await.unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in ["ca-key.pem", "server-key.pem", "clients/a-key.pem", "issued.json"] {
        let path = data.path().join("tls").join(name);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn bub_speaks_tls_and_says_what_it_lacks() {
    let data = tempfile::tempdir().unwrap();
    tls(data.path(), &["make"]).await;
    let alice = tls(data.path(), &["client", "alice"]).await;
    let file = |key: &str| alice[key].as_str().unwrap().to_owned();
    let (cert, key, ca) = (file("file"), file("keyFile"), file("ca"));
    let broker = Broker::in_folder(data, &format!("{SETTINGS}{CLIENTS}")).await;
    let said = broker.refused(&["status"]).await;
    assert!(said.contains("--cert"), "{said}");
    let shown = ["--cert", &cert, "--key", &key];
    let status = broker.json(&[&["status"], &shown[..]].concat()).await;
    let url = status["url"].as_str().unwrap();
    assert!(url.starts_with("wss://127.0.0.1:"), "{url}");
    broker.json(&[&["rules", "list"], &shown[..]].concat()).await;

    // From elsewhere: an address, whom to trust and who to be.
    let send = ["send-message", "--topic", "x", "--payload", r#"{"type":"note"}"#];
    let from_elsewhere = |url: &str, ca: &str| {
        let mut command = bub(&send);
        command.env("BUB_BUS_URL", url).env("BUB_CA", ca);
        command.env("BUB_CERT", &cert).env("BUB_KEY", &key).args(["--data-dir", "/nowhere"]);
        command
    };
    let sent = from_elsewhere(url, &ca).output().await.unwrap();
    assert_eq!(document(&sent)["accepted"], true, "{}", text(&sent.stderr));
    let https = url.replace("wss://127.0.0.1", "https://localhost");
    let sent = from_elsewhere(&https, &ca).output().await.unwrap();
    assert_eq!(document(&sent)["accepted"], true, "{}", text(&sent.stderr));
    let plain = url.replace("wss://", "ws://");
    for (url, ca, words) in [
        (url, "", "--ca"),
        (url, cert.as_str(), "not by an authority that is trusted"),
        (url, "/nowhere.pem", "/nowhere.pem"),
        (plain.as_str(), ca.as_str(), "use https:// or wss://"),
    ] {
        let output = from_elsewhere(url, ca).output().await.unwrap();
        assert_eq!(code(&output), 1);
        assert!(text(&output.stderr).contains(words), "{words}: {}", text(&output.stderr));
    }
}
