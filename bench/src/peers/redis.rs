//! Redis: channels, and lists in an append-only file.

use super::{Server, find};
use crate::Outcome;
use crate::lab::{Cores, Lab, on};
use crate::process::{Process, spare_address};

pub(crate) const PROGRAM: &str = "redis-server";

/// When the append-only file reaches the disk.
#[derive(Clone, Copy)]
pub(crate) enum Append {
    /// There is none.
    No,
    /// Once a second.
    EverySecond,
    /// Before every answer.
    Always,
}

/// None if it is not installed.
pub(crate) async fn start(lab: &Lab, append: Append) -> Outcome<Option<Server>> {
    let Some(program) = find(PROGRAM) else {
        return Ok(None);
    };
    let (address, folder) = (spare_address()?, lab.folder("redis")?);
    let (only, sync) = match append {
        Append::No => ("no", "no"),
        Append::EverySecond => ("yes", "everysec"),
        Append::Always => ("yes", "always"),
    };
    let mut command = on(Cores::All, program);
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string(), "--save", ""]);
    command.args(["--appendonly", only, "--appendfsync", sync, "--loglevel", "warning", "--dir"]);
    command.arg(&folder);
    Ok(Some(Server { process: Process::start(command)?.listens(address).await?, address, folder }))
}
