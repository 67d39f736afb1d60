//! One program that the default handler started.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use switchboard_model::{AgentId, Topic};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{DefaultHandler, Orders};

/// As much of what a program writes as is kept.
const KEPT: usize = 1 << 20;
/// How long a program has to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked for what has left the group, and for how many looks nothing must be found.
const LOOKS: usize = 50;
const QUIET_LOOKS: usize = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Runs the program, and ends its whole process group when the broker is gone, however it went: the
/// broker holds the other end of standard input, which closes even when the broker is killed. Then
/// too the program has as long as [`PATIENCE`].
///
/// The shell itself outlives a TERM, to tell how the program ended. It catches the signal rather than
/// ignore it, since the program would inherit that; the watching process ignores it from its first
/// moment. That one also holds the reading end of the program's output, which comes as standard error:
/// without a reader a program that says something while it ends would die of it (PIPE). The program runs
/// in the foreground, because a shell lets nothing in the background be interrupted (INT, QUIT).
///
/// What has left the group is found by the name in its environment (see [`strays`]). The name is exported only for the
/// program: neither the shell nor the watching process has it.
const MINDER: &str = r#"
exec 3<&0 4<&2 </dev/null 2>&1
trap "" TERM
name=$1
shift
end_strays() {
  rounds=0 quiet=0
  while [ $quiet -lt 3 ] && [ $rounds -lt 50 ]; do
    rounds=$((rounds + 1)) quiet=$((quiet + 1))
    for one in $(grep -lszxF "BUB_AGENT_ID=$name" /proc/[0-9]*/environ); do
      one=${one#/proc/}
      kill -KILL ${one%/environ} && quiet=0
    done
    sleep 0.05
  done
}
(cat <&3; kill -TERM 0; sleep 2; end_strays; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&- 4<&-
trap : TERM
export BUB_AGENT_ID="$name"
(exec "$@")
exit $?
"#;

/// What is in the broker's own environment for `bub` is whoever's who started the broker: a token among it is none of
/// a program's that comes for anybody's message.
const OF_THE_BROKER: &str = "BUB_";

/// How the program connects where the port speaks TLS.
fn trust(orders: &Orders) -> io::Result<Vec<(&'static str, PathBuf)>> {
    let files = orders.own_agents.files();
    let given = [
        ("BUB_CA", files.trusted.into_iter().next()),
        ("BUB_CERT", files.cert),
        ("BUB_KEY", files.key),
    ];
    let given = given.into_iter().filter_map(|(name, path)| Some((name, path?)));
    // It starts in a folder of its own.
    given.map(|(name, path)| Ok((name, std::path::absolute(path)?))).collect()
}

/// A started program and all that it started in turn.
pub(super) struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
    name: AgentId,
    output: Receiver,
    log: File,
}

/// How a program ended.
pub(super) struct Ended {
    pub(super) well: bool,
    pub(super) words: String,
}

impl Child {
    pub(super) fn start(orders: &Orders, agent: &AgentId, topic: &Topic) -> io::Result<Self> {
        let workspace = DefaultHandler::workspaces(&orders.data_dir).join(agent.as_str());
        private_folder(&workspace)?;
        let folder = DefaultHandler::output_folder(&orders.data_dir);
        private_folder(&folder)?;
        let path = folder.join(format!("{agent}.log"));
        let log = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new("/bin/sh");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(OF_THE_BROKER.as_bytes()) {
                command.env_remove(name);
            }
        }
        let process = command
            .args(["-c", MINDER, "switchboard-minder", agent.as_str()])
            .args(&orders.command)
            .env("BUB_WORKSPACE", &workspace)
            .env("BUB_DEFAULT_TOPIC", topic.as_str())
            .env("BUB_BUS_URL", &orders.url)
            .envs(trust(orders)?)
            .current_dir(&workspace)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(writer)
            .stderr(reader.try_clone()?)
            .spawn()?;
        let group = process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let output = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        Ok(Self { process, group, name: agent.clone(), output, log })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id().unwrap_or_default()
    }

    /// Waits until it ends, or ends it when it is to stop. Nothing of it is left then.
    pub(super) async fn run(mut self, stop: CancellationToken) -> Ended {
        let mut output = tokio::spawn(keep(self.output, self.log));
        // Held here: waiting for a process closes its input, and with it the process would end.
        let life_line = self.process.stdin.take();
        let exit = tokio::select! {
            exit = self.process.wait() => exit,
            () = stop.cancelled() => {
                end(self.group, Signal::TERM);
                match tokio::time::timeout(PATIENCE, self.process.wait()).await {
                    Ok(exit) => exit,
                    Err(_) => {
                        end(self.group, Signal::KILL);
                        self.process.wait().await
                    }
                }
            }
        };
        // What the program left behind ends with it, first what has left the group: should the broker be killed meanwhile, the
        // watching process goes on with it. That one is of the group until standard input closes, so the group is still
        // there and still ours.
        end_strays(&self.name).await;
        end(self.group, Signal::KILL);
        drop(life_line);
        if tokio::time::timeout(PATIENCE, &mut output).await.is_err() {
            output.abort();
        }
        match exit {
            Ok(status) => Ended { well: status.success(), words: words(status) },
            Err(error) => Ended { well: false, words: format!("it was lost: {error}") },
        }
    }
}

fn end(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group
        && let Err(error) = kill_process_group(group, signal)
    {
        tracing::debug!(%error, "a process group has ended already");
    }
}

/// Ends what has left its group, for a session of its own. Looks again until nothing is found for a while: what has just
/// been started may be missed by one look, since for a moment it has no environment.
async fn end_strays(name: &AgentId) {
    let mut quiet = 0;
    for _ in 0..LOOKS {
        quiet += 1;
        let name = name.clone();
        let found = spawn_blocking(move || strays(&name)).await;
        for stray in found.unwrap_or_default() {
            match kill_process(stray, Signal::KILL) {
                Ok(()) => quiet = 0,
                Err(error) => tracing::debug!(%error, "a process has ended already"),
            }
        }
        if quiet == QUIET_LOOKS {
            return;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    tracing::warn!(%name, "some of what a program started could not be ended");
}

/// The processes that a program started, by the name that it gave them to inherit. One that has thrown its environment
/// away hides from this, and where there is no `/proc` all of them do.
fn strays(name: &AgentId) -> Vec<Pid> {
    let mark = format!("BUB_AGENT_ID={name}").into_bytes();
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_marked = |id: i32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == mark)
    };
    let ids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id| is_marked(*id)).filter_map(Pid::from_raw).collect()
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => "it ended".to_owned(),
        // The shell's way to say so.
        Some(127) => "the command was not found (exit code 127)".to_owned(),
        Some(126) => "the command cannot be run (exit code 126)".to_owned(),
        Some(code) => format!("it ended with exit code {code}"),
        None => format!("it was ended: {status}"),
    }
}

/// Keeps what a program writes, up to a limit; reads the rest too, so that it need not wait.
async fn keep(mut output: Receiver, mut log: File) {
    let mut buffer = vec![0; 16 * 1024];
    let mut kept = 0;
    while let Ok(read @ 1..) = output.read(&mut buffer).await {
        let room = read.min(KEPT.saturating_sub(kept));
        let written = log.write_all(&buffer[..room]).and_then(|()| {
            if kept < KEPT && kept + read >= KEPT {
                log.write_all(b"\n[what follows is not kept]\n")?;
            }
            Ok(())
        });
        if let Err(error) = written {
            tracing::warn!(%error, "what a started program wrote could not be kept");
        }
        kept += read;
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
