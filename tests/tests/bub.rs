//! The programs `switchboardd` and `bub`, as a person or an agent at a shell meets them.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Duration = Duration::from_secs(30);

async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// A program beside this test, as cargo puts them.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(path.exists(), "{} is missing: cargo build -p switchboardd -p bub", path.display());
    path
}

async fn line(lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>) -> String {
    soon("a line", lines.next_line()).await.unwrap().expect("one more line")
}

async fn end(child: &mut Child, signal: &str) -> i32 {
    let pid = child.id().expect("a running program").to_string();
    let kill = Command::new("kill").args([signal, &pid]).status();
    assert!(kill.await.unwrap().success());
    soon("the end", child.wait()).await.unwrap().code().expect("an exit code")
}

/// A broker in a process and a data folder of its own.
struct Broker {
    process: Child,
    data: TempDir,
}

impl Broker {
    async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut process = Command::new(program("switchboardd"))
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        while !line(&mut lines).await.starts_with("listening on ws://") {}
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, data }
    }

    /// `bub` at this broker, with nothing from our own environment.
    fn bub(&self, args: &[&str]) -> Command {
        let mut command = bub(args);
        command.arg("--data-dir").arg(self.data.path());
        command
    }

    async fn run(&self, args: &[&str]) -> Output {
        soon("bub", self.bub(args).output()).await.unwrap()
    }

    async fn send(&self, topic: &str, payload: &str) -> (i32, Value) {
        let sent = self.run(&["send-message", "--topic", topic, "--payload", payload]).await;
        (code(&sent), document(&sent))
    }

    async fn subscribe(&self, topic: &str) -> Subscriber {
        let mut process = self
            .bub(&["subscribe", topic, "--json"])
            .env("BUB_AGENT_ID", "listener")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let heard = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut notes = BufReader::new(process.stderr.take().unwrap()).lines();
        assert!(line(&mut notes).await.starts_with("listening to"), "then it is subscribed");
        Subscriber { process, heard, notes }
    }
}

struct Subscriber {
    process: Child,
    heard: Lines<BufReader<ChildStdout>>,
    notes: Lines<BufReader<ChildStderr>>,
}

impl Subscriber {
    async fn next(&mut self) -> Value {
        serde_json::from_str(&line(&mut self.heard).await).unwrap()
    }
}

