//! Switchboard itself.

use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Row};

use super::Server;
use crate::Outcome;
use crate::lab::{Cores, Lab};
use crate::process::Process;

/// What an acknowledgement means: the setting `durability.synchronous`.
#[derive(Clone, Copy)]
pub(crate) enum Synchronous {
    Full,
    Normal,
}

pub(crate) async fn start(lab: &Lab, synchronous: Synchronous, cores: Cores) -> Outcome<Server> {
    let folder = lab.folder("switchboard")?;
    std::fs::write(folder.join("switchboard.toml"), settings(synchronous))?;
    start_in(lab, folder, cores).await
}

/// Starts on a folder that is there already.
pub(crate) async fn start_in(lab: &Lab, folder: PathBuf, cores: Cores) -> Outcome<Server> {
    let mut command = lab.switchboardd(cores);
    command.args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(&folder).env("RUST_LOG", "warn");
    let mut process = Process::start(command)?;
    let address = process.line_after("listening on ws://").await?.parse()?;
    Ok(Server { process, address, folder })
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
