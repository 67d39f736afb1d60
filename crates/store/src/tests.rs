//! Behaviour of the store as a whole.

mod at_once;
mod attempts;
mod batches;
mod counting;
mod failing;
mod kept;
mod letters;
mod moments;
mod opening;
mod reading;
mod retaining;
mod sample;
mod sealed;
mod searching;
mod statements;
mod throughput;
mod upkeep;
