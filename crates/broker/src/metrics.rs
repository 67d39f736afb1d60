//! What is counted and measured while the broker runs: plain counters that the core adds to and anyone
//! may read. No names, no text: how they are shown is for others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_model::{Door, Effect, Kind, Message, Priority};

/// Upper bounds of the buckets of a histogram, in milliseconds: from what a local agent takes to what
/// a model takes.
const BOUNDS_MS: [f64; 16] = [
    0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10_000.0,
    30_000.0, 300_000.0,
];

/// Handles to the counters. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    /// By kind, priority and door.
    sent: [[[AtomicU64; 6]; 4]; 4],
    latency: [Buckets; 6],
    refused: AtomicU64,
    allowed: AtomicU64,
    denied: AtomicU64,
    deliveries: AtomicU64,
    calls: AtomicU64,
}

#[derive(Debug, Default)]
struct Buckets {
    counts: [AtomicU64; BOUNDS_MS.len() + 1],
    sum_micros: AtomicU64,
}

/// A histogram as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Upper bound in milliseconds and how many were not above it.
    pub buckets: Vec<(f64, u64)>,
    /// How many there were.
    pub count: u64,
    /// Their sum in milliseconds.
    pub sum_ms: f64,
}

impl Metrics {
    pub(crate) fn sent(&self, message: &Message) {
        let by_kind = &self.0.sent[message.kind as usize];
        let counter = &by_kind[message.priority as usize][message.door as usize];
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// A request was answered after so long.
    pub(crate) fn answered(&self, door: Door, micros: u64) {
        let buckets = &self.0.latency[door as usize];
        #[expect(clippy::cast_precision_loss, reason = "a bucket is not that precise")]
        let ms = micros as f64 / 1000.0;
        let at = BOUNDS_MS.partition_point(|bound| *bound < ms);
        buckets.counts[at].fetch_add(1, Ordering::Relaxed);
        buckets.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.0.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn decided(&self, effect: Effect) {
        let counter = match effect {
            Effect::Allow => &self.0.allowed,
            Effect::Deny => &self.0.denied,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn show_depth(&self, deliveries: usize, calls: usize) {
        self.0.deliveries.store(deliveries as u64, Ordering::Relaxed);
        self.0.calls.store(calls as u64, Ordering::Relaxed);
    }

    /// Messages that were accepted, by kind, priority and door; those of which there were any.
    pub fn messages_sent(&self) -> Vec<(Kind, Priority, Door, u64)> {
        let mut list = Vec::new();
        for kind in Kind::ALL {
            for priority in Priority::ALL {
                for door in Door::ALL {
                    let counter = &self.0.sent[kind as usize][priority as usize][door as usize];
                    let count = counter.load(Ordering::Relaxed);
                    if count > 0 {
                        list.push((kind, priority, door, count));
                    }
                }
            }
        }
        list
    }

    /// How long requests by each door waited for their answers.
    pub fn latency(&self) -> Vec<(Door, Histogram)> {
        let of = |door: Door| {
            let buckets = &self.0.latency[door as usize];
            let mut below = 0;
            let mut list = Vec::with_capacity(BOUNDS_MS.len());
            for (bound, count) in BOUNDS_MS.iter().zip(&buckets.counts) {
                below += count.load(Ordering::Relaxed);
                list.push((*bound, below));
            }
            let above = buckets.counts.last().map_or(0, |last| last.load(Ordering::Relaxed));
            #[expect(clippy::cast_precision_loss, reason = "a sum is not that precise")]
            let sum_ms = buckets.sum_micros.load(Ordering::Relaxed) as f64 / 1000.0;
            Histogram { buckets: list, count: below + above, sum_ms }
        };
        let all = Door::ALL.into_iter().map(|door| (door, of(door)));
        all.filter(|(_, histogram)| histogram.count > 0).collect()
    }

    /// Messages that were not accepted because of a rule, a schema or an unknown name.
    pub fn messages_refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Decisions, by what was decided.
    pub fn decisions(&self) -> [(Effect, u64); 2] {
        [
            (Effect::Allow, self.0.allowed.load(Ordering::Relaxed)),
            (Effect::Deny, self.0.denied.load(Ordering::Relaxed)),
        ]
    }

    /// Deliveries that wait, are in someone's hands or are to be tried again.
    pub fn open_deliveries(&self) -> u64 {
        self.0.deliveries.load(Ordering::Relaxed)
    }

    /// Requests that wait for an answer.
    pub fn open_calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_what_is_not_above_each_bound() {
        let metrics = Metrics::default();
        for micros in [400, 500, 501, 20_000, 900_000_000] {
            metrics.answered(Door::Lobby, micros);
        }
        let [(Door::Lobby, histogram)] = &metrics.latency()[..] else { panic!("one door") };
        assert_eq!(histogram.buckets[0], (0.5, 2));
        assert_eq!(histogram.buckets[1], (1.0, 3));
        assert_eq!(histogram.buckets.last(), Some(&(300_000.0, 4)));
        assert_eq!(histogram.count, 5);
        assert!((histogram.sum_ms - 900_021.401).abs() < 0.001);
    }
}
