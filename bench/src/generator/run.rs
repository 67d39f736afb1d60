//! One measurement: everyone asks until the time is over, and every answer's time is kept.

use std::time::{Duration, Instant};

use super::engine::Engine;
use super::plan::{Measured, Order};
use crate::Outcome;

pub(super) fn measure(engine: &mut Engine, order: &Order) -> Outcome<Measured> {
    let Order::For { seconds } = order;
    let begun = Instant::now();
    let until = begun + Duration::from_secs_f64(*seconds);
    let mut times: Vec<u32> = Vec::with_capacity(1 << 20);
    let mut answers = Vec::new();
    let mut under_way = 0_usize;
    for (number, connection) in engine.connections.iter_mut().enumerate() {
        for slot in 0..connection.slots.len() {
            connection.ask(slot, Instant::now());
            under_way += 1;
        }
        if !connection.slots.is_empty() {
            engine.dirty.push(number);
        }
    }
    engine.flush()?;
    while under_way > 0 {
        engine.turn(&mut answers)?;
        let now = Instant::now();
        for answer in answers.drain(..) {
            let connection = &mut engine.connections[answer.connection];
            let slot = connection.slot_of(answer.id)?;
            times.push(nanos(now - connection.slots[slot].asked));
            if now < until {
                connection.ask(slot, now);
                engine.dirty.push(answer.connection);
            } else {
                under_way -= 1;
            }
        }
        engine.flush()?;
    }
    summary(&mut times, begun.elapsed())
}

/// Four seconds and more are all the same here.
fn nanos(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}

fn summary(times: &mut [u32], elapsed: Duration) -> Outcome<Measured> {
    times.sort_unstable();
    let at = |part: f64| percentile(times, part).ok_or("no answer came at all");
    Ok(Measured {
        operations: times.len() as u64,
        seconds: elapsed.as_secs_f64(),
        p50: at(0.5)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
    })
}

/// The time within which this part of the answers came, in microseconds; `times` are sorted nanoseconds.
fn percentile(times: &[u32], part: f64) -> Option<f64> {
    let rank = (times.len() as f64 * part).ceil() as usize;
    times.get(rank.saturating_sub(1)).map(|nanos| f64::from(*nanos) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_time_within_which_so_many_came() {
        let times: Vec<u32> = (1..=1000).map(|number| number * 1000).collect();
        assert_eq!(percentile(&times, 0.5), Some(500.0));
        assert_eq!(percentile(&times, 0.99), Some(990.0));
        assert_eq!(percentile(&times, 0.999), Some(999.0));
        assert_eq!(percentile(&times, 1.0), Some(1000.0));
        assert_eq!(percentile(&[5000], 0.999), Some(5.0), "of one time, every part is that one");
        assert_eq!(percentile(&[], 0.5), None);
    }
}
