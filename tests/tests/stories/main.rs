//! Stories: what Switchboard does, seen from outside, over real sockets and on real files.
//!
//! `board` starts a broker, `peer` is a client that says exactly what it is told to, `program` is a
//! real `switchboardd` process. Each other file tells of one part.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a story fails by panicking")]

mod board;
mod peer;
mod program;

mod asleep;
mod bus_delivery;
mod bus_limits;
mod bus_protocol;
mod bus_retry;
mod console;
mod crash;
mod crash_at_work;
mod dead_letters;
mod guard;
mod programs;
mod recovery;
mod unrouted;
mod what_if;
