//! The broker's clock: the only place that reads the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use switchboard_model::Timestamp;
use tokio::time::Instant;

/// One moment, on both clocks: the time of day for records, the other for deadlines, which must
/// not move when someone sets the time of day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) wall: Timestamp,
    pub(crate) monotonic: Instant,
}

impl Now {
    pub(crate) fn read() -> Self {
        Self { wall: now(), monotonic: Instant::now() }
    }
}

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "this is the clock that everyone else must use")]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
