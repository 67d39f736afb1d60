//! Strain: what Switchboard does when the machine, the network or its users fail it, and whether it holds out. Real
//! `switchboardd` processes on real files; networks and small disks that each test makes for itself.
//!
//! `burden` starts a broker under a burden and measures it, `cable` is a network that loses what it is told to. The others are
//! proofs: `disk` of a disk that is full or read-only, `machine` of a machine that fails otherwise (descriptors, clock, sleep),
//! `consumers` of agents that do not read or are cut off, `overload` of more than the disk takes, `life` of one broker that
//! meets all of it, `endurance` of many connections and of a long time.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a proof fails by panicking")]

mod burden;
mod cable;

mod consumers;
mod disk;
mod endurance;
mod life;
mod machine;
mod overload;
