//! strace beside a broker: it writes down system calls, or lets one fail.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use switchboard_tests::program::{Program, path_of};
use switchboard_tests::{PATIENCE, eventually};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A broker that strace has started. It ends when this does.
pub(crate) struct Traced {
    pub(crate) program: Program,
    /// The broker's own process.
    pid: Option<u32>,
}

impl Traced {
    /// Starts one with these arguments of strace, and waits until it is ready; or returns what was said when it ended
    /// before.
    pub(crate) async fn start(arguments: &[String], folder: &Path) -> Result<Self, String> {
        let mut command = Command::new("strace");
        command.args(arguments).arg(path_of("switchboardd")).arg("--data-dir").arg(folder);
        command.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let program = Program::spawn(command, folder).await?;
        let endpoint = bub::Endpoint::read(folder).unwrap().expect("a broker that is ready");
        Ok(Self { program, pid: Some(endpoint.pid) })
    }

    /// Ends the broker, and waits for strace to end with it.
    pub(crate) async fn end(mut self, signal: Signal) {
        send(self.pid.take().unwrap(), signal);
        eventually("strace has ended with the broker", async || {
            self.program.has_ended().then_some(())
        })
        .await;
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        // strace would leave it alone.
        self.pid.into_iter().for_each(|pid| send(pid, Signal::KILL));
    }
}

fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    // It may have ended by itself.
    kill_process(pid, signal).ok();
}

/// strace that lets calls of one thread fail, as long as it lives.
pub(crate) struct Injector {
    strace: Child,
    record: PathBuf,
}

impl Injector {
    /// Lets the nth of these calls of the thread with this name fail, once, counted from now.
    pub(crate) async fn attach(process: u32, thread: &str, fault: &Fault, record: &Path) -> Self {
        let task = thread_of(process, thread).to_string();
        // Where others may not be traced, the administrator may.
        let may = rustix::process::geteuid().is_root();
        let mut command = if may { Command::new("strace") } else { Command::new("sudo") };
        if !may {
            command.args(["-n", "strace"]);
        }
        command.args(fault.arguments(record)).args(["-p", &task]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut strace = command.spawn().unwrap();
        let mut said = BufReader::new(strace.stderr.take().unwrap()).lines();
        let attached = async {
            while let Some(line) = said.next_line().await.unwrap() {
                if line.contains("attached") {
                    return;
                }
            }
            panic!("strace could not attach");
        };
        tokio::time::timeout(PATIENCE, attached).await.expect("strace did not attach");
        Self { strace, record: record.to_owned() }
    }

    /// How many calls have failed so far.
    pub(crate) fn failed(&self) -> usize {
        failed(&self.record)
    }

    /// Lets go of the thread.
    pub(crate) async fn detach(mut self) -> usize {
        send(self.strace.id().unwrap(), Signal::INT);
        tokio::time::timeout(PATIENCE, self.strace.wait()).await.expect("strace hangs").unwrap();
        failed(&self.record)
    }
}

/// How many calls strace let fail.
pub(crate) fn failed(record: &Path) -> usize {
    let record = std::fs::read_to_string(record).unwrap_or_default();
    record.lines().filter(|line| line.contains("(INJECTED)")).count()
}

/// One call that fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) call: &'static str,
    pub(crate) error: &'static str,
    /// Which of those calls, counted from 1, in each thread that is traced.
    pub(crate) nth: u64,
}

impl Fault {
    pub(crate) fn arguments(&self, record: &Path) -> Vec<String> {
        let Self { call, error, nth } = self;
        let inject = format!("inject={call}:error={error}:when={nth}");
        let trace = format!("trace={call}");
        let arguments =
            ["-e", &trace, "-e", &inject, "-e", "signal=none", "-o", record.to_str().unwrap()];
        arguments.map(str::to_owned).to_vec()
    }
}

fn thread_of(process: u32, name: &str) -> u32 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let is_it = |task: &Path| {
        std::fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name)
    };
    let task = tasks.map(|task| task.unwrap().path()).find(|task| is_it(task));
    let task = task.unwrap_or_else(|| panic!("no thread is named {name}"));
    task.file_name().unwrap().to_str().unwrap().parse().unwrap()
}
