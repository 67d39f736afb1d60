//! What both programs do around the broker: say what happens, and hear when to stop.

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Writes what happens to stderr, as much of it as `RUST_LOG` asks for. Call it once, first.
pub fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

/// Returns when the system or the person at the terminal wants the program to end.
pub async fn asked_to_stop() {
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
