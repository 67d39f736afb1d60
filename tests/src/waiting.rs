//! How a test waits: for the thing itself, and not for ever.

use std::time::Duration;

/// How long anything may take before a test fails. Never waited for where all is well.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Asks again until there is an answer; fails with `what` when there is none for too long.
pub async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(answer) => answer,
        Err(_) => panic!("not in time: {what}"),
    }
}
