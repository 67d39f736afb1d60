//! The house around the broker, through the real program: settings, restarts, copies of the database, diagnostics.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bub::{Bus, ClientInfo, Console, Error};
use serde_json::{Value, json};
use switchboard_model::{AgentId, Payload};
use tempfile::tempdir;

use crate::board::eventually;
use crate::program::Program;

async fn call(folder: &Path, method: &str, params: Value) -> Value {
    Console::open(folder).unwrap().call(method, params).await.unwrap()
}

/// What the operator is told against it.
async fn refused(folder: &Path, method: &str, params: Value) -> String {
    match Console::open(folder).unwrap().call::<Value>(method, params).await {
        Err(Error::CallRefused { message, .. }) => message,
        other => panic!("it was not refused: {other:?}"),
    }
}

async fn change(folder: &Path, changes: &[(&str, Value)]) -> Value {
    let changes: Vec<Value> =
        changes.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
    call(folder, "editSettings", json!({ "changes": changes })).await
}

fn setting(view: &Value, key: &str) -> Value {
    let sections = view["sections"].as_array().unwrap();
    let mut all = sections.iter().flat_map(|one| one["settings"].as_array().unwrap());
    all.find(|one| one["key"] == key).unwrap().clone()
}

async fn agent(url: &str, id: &str) -> Bus {
    let agent = AgentId::parse(id).unwrap();
    Bus::connect(url, &agent, ClientInfo::new("story", "1"), None).await.unwrap()
}

async fn send(bus: &Bus, topic: &str, payload: Value) {
    bus.send(topic, &Payload::trusted(payload.to_string())).await.unwrap();
}

async fn topics(folder: &Path) -> Vec<String> {
    let page = call(folder, "messages", json!({ "filter": {}, "limit": 500 })).await;
    let rows = page["rows"].as_array().unwrap();
    rows.iter().map(|row| row["topic"].as_str().unwrap().to_owned()).collect()
}

/// Starts the broker anew and waits until it is back.
async fn restart(folder: &Path) -> Value {
    let before = call(folder, "status", json!({})).await;
    call(folder, "restart", json!({})).await;
    eventually("it is back", async || {
        let console = Console::open(folder).ok()?;
        let now = console.call::<Value>("status", json!({})).await.ok()?;
        (now["startedAt"] != before["startedAt"]).then_some(now)
    })
    .await
}

/// Waits until what is done to the database is done.
async fn worked(folder: &Path) -> Value {
    eventually("the work is done", async || {
        let work = call(folder, "storage", json!({})).await["work"].clone();
        (!work["endedAt"].is_null()).then_some(work)
    })
    .await
}

