//! `switchboardd`: the broker and its console, without a window.

use std::process::ExitCode;

use clap::Parser;
use switchboardd::{Options, start};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
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

/// Returns when the system or the person at the terminal wants the program to end.
async fn asked_to_stop() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        tracing::error!("signals cannot be heard; the program can only be killed");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
