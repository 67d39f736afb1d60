//! Line 17: secrets are where they belong and nowhere else, and what the broker writes is its owner's, whatever the umask.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_tests::collab_agent::CollabAgent;
use switchboard_tests::mail_agent::{MailAgent, request};
use switchboard_tests::peer::Peer;
use switchboard_tests::program::{Program, path_of};
use switchboard_tests::socket::Socket;
use switchboard_tests::{Broker, PATIENCE, Proof};
use tokio::process::Command;

/// Files in the data folder that hold secrets, and must.
const KEEPERS: [&str; 8] = [
    "admin-token",
    "jwt-key",
    "jwt-key.before",
    "identity-key.pem",
    "tls/ca-key.pem",
    "tls/server-key.pem",
    "tls/clients/",
    "tls/issued.json",
];
/// Files that are for everyone: certificates, which hold no secret.
const PUBLIC: [&str; 4] = ["tls/ca.pem", "tls/server.pem", "tls/crl.pem", "tls/clients/"];

/// The broker with a umask that would let everyone read everything, and a log in which it says all that it can.
async fn open(home: &Path, level: &str) -> Program {
    let data = home.join("data");
    let log = home.join("log");
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(r#"umask 000; exec "$0" --data-dir "$1" --listen 127.0.0.1:0 --demo 2>>"$2""#)
        .args([path_of("switchboardd"), data.clone(), log])
        .env("RUST_LOG", level)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Program::spawn(command, &data).await.unwrap()
}

/// Everything that was ever secret, and by what name.
#[derive(Default)]
struct Secrets(BTreeMap<String, String>);

impl Secrets {
    fn add(&mut self, name: &str, secret: &str) {
        assert!(secret.len() >= 20, "{name} is no secret: {secret:?}");
        self.0.insert(secret.to_owned(), name.to_owned());
    }

    /// A token, and its bits where it is written in hexadecimal digits.
    fn add_token(&mut self, name: &str, answer: &Value) -> String {
        let token =
            answer["token"].as_str().unwrap_or_else(|| panic!("{name}: {answer}")).to_owned();
        self.add(name, &token);
        token
    }

    /// Keys are found by a line in the middle of them.
    fn add_files(&mut self, data: &Path) {
        for path in files(data) {
            let name = name_of(data, &path);
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let Some(key) = text.split("PRIVATE KEY-----").nth(1) {
                self.add(&name, key.lines().filter(|line| line.len() > 20).nth(1).unwrap());
            }
            if ["admin-token", "jwt-key", "jwt-key.before"].contains(&name.as_str()) {
                self.add(&name, text.trim());
            }
        }
    }

    /// Those that are in these bytes: as they are, or as bits.
    fn within(&self, bytes: &[u8]) -> Vec<&str> {
        let is_in = |secret: &str| {
            let bits = hex(secret).filter(|bits| bits.len() >= 16);
            contains(bytes, secret.as_bytes()) || bits.is_some_and(|bits| contains(bytes, &bits))
        };
        self.0.iter().filter(|(secret, _)| is_in(secret)).map(|(_, name)| name.as_str()).collect()
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let first = wanted[0];
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        if rest[at..].starts_with(wanted) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        }
        all.push(path);
    }
    all
}

fn name_of(data: &Path, path: &Path) -> String {
    path.strip_prefix(data).unwrap().to_str().unwrap().to_owned()
}

