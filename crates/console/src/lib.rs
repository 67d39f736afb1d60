//! What the operator sees and does: typed calls and a live feed.
//!
//! Read `api` first: every call, its parameters and its answer, declared once; the TypeScript of
//! the screens is generated from it. `desk` answers calls, `feed` tells what happens, `http` carries
//! both to browsers and to `bub`. The desktop window carries the same over its own bridge.
//! Decides nothing: whatever changes anything is submitted to the broker.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod api;
