//! Programs that others wrote: clients of every generation of the bus protocol and of the other doors,
//! and the example agents.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod broker;
mod doors;
mod examples;
mod generations;
mod program;
