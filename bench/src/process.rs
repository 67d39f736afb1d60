//! A process that was started here: a server, or a load generator. It is ended when dropped.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use crate::Outcome;
use crate::usage::{self, Cpu};

const PATIENCE: Duration = Duration::from_secs(180);
/// A process that used less than a hundredth of this time is at rest.
const REST: Duration = Duration::from_millis(100);
/// One that never rests is measured all the same.
const LONGEST_REST: Duration = Duration::from_secs(3);

pub(crate) struct Process {
    pid: u32,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// Ended when this is dropped, if it was not before.
    _child: Child,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Outcome<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{:?} does not start: {error}", command.as_std()))?;
        let pid = child.id().ok_or("the process ended at once")?;
        let input = child.stdin.take().ok_or("the process has no input")?;
        let output = child.stdout.take().ok_or("the process has no output")?;
        Ok(Self { pid, input, output: BufReader::new(output).lines(), _child: child })
    }

    /// The next line it says.
    pub(crate) async fn line(&mut self) -> Outcome<String> {
        let line = timeout(PATIENCE, self.output.next_line()).await;
        let line = line.map_err(|_| "a process of the bench says nothing")??;
        line.ok_or_else(|| "a process of the bench ended".into())
    }

    /// Waits for a line that begins so; the rest of it.
    pub(crate) async fn line_after(&mut self, beginning: &str) -> Outcome<String> {
        loop {
            let line = self.line().await?;
            if let Some(rest) = line.strip_prefix(beginning) {
                return Ok(rest.trim().to_owned());
            }
        }
    }

    pub(crate) async fn tell(&mut self, line: &str) -> Outcome<()> {
        self.input.write_all(line.as_bytes()).await?;
        Ok(self.input.write_all(b"\n").await?)
    }

    /// Waits until something listens at the address.
    pub(crate) async fn listens(self, address: SocketAddr) -> Outcome<Self> {
        let give_up = Instant::now() + PATIENCE;
        while TcpStream::connect(address).await.is_err() {
            if Instant::now() > give_up {
                return Err(format!("nothing listens on {address}").into());
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(self)
    }

    pub(crate) fn cpu(&self) -> Outcome<Cpu> {
        Cpu::of(self.pid)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn memory_kib(&self) -> Outcome<f64> {
        usage::memory_kib(self.pid)
    }

    /// Asks it to end, and waits until it has.
    pub(crate) async fn stop(&self) -> Outcome<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or("no such process")?;
        kill_process(pid, Signal::TERM)?;
        let give_up = Instant::now() + PATIENCE;
        // What has ended has no program any more, whoever still has to hear of it.
        while std::fs::read_link(format!("/proc/{}/exe", self.pid)).is_ok() {
            if Instant::now() > give_up {
                return Err("a process of the bench does not end".into());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// Waits until it rests. Work that a server puts off is part of what was asked of it, and shall not disturb the
    /// next measurement.
    pub(crate) async fn rest(&self) -> Outcome<Cpu> {
        let give_up = Instant::now() + LONGEST_REST;
        let mut before = self.cpu()?;
        loop {
            sleep(REST).await;
            let now = self.cpu()?;
            let used = now.micros_since(&before);
            if used < REST.as_micros() as f64 / 100.0 || Instant::now() > give_up {
                return Ok(now);
            }
            before = now;
        }
    }
}

/// An address on this machine that nobody listens on. Somebody could take it before the server does; then the server
/// says so and ends.
pub(crate) fn spare_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
