//! Behaviour of the store as a whole.

mod batches;
mod failing;
mod letters;
mod opening;
mod reading;
mod retaining;
mod sample;
mod searching;
mod statements;
mod throughput;