/// Tokens of every kind are made, used at every door, used wrongly, replaced and revoked; keys are made and changed.
async fn a_full_run(broker: &Program, secrets: &mut Secrets) {
    let call = async |method: &str, params: Value| broker.call(method, params).await;
    for kind in ["used", "replaced", "revoked"] {
        let id = format!("{kind}-agent");
        let mut token = secrets.add_token(kind, &call("issueToken", json!({ "agent": id })).await);
        if kind == "replaced" {
            token = secrets
                .add_token("its replacement", &call("issueToken", json!({ "agent": id })).await);
        }
        let agent = MailAgent::with(broker.address(), &id, &token);
        agent.send("used-agent", "notification", json!({ "action": "hello" }), None).await;
        agent.mail("").await;
        let info = json!({ "name": "x", "version": "0.2.0" });
        let hello = json!({ "clientId": id, "clientInfo": info, "authToken": token });
        let mut peer = Peer::connect(broker.url()).await;
        peer.ok("initialize", hello.clone()).await;
        peer.ok("sendMessage", json!({ "topic": "nobody:x", "payload": { "type": "t" } })).await;
        // The right token for another name, and a wrong one.
        let mut thief = Peer::connect(broker.url()).await;
        let stolen = json!({ "clientId": "thief-agent", "clientInfo": info, "authToken": token });
        thief.call("initialize", stolen).await;
        let mut lobby = Socket::connect(&format!("{}/lobby", broker.url())).await;
        let find = json!({
            "sender_id": id, "receiver_id": "global_lobby", "message_type": "DISCOVER_SERVICES",
            "payload": { "capability_name": "x" }, "auth_token": token,
        });
        lobby.say(find.to_string()).await;
        lobby.hear().await;
        let ask = json!({
            "sender_id": id, "receiver_id": "used-agent", "message_type": "REQUEST",
            "payload": { "capability_name": "x" }, "auth_token": token, "conversation_id": "c",
        });
        lobby.say(ask.to_string()).await;
        lobby.hear().await;
        let by_query = format!("{}/ws/{id}?token={token}", broker.url());
        drop(Socket::try_connect(&by_query).await);
        let url = format!("{}/ws/another?token={token}", broker.url());
        drop(Socket::try_connect(&url).await);
        // What is not even JSON, with the token in it.
        lobby.say(format!("{{\"auth_token\":\"{token}\",")).await;
        lobby.hear().await;
        peer.say(format!("{{\"authToken\":\"{token}\",")).await;
        if kind == "revoked" {
            call("revokeToken", json!({ "agent": id })).await;
        }
    }
    let register = json!({
        "sender_id": "registered", "receiver_id": "global_lobby", "message_type": "REGISTER", "payload": {},
    });
    let answer =
        request(broker.address(), "POST", "/api/register", None, &register.to_string()).await;
    secrets.add("of the lobby", answer.json()["payload"]["auth_token"].as_str().unwrap());
    let mut collab = CollabAgent::register(broker, "collaborator", json!(["write"])).await;
    drop(collab.router("heartbeat", json!({})).await);
    let scopes = json!({ "scopes": ["discover:read", "discover:write"] });
    let signed = secrets.add_token("signed", &call("signJwt", scopes.clone()).await);
    request(broker.address(), "GET", "/agents", Some(&signed), "").await;
    let announce =
        json!({ "protocol_version": "v1.0", "agent": { "agent_id": signed }, "signature": signed });
    request(broker.address(), "POST", "/agents", Some(&signed), &announce.to_string()).await;
    call("rotateJwtKey", json!({})).await;
    secrets.add_token("signed by the new key", &call("signJwt", scopes).await);
    call("makeServerCertificate", json!({ "names": ["localhost"] })).await;
    call("makeClientCertificate", json!({ "name": "client" })).await;
    call("backUp", json!({})).await;
}

/// Every answer that the console gives to a call that asks for something.
async fn answers(broker: &Program) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let console = broker.console();
    for (method, params) in [
        ("status", json!({})),
        ("agents", json!({})),
        ("messages", json!({ "filter": {}, "limit": 500, "payloads": true })),
        ("deadLetters", json!({ "filter": {}, "limit": 100 })),
        ("exportLetters", json!({ "filter": {}, "limit": 100 })),
        ("jobs", json!({})),
        ("rules", json!({})),
        ("ruleHistory", json!({ "limit": 100 })),
        ("permissions", json!({})),
        ("discovery", json!({})),
        ("allowList", json!({})),
        ("security", json!({})),
        ("conversations", json!({ "limit": 100 })),
        ("spawned", json!({})),
        ("settings", json!({})),
        ("storage", json!({})),
        ("saved", json!({})),
        ("diagnostics", json!({})),
    ] {
        let text = match console.call::<Value>(method, &params).await {
            Ok(answer) => answer.to_string(),
            Err(error) => error.to_string(),
        };
        all.push((format!("the answer to {method}"), text));
    }
    let page = broker.call("messages", json!({ "filter": {}, "limit": 500 })).await;
    for row in page["rows"].as_array().unwrap() {
        for method in ["message", "messageForms", "relatedMessages"] {
            let answer = broker.call(method, json!({ "id": row["id"] })).await;
            all.push((format!("the answer to {method}"), answer.to_string()));
        }
    }
    let metrics = request(broker.address(), "GET", "/metrics", None, "").await;
    all.push(("/metrics".to_owned(), format!("{metrics:?}")));
    all
}

