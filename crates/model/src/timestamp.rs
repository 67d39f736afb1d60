//! A point in time on the broker's clock.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use ts_rs::TS;

/// Microseconds since 1970, UTC. Written as ISO 8601 wherever people or agents read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, TS)]
#[ts(as = "String")]
pub struct Timestamp(pub i64);

const ISO: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

impl Timestamp {
    /// Microseconds from `earlier` to this point; none if the clock went backwards.
    pub fn micros_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// This point, that much later.
    #[must_use]
    pub fn plus(self, delay: Duration) -> Self {
        let micros = i64::try_from(delay.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// `2026-11-16T10:30:00.000000Z`.
    pub fn to_iso(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1000)
            .ok()
            .and_then(|at| at.format(ISO).ok())
            .unwrap_or_else(|| format!("{}us", self.0))
    }

    /// Reads any RFC 3339 time.
    pub fn parse_iso(text: &str) -> Option<Self> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(at.unix_timestamp_nanos() / 1000).ok().map(Self)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_iso())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_iso(&text).ok_or_else(|| serde::de::Error::custom("not an ISO 8601 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_reads_what_it_writes() {
        let at = Timestamp(1_763_258_400_123_456);
        assert_eq!(at.to_iso(), "2025-11-16T02:00:00.123456Z");
        assert_eq!(Timestamp::parse_iso(&at.to_iso()), Some(at));
    }

    #[test]
    fn a_clock_that_went_backwards_gives_no_duration() {
        assert_eq!(Timestamp(5).micros_since(Timestamp(9)), 0);
    }
}
