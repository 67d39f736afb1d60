//! Another's program, and what it prints.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};

use crate::netns::Machine;
use crate::soon;

/// Ends what it started when its input ends. For programs that do not read any: they shall not outlive
/// this process, however it ends.
const WITH_US: &str = "\"$@\" & cat >/dev/null; kill $!; wait";

/// A program that ends with this value.
pub(crate) struct Program {
    child: Child,
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
}

impl Program {
    /// One that ends when its input does.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        Self::read_stdout(command.spawn().unwrap())
    }

    /// One that reads nothing.
    pub(crate) fn spawn_deaf(machine: &Machine, words: &[&str], folder: &Path) -> Self {
        let mut command = with_us(machine, WITH_US, words, folder);
        Self::read_stdout(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// The same, and it speaks on stderr; the shell first does something else.
    pub(crate) fn spawn_daemon(
        machine: &Machine,
        first: &str,
        words: &[&str],
        folder: &Path,
    ) -> Self {
        let mut command = with_us(machine, &format!("{first}{WITH_US}"), words, folder);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let words = Box::new(child.stderr.take().unwrap()) as Box<_>;
        Self { child, lines: BufReader::new(words).lines() }
    }

    fn read_stdout(mut child: Child) -> Self {
        let words = Box::new(child.stdout.take().unwrap()) as Box<_>;
        Self { child, lines: BufReader::new(words).lines() }
    }

    /// The next line in which all of this occurs.
    pub(crate) async fn says(&mut self, parts: &[&str]) -> String {
        let search = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if parts.iter().all(|part| line.contains(part)) {
                    return line;
                }
            }
            panic!("it ended without a line with {parts:?}");
        };
        soon(&format!("a line with {parts:?}"), search).await
    }

    /// Asks it to end, by closing what it reads from.
    pub(crate) async fn ends(mut self) {
        drop(self.child.stdin.take());
        soon("its end", self.child.wait()).await.unwrap();
    }

    /// Ends it before it can say anything.
    pub(crate) async fn dies(mut self) {
        soon("its death", self.child.kill()).await.unwrap();
    }
}

fn with_us(machine: &Machine, script: &str, words: &[&str], folder: &Path) -> Command {
    let mut command = machine.command("unshare");
    // Mounts of its own, for what a script hides from it.
    command.args(["--mount", "sh", "-c", script, "sh"]).args(words).stdin(Stdio::piped());
    command.current_dir(folder).env("DBUS_SYSTEM_BUS_ADDRESS", bus_address(folder));
    command
}

/// Where a bus is that has this folder to itself.
pub(crate) fn bus_address(folder: &Path) -> String {
    format!("unix:path={}/bus", folder.display())
}

/// A path in the repository.
pub(crate) fn path(within: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(within)
}

/// The Python that has what the clients need.
pub(crate) fn python() -> String {
    let given = std::env::var_os("SWITCHBOARD_PYTHON").map(PathBuf::from);
    let python = given.unwrap_or_else(|| path(".dev/python/bin/python"));
    let python = python.to_str().unwrap().to_owned();
    assert!(
        Path::new(&python).exists(),
        "{python} is missing: `./dev test rust` makes it; or set SWITCHBOARD_PYTHON to a Python that \
         has what tests/clients/requirements.txt names"
    );
    python
}
