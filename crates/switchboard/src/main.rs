//! `switchboardd`: the broker and its console, without a window.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use switchboardd::{Options, asked_to_stop, log_to_stderr, start};

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
    let ready = format!("listening on {}\nconsole at {}\n", running.url(), running.console_url());
    if let Err(error) = std::io::stdout().lock().write_all(ready.as_bytes()) {
        tracing::warn!(%error, "nobody reads that the broker is ready");
    }
    told_to_stop.await;
    running.stop().await;
    ExitCode::SUCCESS
}
