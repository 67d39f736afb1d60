//! The store's only look at the clock. Everything that is recorded carries the broker's time; this is
//! for deciding what is old.

use std::time::SystemTime;

use switchboard_model::Timestamp;

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "the one place in the store that reads the clock")]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    Timestamp(i64::try_from(micros).unwrap_or(i64::MAX))
}
