//! A program of another language, and what it says.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Duration = Duration::from_secs(30);

pub(crate) async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// Sends a process a signal, such as `-TERM`.
pub(crate) async fn signal(process: &Child, name: &str) {
    let id = process.id().expect("a running process").to_string();
    let sent = Command::new("kill").args([name, &id]).status().await.unwrap();
    assert!(sent.success());
}

/// A process whose words are read line by line. It dies with this value.
pub(crate) struct Program {
    name: String,
    child: Child,
    typed: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    notes: Lines<BufReader<ChildStderr>>,
}

impl Program {
    pub(crate) fn spawn(name: &str, mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let notes = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { name: name.to_owned(), typed: child.stdin.take(), child, lines, notes }
    }

    /// The next line it prints.
    pub(crate) async fn line(&mut self) -> String {
        let what = format!("a line from {}", self.name);
        if let Some(line) = soon(&what, self.lines.next_line()).await.unwrap() {
            return line;
        }
        let notes = self.all_notes().await;
        panic!("{} ended too early:\n{notes}", self.name);
    }

    /// The next line it prints on stderr.
    pub(crate) async fn note(&mut self) -> String {
        let what = format!("a line on stderr from {}", self.name);
        soon(&what, self.notes.next_line()).await.unwrap().expect("one more line on stderr")
    }

    async fn all_notes(&mut self) -> String {
        let mut all = String::new();
        while let Some(line) = soon("the end of stderr", self.notes.next_line()).await.unwrap() {
            all = all + &line + "\n";
        }
        all
    }

    /// As a person at its terminal.
    pub(crate) async fn types(&mut self, line: &str) {
        let typed = self.typed.as_mut().expect("a program that is being typed to");
        typed.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Ctrl-C, which is a way to end and no failure; returns the rest of what it printed.
    pub(crate) async fn interrupted(self) -> Vec<String> {
        signal(&self.child, "-INT").await;
        self.succeeds().await
    }

    /// Waits for its end, which must be a good one, and returns the rest of what it printed.
    pub(crate) async fn succeeds(self) -> Vec<String> {
        self.ends_with(0).await
    }

    /// Waits for its end with this exit code, and returns the rest of what it printed.
    pub(crate) async fn ends_with(mut self, code: i32) -> Vec<String> {
        self.typed = None;
        let mut printed = Vec::new();
        let what = format!("the end of {}", self.name);
        while let Some(line) = soon(&what, self.lines.next_line()).await.unwrap() {
            printed.push(line);
        }
        let notes = self.all_notes().await;
        let status = soon(&what, self.child.wait()).await.unwrap();
        assert_eq!(status.code(), Some(code), "{}: {printed:?}\n{notes}", self.name);
        printed
    }
}
