//! Stories: what Switchboard does, seen from outside, over real sockets and on real files.
//!
//! `board` starts a broker; `peer`, `lobby_agent`, `collab_agent` and `mail_agent` are clients of its doors that say
//! exactly what they are told to, over a `socket`; `program` is a real `switchboardd` process, `secured` a broker
//! with TLS and clients of it that are not ours. Each other file tells of one part.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a story fails by panicking")]

mod board;
mod collab_agent;
mod lobby_agent;
mod mail_agent;
mod peer;
mod program;
mod secured;
mod socket;

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
