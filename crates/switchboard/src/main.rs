//! `switchboardd`: the broker and its console, without a window.

use std::process::ExitCode;

use clap::Parser;
use switchboardd::{Options, asked_to_stop, log_to_stderr, say, start};

#[tokio::main]
async fn main() -> ExitCode {
    log_to_stderr();
    let options = Options::parse();
    let told_to_stop = asked_to_stop();
    let running = match start(options).await {
        Ok(running) => running,
        Err(error) => {
            eprintln!("switchboardd: {error}");
            return ExitCode::from(error.exit_code());
        }
    };
    say(&format!("listening on {}\nconsole at {}\n", running.url(), running.console_url()));
    let ended = tokio::select! {
        () = told_to_stop => ExitCode::SUCCESS,
        () = running.failed() => ExitCode::FAILURE,
    };
    running.stop().await;
    ended
}
