//! What both programs do around the broker: say what happens, and hear when to stop.

use std::io::{IsTerminal, Write};

use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::Log;

/// What these libraries tell below this level is what goes over a connection, tokens included. It is not written down,
/// whatever `RUST_LOG` asks for.
const QUIET: [&str; 5] =
    ["tungstenite=info", "tokio_tungstenite=info", "hyper=info", "hyper_util=info", "rustls=info"];

/// Writes what happens to stderr, as much of it as `RUST_LOG` asks for; with
/// `SWITCHBOARD_LOG_FORMAT=json` a JSON object a line; panics too. Call it once, first. Returns the last warnings and
/// errors, for [`crate::Options::log`].
pub fn log_to_stderr() -> Log {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let quiet = QUIET.iter().filter_map(|directive| directive.parse().ok());
    let filter = quiet.fold(filter, EnvFilter::add_directive);
    let log = fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        // A log that cannot be written must not end what it tells of.
        .log_internal_errors(false);
    let as_json = std::env::var("SWITCHBOARD_LOG_FORMAT").is_ok_and(|format| format == "json");
    let written = if as_json { log.json().boxed() } else { log.boxed() };
    let last = Log::default();
    let kept = last.clone().with_filter(LevelFilter::WARN);
    tracing_subscriber::registry().with(written.with_filter(filter)).with(kept).init();
    let told = last.clone();
    std::panic::set_hook(Box::new(move |panic| told.panicked(panic)));
    last
}

/// Writes to stdout. That nobody reads it is no reason to end.
pub fn say(text: &str) {
    if let Err(error) = std::io::stdout().lock().write_all(text.as_bytes()) {
        tracing::warn!(%error, "nobody reads what is said on stdout");
    }
}

/// Ends when the system or the person at the terminal wants the program to end. It listens from
/// the call on, not only when it is awaited: whoever starts a program may want to end it at once.
pub fn asked_to_stop() -> impl Future<Output = ()> {
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async {
        let (Ok(mut terminate), Ok(mut interrupt)) = signals else {
            tracing::error!("signals cannot be heard; the program can only be killed");
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}
