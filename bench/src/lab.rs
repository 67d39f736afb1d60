//! Where measurements are made: the programs, the folder for what they write, how often and how long.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::process::Command;

use crate::Outcome;
use crate::peers::switchboard;

pub(crate) struct Lab {
    /// This program, which is also the generator and the bare servers.
    this: PathBuf,
    switchboardd: PathBuf,
    /// What takes long to make and is used again.
    kept: PathBuf,
    scratch: TempDir,
    /// Whether the database of 5 GB may be made.
    full: bool,
    /// How often each side is measured.
    pub(crate) rounds: usize,
    /// How long each time.
    pub(crate) span: Duration,
}

/// What all sides of the scenario that writes most write while each is measured for a second.
const MB_A_SECOND: f64 = 500.0;
/// What is left to others.
const SPARE_MB: u64 = 512;
/// What the search looks through.
const MILLION: u64 = 1_000_000;
/// So many messages are 5 GB.
const GIGABYTES: u64 = 14_500_000;

/// Where processes may run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cores {
    All,
    /// Everything on one core: what a request costs then is the sum of all work, and nothing is hidden by what
    /// happens at the same time elsewhere.
    One,
}

impl Lab {
    pub(crate) fn open(
        switchboardd: Option<PathBuf>,
        rounds: usize,
        span: Duration,
        full: bool,
    ) -> Outcome<Self> {
        let this = std::env::current_exe()?;
        let beside = this.parent().unwrap_or(Path::new("."));
        let switchboardd = switchboardd.unwrap_or_else(|| beside.join("switchboardd"));
        if !switchboardd.exists() {
            let advice = "build it with `cargo build --release -p switchboardd`";
            return Err(format!("{} is missing: {advice}", switchboardd.display()).into());
        }
        // Beside the programs and not under /tmp, which is often kept in memory: the disk is part of what is measured.
        let kept = beside.with_file_name("bench-data");
        std::fs::create_dir_all(&kept)?;
        let scratch = tempfile::Builder::new().prefix("run-").tempdir_in(&kept)?;
        Ok(Self { this, switchboardd, kept, scratch, full, rounds, span })
    }

    /// A folder with a long history: of 1,000,000 messages, or of 5 GB where that was once asked for.
    pub(crate) async fn history(&self) -> Outcome<PathBuf> {
        let folder = |messages: u64| self.kept.join(format!("messages-{messages}"));
        let large = self.full || folder(GIGABYTES).join("filled").exists();
        let messages = if large { GIGABYTES } else { MILLION };
        let fill = self.this.with_file_name("fill");
        switchboard::fill(&fill, &folder(messages), messages).await?;
        Ok(folder(messages))
    }

    /// Deletes what the servers of a scenario left, which may be gigabytes.
    pub(crate) fn clean(&self) -> Outcome<()> {
        for entry in std::fs::read_dir(&self.scratch)? {
            std::fs::remove_dir_all(entry?.path())?;
        }
        Ok(())
    }

    /// Fails where a scenario could fill the disk: others need it too, and a full one measures nothing.
    pub(crate) fn check_room(&self) -> Outcome<()> {
        let free = fs4::available_space(&self.kept)? >> 20;
        // The first turn of each side is not counted, and writes all the same.
        let seconds = self.span.as_secs_f64() * (self.rounds + 1) as f64;
        let wanted = (seconds * MB_A_SECOND) as u64 + SPARE_MB;
        if free < wanted {
            let place = self.kept.display();
            return Err(format!("{free} MB are free at {place}, and {wanted} may be needed").into());
        }
        Ok(())
    }

    /// A new folder for one server.
    pub(crate) fn folder(&self, name: &str) -> Outcome<PathBuf> {
        let made =
            tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(&self.scratch)?;
        Ok(made.keep())
    }

    /// The program that is measured.
    pub(crate) fn program(&self) -> &Path {
        &self.switchboardd
    }

    /// This program in one of its other roles.
    pub(crate) fn role(&self, role: &str, cores: Cores) -> Command {
        let mut command = on(cores, self.this.as_os_str());
        command.arg(role);
        command
    }
}

/// A program that runs on these cores from its start, so that it also counts no more than these.
pub(crate) fn on(cores: Cores, program: impl AsRef<OsStr>) -> Command {
    match cores {
        Cores::All => Command::new(program),
        Cores::One => {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", "0"]).arg(program);
            command
        }
    }
}