#[tokio::test]
async fn secrets() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    // The other programs' own words at `trace` are frames; they are held back whatever is asked for.
    let broker = open(home.path(), "trace").await;
    let mut secrets = Secrets::default();
    let mut feed = broker.console().watch(&Default::default()).await.unwrap();
    let watching = tokio::spawn(async move {
        let mut all = String::new();
        while let Ok(event) = feed.next().await {
            all.push_str(&event.to_string());
        }
        all
    });
    secrets.add_files(&data);
    a_full_run(&broker, &mut secrets).await;
    secrets.add_files(&data);
    let mut places = answers(&broker).await;
    // While it runs, for the sake of the log that SQLite writes ahead.
    let mut proof = Proof::new(
        17,
        "secrets",
        "no token or private key stands in clear in the database, its log, the program's log, diagnostics, console \
         answers, the feed or a backup; every file is its owner's, whatever the umask",
    )
    .how(
        "tokens and keys of every kind made, used, used wrongly, replaced and revoked at every door, with RUST_LOG=trace \
         and umask 000; then all of it searched, as text and as bits",
    );
    modes(&data, &mut proof);
    let mut searched = search_files(&data, &secrets, &mut proof);
    assert_eq!(broker.terminate().await, 0);
    places.push((
        "the feed".to_owned(),
        tokio::time::timeout(PATIENCE, watching).await.unwrap().unwrap(),
    ));
    let log = std::fs::read(home.path().join("log")).unwrap();
    assert!(log.len() > 1000, "it has said nothing");
    let log = String::from_utf8_lossy(&log).into_owned();
    for line in log.lines() {
        searched += line.len();
        let found = secrets.within(line.as_bytes());
        if !found.is_empty() {
            proof.fail(format!("the log: {found:?}"), line);
        }
    }
    proof.pass();
    for (place, text) in &places {
        searched += text.len();
        let found = secrets.within(text.as_bytes());
        proof.check(format!("{place}: {found:?}"), found.is_empty());
    }
    searched += search_files(&data, &secrets, &mut proof);
    let found = proof.failed();
    proof.close(format!("{} secrets, {found} faults in {searched} bytes", secrets.0.len()));
}

fn search_files(data: &Path, secrets: &Secrets, proof: &mut Proof) -> usize {
    let mut searched = 0;
    for path in files(data).into_iter().filter(|path| path.is_file()) {
        let name = name_of(data, &path);
        if KEEPERS
            .iter()
            .any(|keeper| name == *keeper || (keeper.ends_with('/') && name.starts_with(keeper)))
        {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        searched += bytes.len();
        let found = secrets.within(&bytes);
        proof.check(format!("{name}: {found:?}"), found.is_empty());
    }
    searched
}

/// Files are 0600 and folders 0700; certificates are for everyone.
fn modes(data: &Path, proof: &mut Proof) {
    for path in files(data).into_iter().chain([data.to_owned()]) {
        let about = path.symlink_metadata().unwrap();
        let mode = about.permissions().mode() & 0o777;
        let name = name_of(data, &path);
        let is_public = PUBLIC.iter().any(|public| name.starts_with(public))
            && !std::fs::read_to_string(&path).is_ok_and(|text| text.contains("PRIVATE"));
        let fits = match about.is_dir() {
            true => mode == 0o700,
            false if is_public => mode & 0o133 == 0,
            false => mode & 0o077 == 0,
        };
        proof.check(format!("{name:?} has mode {mode:o}"), fits);
    }
}
