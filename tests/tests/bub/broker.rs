//! A real broker, and `bub` at a shell beside it.

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use bub::{Bus, ClientInfo, Endpoint};
use serde_json::Value;
use switchboard_model::{AgentId, Payload};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Duration = Duration::from_secs(30);

pub(crate) async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// A program beside this test, as cargo puts them.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(path.exists(), "{} is missing: cargo build -p switchboardd -p bub", path.display());
    path
}

pub(crate) async fn line(lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>) -> String {
    soon("a line", lines.next_line()).await.unwrap().expect("one more line")
}

pub(crate) async fn end(child: &mut Child, signal: &str) -> i32 {
    let pid = child.id().expect("a running program").to_string();
    let kill = Command::new("kill").args([signal, &pid]).status();
    assert!(kill.await.unwrap().success());
    soon("the end", child.wait()).await.unwrap().code().expect("an exit code")
}

/// A broker in a process and a data folder of its own.
pub(crate) struct Broker {
    pub(crate) process: Child,
    pub(crate) data: TempDir,
}

impl Broker {
    pub(crate) async fn start() -> Self {
        Self::with("").await
    }

    /// With these lines in `switchboard.toml`.
    pub(crate) async fn with(settings: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), settings).await
    }

    /// In a folder where something is already.
    pub(crate) async fn in_folder(data: TempDir, settings: &str) -> Self {
        std::fs::write(data.path().join("switchboard.toml"), settings).unwrap();
        let mut process = Command::new(program("switchboardd"))
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        while !line(&mut lines).await.starts_with("listening on ws") {}
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, data }
    }

    /// `bub` at this broker, with nothing from our own environment.
    pub(crate) fn bub(&self, args: &[&str]) -> Command {
        let mut command = bub(args);
        command.arg("--data-dir").arg(self.data.path());
        command
    }

    pub(crate) async fn run(&self, args: &[&str]) -> Output {
        soon("bub", self.bub(args).output()).await.unwrap()
    }

    /// The one JSON document that a command prints, which must succeed.
    pub(crate) async fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat()).await;
        assert_eq!(code(&output), 0, "{args:?}: {}", text(&output.stderr));
        document(&output)
    }

    /// What a command tells a person, which must succeed.
    pub(crate) async fn told(&self, args: &[&str]) -> String {
        let output = self.run(args).await;
        assert_eq!(code(&output), 0, "{args:?}: {}", text(&output.stderr));
        text(&output.stdout).to_owned()
    }

    /// What a command says against it, which must be refused.
    pub(crate) async fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args).await;
        assert_eq!(code(&output), 1, "{args:?}: {}", text(&output.stdout));
        text(&output.stderr).to_owned()
    }

    /// An agent of its own will.
    pub(crate) async fn agent(&self, id: &str) -> Bus {
        let url = Endpoint::read(self.data.path()).unwrap().expect("a running broker").url;
        let id = AgentId::parse(id).unwrap();
        Bus::connect(&url, &id, ClientInfo::new("test", "1"), None).await.unwrap()
    }

    /// Sends messages that nobody takes, and returns their ids.
    pub(crate) async fn letters(&self, topics: &[&str]) -> Vec<String> {
        let sender = self.agent("sender").await;
        let mut ids = Vec::new();
        for (topic, number) in topics.iter().zip(1..) {
            let payload = Payload::parse(&format!(r#"{{"type":"note","n":{number}}}"#)).unwrap();
            let sent = sender.send(topic, &payload).await.unwrap();
            assert!(!sent.success, "nobody is there to take it");
            ids.push(sent.message_id.expect("an id"));
        }
        sender.close().await;
        ids
    }

    pub(crate) async fn send(&self, topic: &str, payload: &str) -> (i32, Value) {
        let sent = self.run(&["send-message", "--topic", topic, "--payload", payload]).await;
        (code(&sent), document(&sent))
    }

    pub(crate) async fn subscribe(&self, topic: &str) -> Subscriber {
        self.subscribe_with("", topic).await
    }

    /// With this in `BUB_AUTH_TOKEN`.
    pub(crate) async fn subscribe_with(&self, token: &str, topic: &str) -> Subscriber {
        let mut process = self
            .bub(&["subscribe", topic, "--json"])
            .env("BUB_AGENT_ID", "listener")
            .env("BUB_AUTH_TOKEN", token)
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

pub(crate) struct Subscriber {
    pub(crate) process: Child,
    pub(crate) heard: Lines<BufReader<ChildStdout>>,
    pub(crate) notes: Lines<BufReader<ChildStderr>>,
}

impl Subscriber {
    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&line(&mut self.heard).await).unwrap()
    }
}

pub(crate) fn bub(args: &[&str]) -> Command {
    let mut command = Command::new(program("bub"));
    for name in
        ["BUS_URL", "AUTH_TOKEN", "AGENT_ID", "DEFAULT_TOPIC", "WORKSPACE", "CA", "CERT", "KEY"]
    {
        command.env_remove(format!("BUB_{name}"));
    }
    command.args(args).env("USER", "tester").stdin(Stdio::null()).kill_on_drop(true);
    command
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

pub(crate) fn document(output: &Output) -> Value {
    let stdout = text(&output.stdout);
    serde_json::from_str(stdout).unwrap_or_else(|_| panic!("not one JSON document: {stdout}"))
}
