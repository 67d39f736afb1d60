//! Discovery among machines: our side in one network namespace, others' programs in another, and a
//! cable between them. Needs root, since it makes networks; without it, says so and passes.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod avahi;
mod brokers;
mod datagrams;
mod documents;
mod links;
mod netns;
mod ours;
mod program;
mod zeroconf;

use std::time::Duration;

/// Far longer than anything here takes, and shorter than the lives of the records of multicast DNS; only
/// a failure waits for it.
const LONG: Duration = Duration::from_secs(30);

async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("{what} did not come"))
}
