//! One measurement: everyone asks until the time is over, and every answer's time is kept.

use std::time::{Duration, Instant};

use super::engine::{Answer, Engine};
use super::plan::{Measured, Order};
use crate::Outcome;

/// A server that answers nothing for so long while it owes an answer is broken.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How often those that keep to a rate see whether they are behind.
const BEAT: Duration = Duration::from_millis(1);

pub(super) fn measure(engine: &mut Engine, order: &Order) -> Outcome<Measured> {
    if let Order::Serve { calls } = order {
        return serve(engine, *calls);
    }
    let (begun, heard) = (Instant::now(), engine.heard);
    let mut run = Run {
        engine,
        more: More { order: *order, begun, asked: 0 },
        times: Vec::with_capacity(1 << 20),
        answers: Vec::new(),
        under_way: 0,
        idle: Vec::new(),
        answered: begun,
    };
    run.begin()?;
    while run.go_on()? {}
    let (elapsed, heard) = (begun.elapsed(), run.engine.heard - heard);
    summary(&mut run.times, elapsed, heard)
}

/// Answers calls. The first starts the clock: nobody knows when somebody will begin to ask.
fn serve(engine: &mut Engine, calls: u64) -> Outcome<Measured> {
    let (before, mut begun) = (engine.calls, None);
    let give_up = Instant::now() + PATIENCE;
    while engine.calls - before < calls {
        engine.turn(LOOK, &mut Vec::new())?;
        engine.flush()?;
        let came = engine.calls - before;
        if came > 0 {
            begun.get_or_insert_with(Instant::now);
        }
        if Instant::now() > give_up {
            return Err(format!("only {came} of {calls} calls came").into());
        }
    }
    let seconds = begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
    let operations = engine.calls - before;
    Ok(Measured { operations, seconds, p50: 0.0, p99: 0.0, p999: 0.0, heard: 0 })
}

struct Run<'a> {
    engine: &'a mut Engine,
    more: More,
    times: Vec<u32>,
    answers: Vec<Answer>,
    under_way: usize,
    /// Connections and slots that wait for their time to ask.
    idle: Vec<(usize, usize)>,
    /// When the last answer came.
    answered: Instant,
}

impl Run<'_> {
    fn begin(&mut self) -> Outcome<()> {
        for number in 0..self.engine.connections.len() {
            for slot in 0..self.engine.connections[number].slots.len() {
                self.ask_or_wait(number, slot, Instant::now());
            }
        }
        self.engine.flush()
    }

    /// One turn. Whether there is more to do.
    fn go_on(&mut self) -> Outcome<bool> {
        let longest = if self.idle.is_empty() { LOOK } else { BEAT };
        self.engine.turn(longest, &mut self.answers)?;
        let now = Instant::now();
        if !self.answers.is_empty() || self.under_way == 0 {
            self.answered = now;
        } else if now - self.answered > PATIENCE {
            return Err(format!("{} questions are not answered", self.under_way).into());
        }
        for answer in std::mem::take(&mut self.answers) {
            let connection = &mut self.engine.connections[answer.connection];
            if let Some(slot) = connection.answered(answer.id)? {
                self.times.push(nanos(now - connection.slots[slot].asked));
                self.under_way -= 1;
                self.ask_or_wait(answer.connection, slot, now);
            }
        }
        for (number, slot) in std::mem::take(&mut self.idle) {
            self.ask_or_wait(number, slot, now);
        }
        self.engine.flush()?;
        Ok(self.under_way > 0 || !self.idle.is_empty())
    }

    fn ask_or_wait(&mut self, number: usize, slot: usize, now: Instant) {
        match self.more.next(now) {
            Next::Ask => {
                self.engine.connections[number].ask(slot, now);
                self.engine.dirty.push(number);
                self.under_way += 1;
            }
            Next::Wait => self.idle.push((number, slot)),
            Next::Stop => {}
        }
    }
}

/// Whether there is more to ask.
struct More {
    order: Order,
    begun: Instant,
    asked: u64,
}

#[derive(Debug, PartialEq)]
enum Next {
    Ask,
    Wait,
    Stop,
}

impl More {
    fn next(&mut self, now: Instant) -> Next {
        let elapsed = now.saturating_duration_since(self.begun).as_secs_f64();
        let next = match self.order {
            Order::For { seconds } if elapsed < seconds => Next::Ask,
            Order::Times { count } if self.asked < count => Next::Ask,
            Order::Paced { rate, seconds } if elapsed < seconds => {
                if (self.asked as f64) < elapsed * rate { Next::Ask } else { Next::Wait }
            }
            Order::For { .. } | Order::Times { .. } | Order::Paced { .. } | Order::Serve { .. } => {
                Next::Stop
            }
        };
        self.asked += u64::from(next == Next::Ask);
        next
    }
}

/// Four seconds and more are all the same here.
fn nanos(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}

fn summary(times: &mut [u32], elapsed: Duration, heard: u64) -> Outcome<Measured> {
    times.sort_unstable();
    let at = |part: f64| percentile(times, part).ok_or("no answer came at all");
    Ok(Measured {
        operations: times.len() as u64,
        seconds: elapsed.as_secs_f64(),
        p50: at(0.5)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
        heard,
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
    fn a_rate_is_kept_and_a_count_is_not_exceeded() {
        let begun = Instant::now();
        let at = |millis| begun + Duration::from_millis(millis);
        let more = |order| More { order, begun, asked: 0 };
        let mut paced = more(Order::Paced { rate: 1000.0, seconds: 1.0 });
        assert_eq!([paced.next(at(1)), paced.next(at(1))], [Next::Ask, Next::Wait]);
        assert_eq!([paced.next(at(2)), paced.next(at(1000))], [Next::Ask, Next::Stop]);
        let mut times = more(Order::Times { count: 1 });
        assert_eq!([times.next(at(0)), times.next(at(0))], [Next::Ask, Next::Stop]);
        let mut span = more(Order::For { seconds: 0.5 });
        assert_eq!([span.next(at(499)), span.next(at(500))], [Next::Ask, Next::Stop]);
    }

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
