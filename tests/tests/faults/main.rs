//! Faults survived: what was acknowledged is still there, whatever happens to the process and to the disk.
//!
//! Each file is a proof; `PROVE=full` asks for its full size.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a proof fails by panicking")]

mod bit_flips;
mod busy;
mod disk;
mod failing_disk;
mod kill_9;
mod older;
mod power_cut;
mod strace;
mod trace;
mod wire;
