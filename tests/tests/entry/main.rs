//! Nobody gets in where they do not belong: proofs with figures, for docs/PROOFS.md.
//!
//! `source` reads from the sources which routes and methods there are, so that a new one cannot be forgotten; `ask` is
//! a client that sends exactly the head it is told to, from any address of this machine. Each other file is one proof.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a proof fails by panicking")]

mod ask;
mod source;

mod announcements;
mod children;
mod consoles;
mod guarded;
mod methods;
mod secrets;
mod supply;
mod terminal;
