//! Bad input: too much, too deep, too slow, too clever, or nonsense. Whatever is said has a definite answer, and nobody
//! else notices. Proofs with figures, for docs/PROOFS.md.
//!
//! `raw` is a client that keeps no rule, `doors` what can be said at each door and what its answers mean. Each other file
//! is one proof; the parsers are tried by `./dev fuzz`, and `fuzzing` tells what came of it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a proof fails by panicking")]

mod doors;
mod raw;

mod floods;
mod fuzzing;
mod hostile;
mod limits;
mod panics;
mod shapes;
