//! A real `switchboardd` process.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use bub::Console;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::{Broker, PATIENCE};

pub struct Program {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    pub url: String,
    data_dir: PathBuf,
}

/// The programs lie beside the tests' own folder.
pub fn path_of(program: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join(program);
    assert!(path.exists(), "{} is not built: run cargo build first", path.display());
    path
}

/// `switchboardd` with these arguments, whose words can be read; it ends when it is dropped.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path_of("switchboardd"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs it to its end, which must come by itself: exit code and what it said on stderr.
pub async fn run_to_end(arguments: &[&str]) -> (i32, String) {
    let output = tokio::time::timeout(PATIENCE, command(arguments).output()).await;
    let output = output.expect("it did not end").unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), said)
}

impl Program {
    pub async fn start(data_dir: &Path) -> Self {
        Self::listening(data_dir, "127.0.0.1:0").await
    }

    pub async fn listening(data_dir: &Path, address: &str) -> Self {
        let folder = data_dir.to_str().unwrap();
        let command = command(&["--data-dir", folder, "--listen", address]);
        Self::spawn(command, data_dir)
            .await
            .unwrap_or_else(|said| panic!("it ended at once: {said}"))
    }

    /// Starts it by this command, which may put another program before it, on this folder; waits until it is ready, or
    /// returns what it said when it ended before.
    pub async fn spawn(mut command: Command, data_dir: &Path) -> Result<Self, String> {
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let Some(line) = first.expect("it did not get ready").unwrap() else {
            let mut words = String::new();
            said.get_mut().read_to_string(&mut words).await.unwrap();
            return Err(words);
        };
        let url = line.strip_prefix("listening on ").expect("the ready line").to_owned();
        Ok(Self { child, said, url, data_dir: data_dir.to_owned() })
    }

    /// Waits until it says this on stderr.
    pub async fn says(&mut self, words: &str) {
        self.says_one_of(&[words]).await;
    }

    /// Waits until it says one of these.
    pub async fn says_one_of(&mut self, words: &[&str]) {
        let heard = async {
            while let Some(line) = self.said.next_line().await.unwrap() {
                if words.iter().any(|words| line.contains(words)) {
                    return;
                }
            }
            panic!("it ended without saying {words:?}");
        };
        tokio::time::timeout(PATIENCE, heard).await.expect("it did not say it in time");
    }

    pub fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// The same, where its folder is seen elsewhere by others than by itself.
    pub fn found_at(self, data_dir: PathBuf) -> Self {
        Self { data_dir, ..self }
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The operator at this broker.
    pub fn console(&self) -> Console {
        Console::open(&self.data_dir).unwrap()
    }

    /// Accepted = processed + waiting + dead + discarded + expired, in memory.
    pub async fn totals(&self) -> Value {
        let mut feed =
            self.console().watch(&serde_json::from_value(json!({})).unwrap()).await.unwrap();
        let snapshot = tokio::time::timeout(PATIENCE, feed.next()).await;
        snapshot.expect("no snapshot in time").unwrap()["totals"].clone()
    }

    /// As `kill -9`.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until it has ended by itself; the exit code.
    pub async fn exit_code(&mut self) -> i32 {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it did not end").unwrap().code().unwrap()
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// As `kill -9`; returns what it has said on stderr.
    pub async fn killed(mut self) -> String {
        self.child.kill().await.unwrap();
        let mut words = String::new();
        while let Some(line) = self.said.next_line().await.unwrap() {
            words = words + &line + "\n";
        }
        words
    }

    /// As a system that shuts down; returns the exit code.
    pub async fn terminate(mut self) -> i32 {
        let id = self.child.id().unwrap().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().await.unwrap();
        assert!(sent.success());
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it did not end").unwrap().code().unwrap()
    }
}

impl Broker for Program {
    fn url(&self) -> &str {
        &self.url
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        let asked = tokio::time::timeout(PATIENCE, self.console().call(method, &params)).await;
        asked.expect("the console did not answer").unwrap()
    }
}
