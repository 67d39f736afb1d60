//! `switchboardd`: the broker and its console, without a window.

use std::pin::pin;
use std::process::ExitCode;

use clap::Parser;
use switchboardd::{Options, asked_to_stop, log_to_stderr, say, start, start_again};

#[tokio::main]
async fn main() -> ExitCode {
    let log = log_to_stderr();
    let options = Options { log, ..Options::parse() };
    let mut told_to_stop = pin!(asked_to_stop());
    let running = match start(options).await {
        Ok(running) => running,
        Err(error) => {
            eprintln!("switchboardd: {error}");
            return ExitCode::from(error.exit_code());
        }
    };
    say(&format!("listening on {}\nconsole at {}\n", running.url(), running.console_url()));
    let (ended, again) = tokio::select! {
        () = &mut told_to_stop => (ExitCode::SUCCESS, None),
        () = running.failed() => (ExitCode::FAILURE, None),
        () = running.restart_wanted() => (ExitCode::FAILURE, Some(running.again())),
    };
    running.stop().await;
    let Some(again) = again else { return ended };
    tokio::select! {
        biased;
        // Whoever wants the program to end means also the one that would come after it.
        () = told_to_stop => ExitCode::SUCCESS,
        error = async { start_again(&again) } => {
            eprintln!("switchboardd: cannot start anew: {error}");
            ended
        }
    }
}
