//! A small certificate authority in a folder: for the port of a broker and for its clients.
//!
//! Read `authority`: it makes certificates and revokes them. `ledger` is what it remembers of them,
//! `machine` the names of this machine, `files` how they are written. Everything is an ordinary PEM file
//! that other programs can use; nothing here speaks TLS.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod authority;
mod error;
mod files;
mod ledger;
mod machine;
#[cfg(test)]
mod tests;

pub use authority::{Authority, serial_of};
pub use error::Error;
pub use ledger::{Issued, Kind};
