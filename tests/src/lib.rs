//! What the tests have in common: a real broker, clients of its doors that say exactly what they are told to, and
//! proofs.
//!
//! `broker` is what agents and the operator need of a running broker; `program` a real `switchboardd` process; `socket`
//! what a client says and hears, `peer`, `lobby_agent`, `collab_agent` and `mail_agent` the clients. `proof` counts the
//! cases of a promise and writes down what came of them, for docs/PROOFS.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a test fails by panicking, and is its own documentation"
)]

pub mod broker;
pub mod collab_agent;
pub mod lobby_agent;
pub mod mail_agent;
pub mod peer;
pub mod program;
pub mod proof;
pub mod socket;
pub mod waiting;

pub use broker::Broker;
pub use proof::Proof;
pub use waiting::{PATIENCE, eventually};
