//! mosquitto, a broker for MQTT.

use std::process::Stdio;

use super::{Server, find};
use crate::Outcome;
use crate::lab::{Cores, Lab, on};
use crate::process::{Process, spare_address};

pub(crate) const PROGRAM: &str = "mosquitto";

/// None if it is not installed.
pub(crate) async fn start(lab: &Lab) -> Outcome<Option<Server>> {
    let Some(program) = find(PROGRAM) else {
        return Ok(None);
    };
    let (address, folder) = (spare_address()?, lab.folder("mosquitto")?);
    let file = folder.join("mosquitto.conf");
    let settings = format!(
        "listener {} 127.0.0.1\nallow_anonymous true\nmax_inflight_messages 0\nset_tcp_nodelay true\n\
         persistence_location {}/\nlog_dest none\nuser {}\n",
        address.port(),
        folder.display(),
        std::env::var("USER").unwrap_or_else(|_| "root".into()),
    );
    std::fs::write(&file, settings)?;
    let mut command = on(Cores::All, program);
    // It warns of nothing that matters for a minute.
    command.arg("-c").arg(file).stderr(Stdio::null());
    Ok(Some(Server { process: Process::start(command)?.listens(address).await?, address, folder }))
}
