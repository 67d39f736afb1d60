//! The command line, the same for the desktop app and for `switchboardd`.

use std::path::PathBuf;

use clap::Parser;

use crate::{Log, StartError};

/// A message broker for AI agents, with a console that shows what they say to each other.
#[derive(Clone, Debug, Default, Parser)]
#[command(version)]
pub struct Options {
    /// The folder with the database, the settings and the operator's token
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The address to listen on; port 0 picks a free one [default: 127.0.0.1:7892]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// The settings file [default: switchboard.toml in the data folder]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Start a small cast of agents that show what the console can do
    #[arg(long)]
    pub demo: bool,
    /// The port that port 0 picked before a restart
    #[arg(long, value_name = "PORT", hide = true)]
    pub port_before: Option<u16>,
    /// Where the last warnings are kept, as [`crate::log_to_stderr`] gives it; an empty one if none is given.
    #[arg(skip)]
    pub log: Log,
}

impl Options {
    /// The data folder: the one that was given, else the user's own.
    pub fn data_dir(&self) -> Result<PathBuf, StartError> {
        let given = self.data_dir.clone().or_else(bub::default_data_dir);
        given.ok_or(StartError::NoDataDir)
    }
}
