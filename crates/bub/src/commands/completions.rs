//! `bub completions`: the script that teaches a shell our commands.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;
use crate::output;

/// Print a completion script, such as for `source <(bub completions bash)`
#[derive(Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "bub", &mut script);
        output::line(String::from_utf8_lossy(&script).trim_end())
    }
}
