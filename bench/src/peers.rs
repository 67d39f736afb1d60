//! The servers that are compared: Switchboard, others of its kind, and bare limits. Each is started afresh for a
//! scenario, on a spare port of this machine, with a folder of its own that is deleted afterwards.

pub(crate) mod echo;
pub(crate) mod mosquitto;
pub(crate) mod nats;
pub(crate) mod redis;
pub(crate) mod relay;
pub(crate) mod sqlite;
pub(crate) mod switchboard;

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::process::Process;

/// A running server.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    /// Where it keeps what it keeps.
    pub(crate) folder: PathBuf,
}

/// Which of the others are not installed; they are left out.
pub(crate) fn missing() -> Vec<&'static str> {
    let all = [nats::PROGRAM, mosquitto::PROGRAM, redis::PROGRAM];
    all.into_iter().filter(|program| !installed(program)).collect()
}

/// Whether a program is found. Debian keeps servers where not everyone looks.
fn installed(program: &str) -> bool {
    find(program).is_some()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}
