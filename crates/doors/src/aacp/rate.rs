//! How fast one agent may send.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use switchboard_model::AgentId;

/// Agents that are watched at the same time. Beyond it those that have not sent for longest are
/// forgotten; they start with a full bucket again.
const WATCHED: usize = 10_000;

/// How fast: a bucket of `burst` drops, refilled at `per_second`.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    per_second: f64,
    burst: f64,
}

impl Pace {
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: f64::from(per_second.max(1)), burst: f64::from(burst.max(1)) }
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.drops + seconds * self.per_second).min(self.burst)
    }
}

/// A bucket for each agent.
#[derive(Default)]
pub(super) struct Rate {
    buckets: Mutex<HashMap<AgentId, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    drops: f64,
    at: Instant,
}

impl Rate {
    /// Takes a drop. Where there is none, says in how long there will be.
    pub(super) fn take(&self, agent: &AgentId, pace: Pace, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= WATCHED && !buckets.contains_key(agent) {
            forget_full(&mut buckets, pace, now);
        }
        let full = Bucket { drops: pace.burst, at: now };
        let bucket = buckets.entry(agent.clone()).or_insert(full);
        bucket.drops = pace.filled(*bucket, now);
        bucket.at = now;
        if bucket.drops < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.drops) / pace.per_second));
        }
        bucket.drops -= 1.0;
        Ok(())
    }
}

fn forget_full(buckets: &mut HashMap<AgentId, Bucket>, pace: Pace, now: Instant) {
    buckets.retain(|_, bucket| pace.filled(*bucket, now) < pace.burst);
    if buckets.len() >= WATCHED {
        let oldest = buckets.iter().min_by_key(|(_, bucket)| bucket.at);
        if let Some(agent) = oldest.map(|(agent, _)| agent.clone()) {
            buckets.remove(&agent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(name: &str) -> AgentId {
        AgentId::parse(name).unwrap()
    }

    #[test]
    fn a_burst_passes_and_then_so_many_a_second_for_each_agent() {
        let (rate, pace) = (Rate::default(), Pace::new(10, 3));
        let start = Instant::now();
        for _ in 0..3 {
            assert!(rate.take(&agent("a"), pace, start).is_ok());
        }
        let wait = rate.take(&agent("a"), pace, start).unwrap_err();
        assert!(wait <= Duration::from_millis(100) && wait > Duration::from_millis(90), "{wait:?}");
        assert!(rate.take(&agent("b"), pace, start).is_ok(), "another agent has its own");
        assert!(rate.take(&agent("a"), pace, start + Duration::from_millis(101)).is_ok());
        assert!(rate.take(&agent("a"), pace, start + Duration::from_millis(102)).is_err());
    }

    #[test]
    fn many_names_do_not_fill_the_memory() {
        let (rate, pace) = (Rate::default(), Pace::new(1, 2));
        let start = Instant::now();
        for n in 0..WATCHED + 50 {
            assert!(rate.take(&agent(&format!("a{n}")), pace, start).is_ok());
        }
        assert!(rate.buckets.lock().unwrap().len() <= WATCHED);
    }
}
