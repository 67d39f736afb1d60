//! `bub backup`: copies of the database, made while the broker runs.

use std::path::Path;
use std::time::Duration;

use bub::Console;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_model::Timestamp;
use tokio::time::sleep;

use crate::failure::Failure;
use crate::output::{self, date_time, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// Copy the database while the broker runs, and put a copy back
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Backup {
    #[command(subcommand)]
    what: Option<What>,
    /// One JSON document
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
Without a command a copy is made, and its file is printed when it is whole.
A copy that is put back takes the place of the database at the next start; what it replaces is kept beside the
copies, as replaced-….db.

Examples:
  bub backup
  bub backup list
  bub backup restore switchboard-20261116-103000.db && bub restart";

#[derive(Subcommand)]
enum What {
    /// Show the copies, newest first
    List,
    /// Let a copy take the place of the database at the next start
    Restore {
        /// Its name as in the list, or a path
        #[arg(value_name = "FILE", required_unless_present = "cancel")]
        file: Option<String>,
        /// Take the wish back
        #[arg(long, conflicts_with = "file")]
        cancel: bool,
    },
    /// Delete a copy
    Delete {
        /// Its name as in the list
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Storage {
    backups: Vec<Copy>,
    work: Option<Work>,
    restoring: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Copy {
    name: String,
    file: String,
    bytes: u64,
    made_at: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Work {
    done: f64,
    ended_at: Option<Timestamp>,
    result: Option<String>,
    failed: bool,
}

impl Backup {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let console = self.operator.console()?;
        match self.what {
            None => make(&console, self.json).await,
            Some(What::List) => list(&console, self.json).await,
            Some(What::Restore { file, .. }) => restore(&console, file, self.json).await,
            Some(What::Delete { name }) => delete(&console, &name, self.json).await,
        }
    }
}

async fn make(console: &Console, as_json: bool) -> Result<(), Failure> {
    let mut storage: Storage = console.call("backUp", json!({})).await?;
    let mut told = 0.0;
    let work = loop {
        match storage.work {
            Some(work) if work.ended_at.is_some() => break work,
            Some(work) if work.done >= told + 0.1 => {
                told = work.done;
                output::note(&format!("{:.0} % copied", told * 100.0));
            }
            Some(_) | None => {}
        }
        sleep(Duration::from_millis(200)).await;
        storage = console.call("storage", json!({})).await?;
    };
    if work.failed {
        return Err(Failure::Failed(work.result.unwrap_or_else(|| "no copy was made".to_owned())));
    }
    let made = |copy: &&Copy| work.result.as_ref().is_some_and(|words| words.contains(&copy.file));
    let Some(copy) = storage.backups.iter().find(made) else {
        return Err(Failure::Failed("the copy is gone already".to_owned()));
    };
    if as_json {
        let copy = json!({"name": copy.name, "file": copy.file, "bytes": copy.bytes, "madeAt": copy.made_at});
        return output::line(&copy.to_string());
    }
    output::line(&copy.file)
}

async fn list(console: &Console, as_json: bool) -> Result<(), Failure> {
    if as_json {
        #[derive(Deserialize)]
        struct Raw {
            backups: Box<RawValue>,
        }
        let raw: Raw = console.call("storage", json!({})).await?;
        return output::line(raw.backups.get());
    }
    let storage: Storage = console.call("storage", json!({})).await?;
    if storage.backups.is_empty() {
        output::note("no copies: bub backup makes one");
        return Ok(());
    }
    let row = |copy: &Copy| {
        let mb = format!("{:.1} MB", copy.bytes as f64 / 1_048_576.0);
        [visible(&copy.name).into_owned(), mb, date_time(copy.made_at)]
    };
    let rows: Vec<_> = storage.backups.iter().map(row).collect();
    Table::new(["NAME", "SIZE", "MADE"]).print(&rows)?;
    if let Some(file) = storage.restoring {
        output::note(&format!("at the next start {} takes the database's place", visible(&file)));
    }
    Ok(())
}

async fn restore(console: &Console, file: Option<String>, as_json: bool) -> Result<(), Failure> {
    // A path is one from here; a name is one among the copies.
    let file = match file {
        Some(file) if file.contains('/') => {
            Some(std::path::absolute(Path::new(&file))?.display().to_string())
        }
        other => other,
    };
    let storage: Storage = console.call("restoreBackup", json!({"file": file})).await?;
    if as_json {
        return output::line(&json!({"restoring": storage.restoring}).to_string());
    }
    match storage.restoring {
        Some(file) => {
            output::line(&format!(
                "{} takes the database's place at the next start",
                visible(&file)
            ))?;
            output::note("now: bub restart; not at all: bub backup restore --cancel");
        }
        None => output::line("the database stays as it is")?,
    }
    Ok(())
}

async fn delete(console: &Console, name: &str, as_json: bool) -> Result<(), Failure> {
    let _: Value = console.call("deleteBackup", json!({"name": name})).await?;
    if as_json {
        return output::line(&json!({"name": name, "deleted": true}).to_string());
    }
    output::line(&format!("{} is deleted", visible(name)))
}