fn bub(args: &[&str]) -> Command {
    let mut command = Command::new(program("bub"));
    for name in ["BUS_URL", "AUTH_TOKEN", "AGENT_ID", "DEFAULT_TOPIC", "WORKSPACE"] {
        command.env_remove(format!("BUB_{name}"));
    }
    command.args(args).env("USER", "tester").stdin(Stdio::null()).kill_on_drop(true);
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn document(output: &Output) -> Value {
    let stdout = text(&output.stdout);
    serde_json::from_str(stdout).unwrap_or_else(|_| panic!("not one JSON document: {stdout}"))
}

#[tokio::test]
async fn what_one_shell_sends_another_hears_and_both_succeed() {
    let broker = Broker::start().await;
    let mut subscriber = broker.subscribe("inbound:*").await;

    let payload = r#"{"type":"plaintext_message","text":"hello"}"#;
    let (status, result) = broker.send("inbound:chat-1", payload).await;
    assert_eq!(status, 0, "{result}");
    assert_eq!(result["success"], true);
    assert_eq!(result["deliveredTo"], 1);
    assert_eq!(result["acks"][0]["client_id"], "listener");

    let heard = subscriber.next().await;
    assert_eq!(heard["topic"], "inbound:chat-1");
    assert_eq!(heard["from"], "bub-tester");
    assert_eq!(heard["messageId"], result["messageId"]);
    assert_eq!(heard["payload"], json!({"type": "plaintext_message", "text": "hello"}));
    assert_eq!(end(&mut subscriber.process, "-INT").await, 0, "Ctrl-C is a way to end, no failure");
}

#[tokio::test]
async fn a_message_that_nobody_takes_fails_with_a_result_that_programs_can_read() {
    let broker = Broker::start().await;
    let (status, result) = broker.send("nobody:here", r#"{"type":"note"}"#).await;
    assert_eq!(status, 1);
    assert_eq!(result["success"], false);
    assert!(result["messageId"].is_string(), "{result}");
}

#[tokio::test]
async fn payload_and_topic_come_from_wherever_an_agent_keeps_them() {
    let broker = Broker::start().await;
    let mut subscriber = broker.subscribe("agent:listener").await;
    std::fs::write(broker.data.path().join("task.json"), "{\"type\":\"from-a-file\"}\n").unwrap();

    let sent = broker
        .bub(&["send-message", "--payload", "@task.json"])
        .env("BUB_DEFAULT_TOPIC", "agent:listener")
        .env("BUB_WORKSPACE", broker.data.path())
        .output();
    let sent = soon("bub", sent).await.unwrap();
    assert_eq!(code(&sent), 0, "{}", text(&sent.stderr));
    assert_eq!(subscriber.next().await["payload"]["type"], "from-a-file");

    let mut piped = broker
        .bub(&["send-message", "--topic", "agent:listener", "--payload", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = piped.stdin.take().unwrap();
    stdin.write_all(br#"{"type":"from-a-pipe","n":123456789012345678901}"#).await.unwrap();
    drop(stdin);
    assert!(soon("bub", piped.wait()).await.unwrap().success());
    let heard = line(&mut subscriber.heard).await;
    assert!(heard.contains(r#"{"type":"from-a-pipe","n":123456789012345678901}"#), "{heard}");
}

#[tokio::test]
async fn the_operator_sees_broker_agents_and_messages() {
    let broker = Broker::start().await;
    let _subscriber = broker.subscribe("inbound:*").await;
    broker.send("inbound:1", r#"{"type":"a","n":123456789012345678901}"#).await;
    broker.send("nobody:here", r#"{"type":"b"}"#).await;

    let status = document(&broker.run(&["status", "--json"]).await);
    assert!(status["url"].as_str().unwrap().starts_with("ws://127.0.0.1:"), "{status}");
    assert_eq!(status["totals"]["accepted"], 2);
    assert_eq!(status["totals"]["processed"], 1);
    assert_eq!(status["totals"]["dead"], 1);

    let agents = document(&broker.run(&["agents", "--json"]).await);
    let listener = agents.as_array().unwrap().iter().find(|agent| agent["id"] == "listener");
    let listener = listener.expect("the subscriber is registered");
    assert_eq!(listener["doors"], json!(["bus"]));
    assert_eq!(listener["status"], "ready");
    assert_eq!(listener["subscriptions"][0]["pattern"], "inbound:*");

    let messages = broker.run(&["messages", "--json"]).await;
    assert!(text(&messages.stdout).contains("123456789012345678901"), "every digit is kept");
    let messages = document(&messages);
    let [dead, processed] = messages.as_array().unwrap().as_slice() else {
        panic!("two messages: {messages}");
    };
    assert_eq!((&dead["topic"], &dead["state"]), (&json!("nobody:here"), &json!("dead")));
    assert_eq!(processed["state"], "processed");
    assert_eq!(processed["from"], "bub-tester");
    assert_eq!(processed["payload"]["type"], "a");

    let only_dead = document(&broker.run(&["messages", "--json", "--state", "dead"]).await);
    assert_eq!(only_dead, json!([dead]));

    for (command, words) in [("status", "2 accepted"), ("agents", "listener"), ("messages", "dead")]
    {
        let shown = broker.run(&[command]).await;
        assert_eq!(code(&shown), 0, "{}", text(&shown.stderr));
        assert!(text(&shown.stdout).contains(words), "{command}: {}", text(&shown.stdout));
        assert!(!text(&shown.stdout).contains('\x1b'), "no colours where there is no terminal");
    }
}

#[tokio::test]
async fn following_goes_on_where_history_ends_and_misses_nothing() {
    let broker = Broker::start().await;
    let _subscriber = broker.subscribe("inbound:*").await;
    broker.send("inbound:before", r#"{"type":"x"}"#).await;
    let mut following = broker
        .bub(&["messages", "--follow", "--json", "--topic", "inbound"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut topics = Vec::new();
    for number in 0..4 {
        let row: Value = serde_json::from_str(&line(&mut lines).await).unwrap();
        assert_eq!(row["payload"]["type"], "x");
        topics.push(row["topic"].as_str().unwrap().to_owned());
        broker.send("outbound:elsewhere", r#"{"type":"x"}"#).await;
        broker.send(&format!("inbound:{number}"), r#"{"type":"x"}"#).await;
    }
    assert_eq!(topics, ["inbound:before", "inbound:0", "inbound:1", "inbound:2"]);
    assert_eq!(end(&mut following, "-TERM").await, 0);
}

#[tokio::test]
async fn a_subscriber_says_so_when_the_broker_goes_away() {
    let mut broker = Broker::start().await;
    let mut subscriber = broker.subscribe("inbound:*").await;
    assert_eq!(end(&mut broker.process, "-TERM").await, 0, "the broker drains and ends well");
    let ended = soon("the end", subscriber.process.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(1));
    let words = line(&mut subscriber.notes).await;
    assert!(words.contains("the connection to the bus ended"), "{words}");

    let asked = broker.run(&["status"]).await;
    assert_eq!(code(&asked), 1);
    assert!(text(&asked.stderr).contains("no broker is running"), "{}", text(&asked.stderr));
}

#[tokio::test]
async fn wrong_usage_is_2_and_a_missing_broker_is_1_with_advice() {
    let nowhere = Path::new("/nonexistent/switchboard").to_str().unwrap();
    let usage: [&[&str]; 5] = [
        &["dance"],
        &["send-message", "--topic", "a", "--payload", "{"],
        &["send-message", "--payload", "{}"],
        &["send-message", "--topic", "a", "--payload", "@/nonexistent.json"],
        &["messages", "--state", "lost"],
    ];
    for args in usage {
        let output = soon("bub", bub(args).output()).await.unwrap();
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?} says what is wrong");
    }

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
