//! The broker's clock: the only place that reads the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use switchboard_model::Timestamp;
use tokio::time::Instant;

/// In microseconds.
const WORTH_A_WORD: u64 = 2_000_000;

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

    /// By how many microseconds the time of day was set since then, where that is worth a word: a clock that is
    /// kept in time by the network is set by less, all the time.
    pub(crate) fn set_since(self, then: Self) -> Option<i64> {
        let passed = self.monotonic.saturating_duration_since(then.monotonic);
        let by = self.wall.0.saturating_sub(then.wall.plus(passed).0);
        (by.unsigned_abs() >= WORTH_A_WORD).then_some(by)
    }
}

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "this is the clock that everyone else must use")]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
