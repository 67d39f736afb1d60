//! The bare relay: `crate::relay` in a process of its own.

use super::Server;
use crate::Outcome;
use crate::lab::{Cores, Lab};
use crate::process::Process;

pub(crate) async fn start(lab: &Lab, cores: Cores) -> Outcome<Server> {
    let mut process = Process::start(lab.role("relay", cores))?;
    let address = process.line_after("listening on ws://").await?.parse()?;
    Ok(Server { process, address, folder: lab.folder("relay")? })
}
