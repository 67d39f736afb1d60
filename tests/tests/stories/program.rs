//! A real `switchboardd` process.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::board::PATIENCE;

pub(crate) struct Program {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    pub(crate) url: String,
}

/// The programs lie beside the tests' own folder.
pub(crate) fn path_of(program: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join(program);
    assert!(path.exists(), "{} is not built: run cargo build first", path.display());
    path
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(path_of("switchboardd"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs it to its end, which must come by itself: exit code and what it said on stderr.
pub(crate) async fn run_to_end(arguments: &[&str]) -> (i32, String) {
    let output = tokio::time::timeout(PATIENCE, command(arguments).output()).await;
    let output = output.expect("it did not end").unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), said)
}

impl Program {
    pub(crate) async fn start(data_dir: &Path) -> Self {
        Self::listening(data_dir, "127.0.0.1:0").await
    }

    pub(crate) async fn listening(data_dir: &Path, address: &str) -> Self {
        let folder = data_dir.to_str().unwrap();
        let mut child = command(&["--data-dir", folder, "--listen", address]).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let Some(line) = first.expect("it did not get ready").unwrap() else {
            let mut words = String::new();
            said.get_mut().read_to_string(&mut words).await.unwrap();
            panic!("it ended at once: {words}");
        };
        let url = line.strip_prefix("listening on ").expect("the ready line").to_owned();
        Self { child, said, url }
    }

    /// Waits until it says this on stderr.
    pub(crate) async fn says(&mut self, words: &str) {
        let heard = async {
            while let Some(line) = self.said.next_line().await.unwrap() {
                if line.contains(words) {
                    return;
                }
            }
            panic!("it ended without saying {words:?}");
        };
        tokio::time::timeout(PATIENCE, heard).await.expect("it did not say it in time");
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// As `kill -9`.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// As a system that shuts down; returns the exit code.
    pub(crate) async fn terminate(mut self) -> i32 {
        let id = self.child.id().unwrap().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().await.unwrap();
        assert!(sent.success());
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it did not end").unwrap().code().unwrap()
    }
}
