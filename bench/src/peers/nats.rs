//! NATS: core messages, which are kept nowhere, and JetStream, which keeps them in files.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{Server, find};
use crate::Outcome;
use crate::lab::{Cores, Lab, on};
use crate::process::{Process, spare_address};

pub(crate) const PROGRAM: &str = "nats-server";

/// When JetStream's files reach the disk.
#[derive(Clone, Copy)]
pub(crate) enum Sync {
    /// Every two minutes, as it comes.
    Default,
    /// Before every acknowledgement.
    Always,
}

/// Core messages alone; none if it is not installed.
pub(crate) async fn core(lab: &Lab, cores: Cores) -> Outcome<Option<Server>> {
    let Some(program) = find(PROGRAM) else {
        return Ok(None);
    };
    let address = spare_address()?;
    let mut command = on(cores, program);
    command.args(["--addr", "127.0.0.1", "--port", &address.port().to_string()]);
    let folder = lab.folder("nats")?;
    command.arg("--log").arg(folder.join("log"));
    Ok(Some(Server { process: Process::start(command)?.listens(address).await?, address, folder }))
}

/// With a stream in files for everything under `stream.`; none if it is not installed, or too old to sync.
pub(crate) async fn jetstream(lab: &Lab, sync: Sync) -> Outcome<Option<Server>> {
    let program = match sync {
        Sync::Default => find(PROGRAM),
        Sync::Always => newer().or_else(|| find(PROGRAM)),
    };
    let Some(program) = program else {
        return Ok(None);
    };
    let address = spare_address()?;
    let folder = lab.folder("jetstream")?;
    let interval = match sync {
        Sync::Default => "",
        Sync::Always => "sync_interval: always\n",
    };
    let settings = format!(
        "listen: \"{address}\"\nlog_file: \"{0}/log\"\njetstream {{\n store_dir: \"{0}\"\n{interval}}}\n",
        folder.display()
    );
    let file = folder.join("nats.conf");
    std::fs::write(&file, settings)?;
    // A setting that it does not know is one of a newer release.
    let check = on(Cores::All, &program).arg("-t").arg("--config").arg(&file).output().await?;
    if !check.status.success() {
        return Ok(None);
    }
    let mut command = on(Cores::All, &program);
    command.arg("--config").arg(&file);
    let process = Process::start(command)?.listens(address).await?;
    make_stream(address).await?;
    Ok(Some(Server { process, address, folder }))
}

/// One that can sync always, where `./dev` has put it beside an older one of the system's.
fn newer() -> Option<PathBuf> {
    std::env::var_os("NATS_THAT_SYNCS").map(PathBuf::from).filter(|program| program.is_file())
}

async fn make_stream(address: SocketAddr) -> Outcome<()> {
    let stream = r#"{"name":"BENCH","subjects":["stream.>"],"storage":"file","retention":"limits","num_replicas":1}"#;
    let request = format!(
        "CONNECT {{\"verbose\":false}}\r\nSUB made 1\r\nPUB $JS.API.STREAM.CREATE.BENCH made {}\r\n{stream}\r\n",
        stream.len()
    );
    let mut connection = BufReader::new(TcpStream::connect(address).await?);
    connection.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    while !line.starts_with("MSG made") {
        line.clear();
        if connection.read_line(&mut line).await? == 0 {
            return Err("NATS hung up".into());
        }
    }
    line.clear();
    connection.read_line(&mut line).await?;
    if line.contains(r#""error""#) {
        return Err(format!("NATS makes no stream: {line}").into());
    }
    Ok(())
}
