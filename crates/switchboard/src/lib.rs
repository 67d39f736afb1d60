//! Assembly: settings in, a running broker out.
//!
//! Read `start`, which puts the rungs together in the order of the ladder and takes them apart in
//! reverse. `options` is the command line, `settings` the file `switchboard.toml`, `secrets` the
//! operator's token, `identity` the broker's name on the network, `program` what both programs share,
//! `handler` the default handler for what nobody listens for, `metrics` and `traces` what others can watch,
//! `tls` what protects the port, with `keys` and `certificates`; `finder` looks for others on the network, and
//! `premises` is what the operator can do about all that, `log`, `troubles` and `diagnostics` what helps when something is wrong, `again`
//! a restart; `demo` a small cast of agents that talk over real sockets.
//! `switchboardd` is this without a window; the desktop app is this with one.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod again;
mod certificates;
mod demo;
mod diagnostics;
mod endpoint;
mod error;
mod finder;
mod forms;
mod handler;
mod identity;
mod keys;
mod log;
mod metrics;
mod options;
mod premises;
mod program;
mod secrets;
mod settings;
mod start;
mod tls;
mod traces;
mod troubles;

use mimalloc::MiMalloc;

/// A fifth of the time of a message went into the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

pub use again::start_again;
pub use error::StartError;
pub use log::Log;
pub use options::Options;
pub use program::{asked_to_stop, log_to_stderr, say};
pub use settings::Settings;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use settings::fuzzing;
pub use start::{Running, start};