#[tokio::test]
async fn a_setting_holds_at_once_or_after_a_restart_on_the_same_port_with_the_same_data() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("switchboard.toml");
    std::fs::write(&file, "# mine\n[discovery]\nmdns = false\n").unwrap();
    let program = Program::start(folder.path()).await;
    let sender = agent(&program.url, "sender").await;
    send(&sender, "before", json!({ "type": "t" })).await;

    let changes = [("bus.require_token", json!(true)), ("limits.connections", json!(77))];
    let view = change(folder.path(), &changes).await;
    assert_eq!(setting(&view, "bus.require_token")["value"], true);
    let connections = setting(&view, "limits.connections");
    assert_eq!((&connections["value"], &connections["next"]), (&json!(1024), &json!(77)));
    assert_eq!(view["restartNeeded"], true);
    assert_eq!(setting(&view, "listen")["fixedBy"], "--listen");
    let stranger = AgentId::parse("stranger").unwrap();
    let joined = Bus::connect(&program.url, &stranger, ClientInfo::new("s", "1"), None).await;
    assert!(joined.is_err(), "it holds at once");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\n[discovery]\nmdns = false\n"), "{text}");

    let status = restart(folder.path()).await;
    assert_eq!(status["url"], program.url.as_str(), "those who were connected know the port");
    let view = call(folder.path(), "settings", json!({})).await;
    assert_eq!(setting(&view, "limits.connections")["value"], 77);
    assert_eq!(view["restartNeeded"], false);
    assert_eq!(topics(folder.path()).await, ["before"]);
    assert_eq!(program.terminate().await, 0, "it is the same process");
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_the_reason_and_changes_nothing() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("switchboard.toml");
    let text = "[discovery]\nmdns = false\n";
    std::fs::write(&file, text).unwrap();
    let _program = Program::start(folder.path()).await;
    for (key, value, said) in [
        ("delivery.attempts", json!(0), "delivery.attempts is 0: give 1 to 1000"),
        ("bus.policy", json!("sometimes"), "bus.policy"),
        ("tls.cert", json!("server.pem"), "tls.key"),
        ("discovery.interfaces", json!(["nowhere0"]), "nowhere0"),
        ("no.such", json!(1), "no.such"),
    ] {
        let changes = json!({ "changes": [
            { "key": "retention.days", "value": 3 }, { "key": key, "value": value },
        ] });
        let words = refused(folder.path(), "editSettings", changes).await;
        assert!(words.contains(said), "{key}: {words}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    let view = call(folder.path(), "settings", json!({})).await;
    assert_eq!(setting(&view, "retention.days")["value"], 7);

    std::fs::write(&file, "[limits]\nqueue = \"many\"\n").unwrap();
    let view = call(folder.path(), "settings", json!({})).await;
    assert!(view["problem"].as_str().unwrap().contains("line 2"), "{}", view["problem"]);
    let words = refused(folder.path(), "restart", json!({})).await;
    assert!(words.contains("queue"), "it stays rather than go and not come back: {words}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_made_under_load_and_put_back_and_nothing_of_what_it_replaces_is_lost() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("switchboard.toml"), "[discovery]\nmdns = false\n").unwrap();
    let program = Program::start(folder.path()).await;
    let sender = agent(&program.url, "sender").await;
    send(&sender, "then", json!({ "type": "t", "text": "y".repeat(100_000) })).await;
    let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let load = tokio::spawn({
        let (stop, sent, url) = (stop.clone(), sent.clone(), program.url.clone());
        async move {
            let bus = agent(&url, "busy").await;
            let mut slowest = Duration::ZERO;
            while !stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                send(&bus, "load", json!({ "type": "t" })).await;
                slowest = slowest.max(began.elapsed());
                sent.fetch_add(1, Ordering::Relaxed);
            }
            slowest
        }
    });
    eventually("the load runs", async || (sent.load(Ordering::Relaxed) > 20).then_some(())).await;
    call(folder.path(), "backUp", json!({})).await;
    let work = worked(folder.path()).await;
    assert_eq!((&work["failed"], &work["done"]), (&json!(false), &json!(1.0)), "{work}");
    stop.store(true, Ordering::Relaxed);
    let slowest = load.await.unwrap();
    assert!(slowest < Duration::from_secs(5), "publishers wait for no copy: {slowest:?}");
    send(&sender, "later", json!({ "type": "t" })).await;

    let storage = call(folder.path(), "storage", json!({})).await;
    let copy = &storage["backups"][0];
    assert!(storage["messages"].as_u64().unwrap() >= 21, "{storage}");
    let words =
        refused(folder.path(), "deleteBackup", json!({ "name": "../switchboard.db" })).await;
    assert!(words.contains("no copy"), "{words}");
    let view = call(folder.path(), "restoreBackup", json!({ "file": copy["name"] })).await;
    assert_eq!(view["restoring"], copy["file"]);
    restart(folder.path()).await;
    let kept = topics(folder.path()).await;
    assert!(kept.iter().any(|topic| topic == "then"), "{kept:?}");
    assert!(!kept.iter().any(|topic| topic == "later"), "{kept:?}");

    let storage = call(folder.path(), "storage", json!({})).await;
    let backups = storage["backups"].as_array().unwrap();
    let is_replaced = |one: &&Value| one["name"].as_str().unwrap().starts_with("replaced-");
    let replaced = backups.iter().find(is_replaced).unwrap();
    call(folder.path(), "restoreBackup", json!({ "file": replaced["name"] })).await;
    restart(folder.path()).await;
    let kept = topics(folder.path()).await;
    assert!(kept.iter().any(|topic| topic == "later"), "{kept:?}");
    call(folder.path(), "checkStorage", json!({})).await;
    let work = worked(folder.path()).await;
    assert_eq!(work["failed"], false, "{work}");
    assert_eq!(program.terminate().await, 0);
}

#[tokio::test]
async fn diagnostics_tell_how_things_stand_and_no_secret() {
    let folder = tempdir().unwrap();
    let text = "[discovery]\nmdns = false\n[telemetry]\notlp = \"http://127.0.0.1:9/marker-path\"\n\
        [default_handler]\ncommand = [\"/bin/false\", \"--key\", \"marker-argument\"]\n";
    std::fs::write(folder.path().join("switchboard.toml"), text).unwrap();
    let program = Program::start(folder.path()).await;
    let issued = call(folder.path(), "issueToken", json!({ "agent": "owner" })).await;
    let jwt = call(folder.path(), "signJwt", json!({ "scopes": ["discover:read"] })).await;
    let sender = agent(&program.url, "sender").await;
    let payload = json!({ "type": "t", "text": "marker-payload" });
    send(&sender, "agent:owner", payload).await;
    let admin = std::fs::read_to_string(folder.path().join("admin-token")).unwrap();
    let key = std::fs::read_to_string(folder.path().join("identity-key.pem")).unwrap();
    let key = key.lines().nth(1).unwrap();

    let text = call(folder.path(), "diagnostics", json!({})).await["text"].clone();
    let text = text.as_str().unwrap();
    for told in ["Switchboard 0", "kernel: ", "accepted: 1", "difference: 0", "known: ", "cores: "]
    {
        assert!(text.contains(told), "{told} in {text}");
    }
    assert!(text.contains("default_handler.command: \"/bin/false\" and 2 arguments"), "{text}");
    let (token, jwt) = (issued["token"].as_str().unwrap(), jwt["token"].as_str().unwrap());
    let secrets = [token, jwt, admin.trim(), key, "marker-payload", "marker-argument"];
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn who_changed_a_setting_and_when_is_kept_and_no_secret_with_it() {
    let folder = tempdir().unwrap();
    let program = Program::start(folder.path()).await;
    change(folder.path(), &[("delivery.attempts", json!(5)), ("retention.days", json!(7))]).await;
    let secret = "http://me:hunter2@127.0.0.1:4318";
    change(folder.path(), &[("telemetry.otlp", json!(secret))]).await;
    change(folder.path(), &[("delivery.attempts", Value::Null)]).await;

    let told = call(folder.path(), "settingHistory", json!({ "limit": 2 })).await;
    let [back, hidden] = told["changes"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert_eq!((&back["key"], &back["by"]), (&json!("delivery.attempts"), &json!("operator")));
    assert_eq!(
        (&back["before"], &back["after"]),
        (&json!(5), &json!(3)),
        "the default has a value"
    );
    assert_eq!((&hidden["key"], &hidden["after"]), (&json!("telemetry.otlp"), &Value::Null));
    let older = json!({ "limit": 2, "before": told["next"] });
    let older = call(folder.path(), "settingHistory", older).await;
    let [first] = older["changes"].as_array().unwrap().as_slice() else { panic!("{older}") };
    assert_eq!(first["after"], 5, "what stayed as it was is no change");
    assert_eq!(older["next"], Value::Null);
    assert_eq!(program.terminate().await, 0);

    let _again = Program::start(folder.path()).await;
    let kept = call(folder.path(), "settingHistory", json!({ "limit": 9 })).await;
    assert_eq!(kept["changes"].as_array().unwrap().len(), 3, "it outlives the program");
}
