//! Switchboard itself.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Row};
use tokio::process::Command;

use super::Server;
use crate::Outcome;
use crate::lab::{Cores, Lab, on};
use crate::process::Process;

const SETTINGS: &str = "switchboard.toml";

/// What an acknowledgement means: the setting `durability.synchronous`.
#[derive(Clone, Copy)]
pub(crate) enum Synchronous {
    Full,
    Normal,
}

pub(crate) async fn start(lab: &Lab, synchronous: Synchronous, cores: Cores) -> Outcome<Server> {
    start_in(lab, folder(lab, synchronous)?, cores).await
}

/// A new folder with nothing in it but settings.
pub(crate) fn folder(lab: &Lab, synchronous: Synchronous) -> Outcome<PathBuf> {
    let folder = lab.folder("switchboard")?;
    std::fs::write(folder.join(SETTINGS), settings(synchronous))?;
    Ok(folder)
}

/// Starts on a folder that is there already.
pub(crate) async fn start_in(lab: &Lab, folder: PathBuf, cores: Cores) -> Outcome<Server> {
    start_by(on(cores, lab.program()), folder).await
}

/// Starts by a command that ends with the program.
pub(crate) async fn start_by(mut command: Command, folder: PathBuf) -> Outcome<Server> {
    command.args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(&folder).env("RUST_LOG", "warn");
    let mut process = Process::start(command)?;
    let address = process.line_after("listening on ws://").await?.parse()?;
    Ok(Server { process, address, folder })
}

/// Fills a folder with so many messages, unless that was done before.
pub(crate) async fn fill(fill: &Path, folder: &Path, messages: u64) -> Outcome<()> {
    let done = folder.join("filled");
    if done.exists() {
        return Ok(());
    }
    let ended = Command::new(fill)
        .arg(folder)
        .arg(messages.to_string())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .status()
        .await?;
    if !ended.success() {
        return Err(format!("{} failed", fill.display()).into());
    }
    // Nothing of it is ever too old.
    let kept =
        format!("{}[retention]\ndays = 36500\nmax_mb = 1000000\n", settings(Synchronous::Full));
    std::fs::write(folder.join(SETTINGS), kept)?;
    Ok(std::fs::write(done, messages.to_string())?)
}

/// Other brokers on this machine are none of its business while it is measured. Limits that protect it from strangers
/// are raised where a scenario would be stopped by them.
fn settings(synchronous: Synchronous) -> String {
    let synchronous = match synchronous {
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
    };
    format!(
        "[durability]\nsynchronous = \"{synchronous}\"\n\
         [discovery]\nmdns = false\n\
         [aacp]\nrate_per_second = 1000000\nburst = 1000000\n\
         [limits]\nqueue = 10000000\nconnections = 20000\nsubscriptions = 10000\n"
    )
}

/// How many messages to a topic are in the database of a data folder.
pub(crate) async fn rows(folder: &Path, topic: &str) -> Outcome<u64> {
    let file = folder.join("switchboard.db");
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut database: SqliteConnection = options.connect().await?;
    let row = sqlx::query("select count(*) from message where topic = ?")
        .bind(topic)
        .fetch_one(&mut database)
        .await?;
    Ok(u64::try_from(row.try_get::<i64, _>(0)?)?)
}
