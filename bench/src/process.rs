//! A server in a process of its own, and what it costs.

use std::ffi::OsStr;
use std::future::Future;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::Outcome;
use crate::load::Measured;

const READY: &str = "listening on ";
const PATIENCE: Duration = Duration::from_secs(20);
/// The kernel counts processor time in ticks; Linux shows 100 a second on every architecture.
const TICK_MICROS: u64 = 10_000;
/// A server that used no more than one tick of this time is at rest.
const REST: Duration = Duration::from_millis(100);
/// A server that never rests is measured all the same.
const LONGEST_REST: Duration = Duration::from_secs(3);

/// A running server. It is ended when dropped.
pub(crate) struct Server {
    url: String,
    pid: u32,
    _child: Child,
}

/// A measurement and the processor time that the server spent on it.
pub(crate) struct Costed {
    pub(crate) measured: Measured,
    pub(crate) cpu_micros: u64,
}

impl Server {
    /// Starts a program and waits for the line that says where it listens.
    pub(crate) async fn start(program: &Path, args: &[&OsStr]) -> Outcome<Self> {
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().ok_or("the server ended at once")?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let ready = tokio::time::timeout(PATIENCE, ready(&mut lines)).await;
        let url = ready.map_err(|_| format!("{} is not ready", program.display()))??;
        // Whatever it says later must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { url, pid, _child: child })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Lets a measurement run and adds what it cost the server. Work that the server puts off is
    /// part of that cost, and shall not disturb the next measurement: so it is awaited.
    pub(crate) async fn cost_of(
        &self,
        measurement: impl Future<Output = Outcome<Measured>>,
    ) -> Outcome<Costed> {
        let before = self.cpu_micros()?;
        let measured = measurement.await?;
        let after = self.quiet().await?;
        Ok(Costed { measured, cpu_micros: after - before })
    }

    /// Waits until the server rests; its processor time then.
    async fn quiet(&self) -> Outcome<u64> {
        let give_up = Instant::now() + LONGEST_REST;
        let mut before = self.cpu_micros()?;
        loop {
            tokio::time::sleep(REST).await;
            let now = self.cpu_micros()?;
            if now - before <= TICK_MICROS || Instant::now() > give_up {
                return Ok(now);
            }
            before = now;
        }
    }

    fn cpu_micros(&self) -> Outcome<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid))?;
        ticks(&stat).map(|ticks| ticks * TICK_MICROS).ok_or_else(|| "no /proc/PID/stat".into())
    }
}

async fn ready(lines: &mut Lines<BufReader<ChildStdout>>) -> Outcome<String> {
    while let Some(line) = lines.next_line().await? {
        if let Some(url) = line.strip_prefix(READY) {
            return Ok(url.trim().to_owned());
        }
    }
    Err("the server ended before it was ready".into())
}

/// User and system time; the name before them may hold anything but ends at the last parenthesis.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_whatever_the_program_is_called() {
        let stat = "12 (a) b c) S 1 12 12 0 -1 4194304 100 0 0 0 700 41 0 0 20 0 4 0 55 1 2";
        assert_eq!(ticks(stat), Some(741));
        assert_eq!(ticks("nonsense"), None);
    }
}
