//! What the operator sees and does: typed calls and a live feed.
//!
//! Read `api` first: every call, its parameters and its answer, declared once; the TypeScript of
//! the screens is generated from it. `desk` answers calls, `feed` tells what happens, `recent`
//! measures and remembers the last moments, `http` carries calls and feed to browsers and to `bub`.
//! `premises` is what it asks of the program around the broker.
//! The desktop window carries the same over its own bridge.
//! Decides nothing: whatever changes anything is submitted to the broker.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod api;
mod desk;
mod feed;
pub mod http;
mod premises;
mod recent;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use desk::fuzzing;
pub use desk::{Console, Parts};
pub use feed::Feed;
pub use premises::{Doing, Forms, Premises};
