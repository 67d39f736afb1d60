//! `switchboardd`: the broker and its console, without a window.

use std::process::ExitCode;

use clap::Parser;
use switchboardd::{Options, asked_to_stop, log_to_stderr, start};

#[tokio::main]
async fn main() -> ExitCode {
    log_to_stderr();
    let running = match start(Options::parse()).await {
        Ok(running) => running,
        Err(error) => {
            eprintln!("switchboardd: {error}");
            return ExitCode::from(error.exit_code());
        }
    };
    println!("listening on {}", running.url());
    println!("console at {}", running.console_url());
    asked_to_stop().await;
    running.stop().await;
    ExitCode::SUCCESS
}
