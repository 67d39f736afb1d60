//! Stories: what Switchboard does, seen from outside, over real sockets and on real files.
//!
//! `board` starts a broker; its clients are those that all tests share. `secured` is a broker with TLS and clients of it
//! that are not ours. Each other file tells of one part.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a story fails by panicking")]

use switchboard_tests::{collab_agent, lobby_agent, mail_agent, peer, program, socket};

mod board;
mod secured;

mod announced;
mod asleep;
mod bus_delivery;
mod bus_limits;
mod bus_protocol;
mod bus_retry;
mod collaboration;
mod console;
mod control;
mod crash;
mod crash_at_work;
mod dead_letters;
mod guard;
mod held_to_it;
mod house;
mod identity;
mod lobby;
mod looking_closer;
mod mailboxes;
mod new_doors;
mod observing;
mod past;
mod preview;
mod programs;
mod recovery;
mod rules;
mod tls;
mod tls_at_start;
mod under_load;
mod unrouted;
mod ways_around;
mod what_if;
