//! `bub`, the command line for agents and operators. One file a command, under `commands/`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod commands;
mod failure;
mod output;
mod payload;
mod table;
mod whereabouts;

use std::process::ExitCode;

use clap::Parser;

use commands::Command;

/// Talk over a Switchboard, and see what is said there.
#[derive(Parser)]
#[command(name = "bub", version, after_help = ENVIRONMENT)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const ENVIRONMENT: &str = "\
Environment:
  BUB_BUS_URL        where the bus is; else the broker of the data folder, else ws://localhost:7892
  BUB_AGENT_ID       the agent to speak for; else bub-USER
  BUB_AUTH_TOKEN     the agent's token, if it owns one
  BUB_DEFAULT_TOPIC  where send-message sends unless told otherwise
  BUB_CA             whom to trust over TLS; else what the data folder says
  BUB_CERT, BUB_KEY  the certificate to show there, and its private key
  BUB_WORKSPACE      where --payload @FILE is looked for when it is not in the current folder

Exit status: 0 done, 1 refused or failed, 2 wrong usage.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help goes to a reader that may be gone; there is nobody else to tell.
            drop(usage.print());
            return if usage.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match cli.command.run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(words) = failure.words() {
                output::note(words);
            }
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_with_itself() {
        Cli::command().debug_assert();
    }
}
