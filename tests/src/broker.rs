//! A running broker, in this process or another.

use serde_json::Value;

/// What agents and the operator need of it.
pub trait Broker: Sync {
    /// `ws://127.0.0.1:PORT`
    fn url(&self) -> &str;

    /// `127.0.0.1:PORT`
    fn address(&self) -> &str {
        self.url().split_once("://").unwrap().1
    }

    /// The operator asks, and must be answered.
    fn call(&self, method: &str, params: Value) -> impl Future<Output = Value> + Send;
}

/// The five states that every accepted message is in one of.
pub const STATES: [&str; 5] = ["processed", "waiting", "dead", "discarded", "expired"];

/// How much more was accepted than is accounted for in these totals of the console's feed: 0, or the promise is broken.
pub fn unaccounted(totals: &Value) -> i64 {
    let count = |state: &str| totals[state].as_i64().unwrap();
    count("accepted") - STATES.into_iter().map(count).sum::<i64>()
}
