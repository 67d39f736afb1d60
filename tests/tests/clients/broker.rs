//! A real broker, for programs in other languages.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::program::{Program, signal, soon};

/// A path in the repository.
pub(crate) fn path(within: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(within)
}

/// The Python that has what the clients need.
pub(crate) fn python() -> PathBuf {
    let given = std::env::var_os("SWITCHBOARD_PYTHON").map(PathBuf::from);
    let python = given.unwrap_or_else(|| path(".dev/python/bin/python"));
    assert!(
        python.exists(),
        "{} is missing: `./dev test rust` makes it; or set SWITCHBOARD_PYTHON to a Python that \
         has what tests/clients/requirements.txt names",
        python.display()
    );
    python
}

/// A program of ours, beside this test as cargo puts them.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(path.exists(), "{} is missing: cargo build -p switchboardd -p bub", path.display());
    path
}

/// `switchboardd` in a process and a data folder of its own.
pub(crate) struct Broker {
    process: Child,
    pub(crate) url: String,
    data: TempDir,
}

impl Broker {
    /// With these settings in `switchboard.toml`.
    pub(crate) async fn start(settings: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let quiet = "[discovery]\nmdns = false\n";
        let settings = if settings.contains("[discovery]\n") {
            settings.replace("[discovery]\n", quiet)
        } else {
            format!("{settings}\n{quiet}")
        };
        std::fs::write(data.path().join("switchboard.toml"), settings).unwrap();
        let mut process = Command::new(built("switchboardd"))
            .args(["--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = soon("the ready line", lines.next_line()).await.unwrap();
        let ready = ready.expect("a broker that starts");
        let url = ready.strip_prefix("listening on ").expect("the ready line").to_owned();
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { process, url, data }
    }

    /// Its data folder, where the operator's token lies.
    pub(crate) fn folder(&self) -> &Path {
        self.data.path()
    }

    /// A program that talks to this broker, as an agent that was told only where the bus is.
    pub(crate) fn run<I: AsRef<OsStr>>(&self, runtime: &Path, arguments: &[I]) -> Program {
        let names = arguments.iter().map(|name| name.as_ref().to_string_lossy());
        let name = names.collect::<Vec<_>>().join(" ");
        let mut command = Command::new(runtime);
        command.args(arguments).env("BUB_BUS_URL", &self.url).env("PYTHONUNBUFFERED", "1");
        // Where `bub` is, and a `switchboardd` that a scenario may start and end as it likes.
        command.env("SWITCHBOARD_BIN", built("bub").parent().unwrap());
        // The sources stay clean of what Python compiles beside them.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        Program::spawn(&name, command)
    }

    /// Waits until so many dead letters lie here, and returns their reasons.
    pub(crate) async fn dead_letters(&self, count: usize) -> Vec<String> {
        soon("the dead letters", async {
            loop {
                let mut bub = Command::new(built("bub"));
                bub.args(["dead-letters", "list", "--json", "--data-dir"]).arg(self.data.path());
                let output = bub.output().await.unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "bub dead-letters list: {said}");
                let letters: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
                assert!(letters.len() <= count, "more dead letters than {count}: {letters:?}");
                if letters.len() == count {
                    let reason = |letter: &Value| letter["reason"].as_str().unwrap().to_owned();
                    return letters.iter().map(reason).collect();
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    /// Ends it as a system that shuts down does; it must find its way out.
    pub(crate) async fn stop(mut self) {
        signal(&self.process, "-TERM").await;
        let status = soon("the end of the broker", self.process.wait()).await.unwrap();
        assert!(status.success(), "the broker ended with {status}");
    }
}
