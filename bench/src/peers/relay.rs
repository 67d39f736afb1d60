//! The bare relay: `crate::relay` in a process of its own.

use tokio::process::Command;

use super::Server;
use crate::Outcome;
use crate::lab::{Cores, Lab};
use crate::process::Process;

pub(crate) async fn start(lab: &Lab, cores: Cores) -> Outcome<Server> {
    start_by(lab, lab.role("relay", cores)).await
}

/// One that does one `fdatasync` for every message.
pub(crate) async fn syncing(lab: &Lab, cores: Cores) -> Outcome<Server> {
    let mut command = lab.role("relay", cores);
    command.arg(lab.folder("pages")?.join("file"));
    start_by(lab, command).await
}

async fn start_by(lab: &Lab, command: Command) -> Outcome<Server> {
    let mut process = Process::start(command)?;
    let address = process.line_after("listening on ws://").await?.parse()?;
    Ok(Server { process, address, folder: lab.folder("relay")? })
}
