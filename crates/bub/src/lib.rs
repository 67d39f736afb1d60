//! The Rust client of Switchboard: for agents that talk over the bus door, and for operators.
//!
//! Read `bus` first: [`Bus`] is one agent's connection. [`Console`] asks a running broker what the
//! operator's screens show; it finds the broker through the [data folder](default_data_dir).
//! Both speak over a `stream`, with TLS where the address says so ([`TlsFiles`]). The program `bub` is these two behind a command line. Nothing here reads the environment
//! except [`default_data_dir`], and nothing decides what the broker decides.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bus;
mod console;
mod data_dir;
mod error;
mod stream;
mod tls;

pub use bus::{Ack, Answer, Bus, ClientInfo, Delivery, SendOptions, SendResult};
pub use console::{Console, Feed};
pub use data_dir::{Endpoint, default_data_dir};
pub use error::Error;
pub use tls::TlsFiles;
