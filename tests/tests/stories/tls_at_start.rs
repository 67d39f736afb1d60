//! What is needed before the program listens, and what it says when that is missing.

use std::net::UdpSocket;
use std::path::Path;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use switchboard_certs::{Authority, Issued};
use tempfile::{TempDir, tempdir};

use crate::program::{Program, run_to_end};
use crate::secured::{CLIENTS, TLS, python};

fn folder(settings: &str) -> TempDir {
    let folder = tempdir().unwrap();
    let authority = Authority::open_or_make(&folder.path().join("tls")).unwrap();
    authority.issue_server(&[], 30).unwrap();
    let text = format!("{settings}\n[discovery]\nmdns = false\n");
    std::fs::write(folder.path().join("switchboard.toml"), text).unwrap();
    folder
}

async fn refused(folder: &Path, listen: &str) -> String {
    let path = folder.to_str().unwrap();
    let (code, said) = run_to_end(&["--data-dir", path, "--listen", listen]).await;
    assert_eq!(code, 2, "{said}");
    said
}

#[tokio::test]
async fn other_machines_can_reach_it_only_with_tls_and_tokens() {
    let said = refused(folder("").path(), "0.0.0.0:0").await;
    assert!(said.contains("bub tls make") && said.contains("require_token"), "{said}");
    let said = refused(folder(TLS).path(), "[::]:0").await;
    assert!(!said.contains("bub tls make") && said.contains("require_token"), "{said}");
    let said = refused(folder("[bus]\nrequire_token = true").path(), "192.0.2.1:0").await;
    assert!(said.contains("bub tls make") && !said.contains("require_token"), "{said}");
}

#[tokio::test]
async fn on_all_addresses_each_is_a_name_of_it_and_figures_are_for_the_operator() {
    let folder = folder(&format!("{TLS}[bus]\nrequire_token = true"));
    let program = Program::listening(folder.path(), "0.0.0.0:0").await;
    let address = program.url.strip_prefix("wss://127.0.0.1:").expect("one can connect there");
    // The address of this machine that others would use. Nothing is sent.
    let outward = UdpSocket::bind("0.0.0.0:0").unwrap();
    let outward = outward.connect("192.0.2.1:9").and_then(|()| outward.local_addr());
    let here = format!("127.0.0.1:{address}");
    let ca = folder.path().join("tls/ca.pem");
    let ask = async |address: &str, path: &str, headers: &[&str]| {
        let words = [&[address, path, ca.to_str().unwrap(), "-", "-"], headers].concat();
        python(&words).await
    };
    assert!(ask(&here, "/metrics", &[]).await.starts_with("200"));
    let Ok(outward) = outward.map(|outward| format!("{}:{address}", outward.ip())) else {
        return; // A machine without a network has no such address.
    };
    assert!(ask(&outward, "/healthz", &[]).await.starts_with("200"));
    assert!(ask(&outward, "/healthz", &["Host", "evil.example"]).await.starts_with("403"));
    let answer = ask(&outward, "/metrics", &[]).await;
    assert!(answer.starts_with("401") && answer.contains("admin-token"), "{answer}");
    let token = std::fs::read_to_string(folder.path().join("admin-token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    assert!(ask(&outward, "/metrics", &["Authorization", &bearer]).await.starts_with("200"));
    assert_eq!(program.terminate().await, 0);
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_with_exit_code_2() {
    for (settings, words) in [
        ("[tls]\ncert = 'tls/server.pem'", ["tls.key", "tls.cert"]),
        (
            "[tls]\ncert = 'tls/nowhere.pem'\nkey = 'tls/server-key.pem'",
            ["nowhere.pem", "cannot read"],
        ),
        (
            "[tls]\ncert = 'tls/server.pem'\nkey = 'tls/ca-key.pem'",
            ["ca-key.pem", "does not belong"],
        ),
        ("[tls]\ncert = 'tls/server.pem'\nkey = 'tls/ca.pem'", ["ca.pem", "no private key"]),
        ("[tls]\nca = 'x'", ["ca", "unknown field"]),
    ] {
        let said = refused(folder(settings).path(), "127.0.0.1:0").await;
        assert!(words.iter().all(|word| said.contains(word)), "{settings}: {said}");
    }
    let broken = folder(&format!("{TLS}{CLIENTS}"));
    std::fs::write(broken.path().join("tls/crl.pem"), "nothing").unwrap();
    let said = refused(broken.path(), "127.0.0.1:0").await;
    assert!(said.contains("crl.pem"), "{said}");
}

#[tokio::test]
async fn an_expired_certificate_is_no_reason_not_to_start() {
    let folder = folder(TLS);
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.not_after = date_time_ymd(2020, 1, 1);
    let key = KeyPair::generate().unwrap();
    let at = |name: &str| folder.path().join("tls").join(name);
    std::fs::write(at("server.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(at("server-key.pem"), key.serialize_pem()).unwrap();
    let mut program = Program::listening(folder.path(), "127.0.0.1:0").await;
    assert!(program.url.starts_with("wss://"));
    program.says("has expired").await;
    let console = bub::Console::open(folder.path()).unwrap();
    let agents: Value = console.call("agents", json!({})).await.unwrap();
    assert!(agents["agents"].is_array(), "who can read the folder knows the certificate itself");
    assert_eq!(program.terminate().await, 0);
}

#[tokio::test]
async fn a_broken_revocation_list_leaves_the_old_one_in_force() {
    let folder = folder(&format!("{TLS}{CLIENTS}"));
    let authority = Authority::open(&folder.path().join("tls")).unwrap();
    let [alice, bob] = ["alice", "bob"].map(|name| authority.issue_client(name, 30).unwrap());
    authority.revoke(&alice.serial).unwrap();
    let mut program = Program::start(folder.path()).await;
    let address = program.url.strip_prefix("wss://").unwrap().to_owned();
    let ca = authority.dir().join("ca.pem").display().to_string();
    let asks = async |issued: &Issued| {
        let file = |name: &Option<String>| {
            authority.dir().join(name.as_deref().unwrap()).display().to_string()
        };
        let (cert, key) = (file(&issued.file), file(&issued.key_file));
        python(&[&address, "/healthz", &ca, &cert, &key]).await
    };
    let crl = authority.dir().join("crl.pem");
    let good = std::fs::read(&crl).unwrap();
    for broken in [&good[..good.len() / 2], b"", b"nothing"] {
        std::fs::write(&crl, broken).unwrap();
        program.says("cannot be used").await;
        assert!(asks(&alice).await.starts_with("refused"), "still revoked");
        assert!(asks(&bob).await.starts_with("200"), "still let in");
        std::fs::write(&crl, &good).unwrap();
        program.says("in force").await;
    }
    assert_eq!(program.terminate().await, 0);
}
