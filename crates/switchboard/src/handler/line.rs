//! The messages that are owed an answer: some wait until a program can be started for them, for the
//! others it was started and is watched. Pure.

use std::collections::VecDeque;
use std::time::Duration;

use switchboard_model::{AttemptId, Timestamp, Topic};
use tokio::time::Instant;

/// Messages that wait for a start. Who comes when there are so many is to come later.
const MOST: usize = 1000;
/// How long one waits for a start; less where answers must come sooner.
const HELD: Duration = Duration::from_secs(10);
/// How long a program is given to subscribe, or to fail at once; less where answers must come sooner.
const WATCHED: Duration = Duration::from_secs(2);

/// A message on a topic that nobody listens to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) attempt: AttemptId,
    pub(super) topic: Topic,
    /// When the handler heard of it.
    pub(super) at: Timestamp,
}

/// What a message in the line waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WaitsFor {
    /// That its program can be started.
    Start,
    /// That its program, which was started, subscribes or fails.
    Program,
}

/// First come, first served.
pub(super) struct Line {
    places: VecDeque<Place>,
    /// How long an answer may take.
    timeout: Duration,
}

struct Place {
    asked: Asked,
    came: Instant,
    waits_for: WaitsFor,
    until: Instant,
}

impl Line {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { places: VecDeque::new(), timeout }
    }

    /// How long one waits for a start at most.
    pub(super) fn held(&self) -> Duration {
        HELD.min(self.timeout * 8 / 10)
    }

    /// Takes in one that needs a start; hands it back when too many wait already.
    pub(super) fn wait(&mut self, asked: Asked, now: Instant) -> Result<(), Asked> {
        let starts = self.places.iter().filter(|one| one.waits_for == WaitsFor::Start);
        if starts.count() >= MOST {
            return Err(asked);
        }
        let until = now + self.held();
        self.places.push_back(Place { asked, came: now, waits_for: WaitsFor::Start, until });
        Ok(())
    }

    /// Takes in one whose program runs already.
    pub(super) fn watch(&mut self, asked: Asked, now: Instant) {
        let until = watched_until(self.timeout, now, now);
        self.places.push_back(Place { asked, came: now, waits_for: WaitsFor::Program, until });
    }

    /// The topic that is next to be started for.
    pub(super) fn next_topic(&self) -> Option<&Topic> {
        let mut places = self.places.iter();
        places.find(|one| one.waits_for == WaitsFor::Start).map(|one| &one.asked.topic)
    }

    /// The program for a topic was started, for everyone who waits for it.
    pub(super) fn started(&mut self, topic: &Topic, now: Instant) {
        let timeout = self.timeout;
        for one in &mut self.places {
            if one.waits_for == WaitsFor::Start && one.asked.topic == *topic {
                one.waits_for = WaitsFor::Program;
                one.until = watched_until(timeout, one.came, now);
            }
        }
    }

    /// Those of them leave the line.
    pub(super) fn take(&mut self, which: impl Fn(&Asked) -> bool) -> Vec<Asked> {
        self.leave(|one| which(&one.asked)).into_iter().map(|one| one.asked).collect()
    }

    /// Those who cannot wait any longer leave the line.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<(Asked, WaitsFor)> {
        let due = self.leave(|one| one.until <= now).into_iter();
        due.map(|one| (one.asked, one.waits_for)).collect()
    }

    fn leave(&mut self, which: impl Fn(&Place) -> bool) -> VecDeque<Place> {
        let (leaving, staying) = std::mem::take(&mut self.places).into_iter().partition(which);
        self.places = staying;
        leaving
    }

    /// When the first of them cannot wait any longer.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.places.iter().map(|one| one.until).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// Long enough to see how the program does, and soon enough to be in time for one that came so
/// long before its program.
fn watched_until(timeout: Duration, came: Instant, now: Instant) -> Instant {
    (now + WATCHED.min(timeout / 2)).min(came + timeout * 9 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_model::DeliveryId;

    const TIMEOUT: Duration = Duration::from_secs(30);

    fn asked(number: u64, topic: &str) -> Asked {
        let attempt = AttemptId(DeliveryId(number), 1);
        Asked { attempt, topic: Topic::parse(topic).unwrap(), at: Timestamp(0) }
    }

    fn next(line: &Line) -> Option<&str> {
        line.next_topic().map(Topic::as_str)
    }

    #[test]
    fn who_comes_first_is_started_for_first_and_everyone_on_a_topic_at_once() {
        let (mut line, now) = (Line::new(TIMEOUT), Instant::now());
        for (number, topic) in [(1, "a"), (2, "b"), (3, "a"), (4, "c")] {
            line.wait(asked(number, topic), now).unwrap();
        }
        assert_eq!(next(&line), Some("a"));
        line.started(&Topic::parse("a").unwrap(), now);
        assert_eq!(next(&line), Some("b"), "the second message on a topic needs no second start");
        let taken = line.take(|one| one.topic.as_str() == "b");
        assert_eq!(taken, [asked(2, "b")]);
        assert_eq!(next(&line), Some("c"));
        line.watch(asked(5, "d"), now);
        line.started(&Topic::parse("c").unwrap(), now);
        assert_eq!(next(&line), None, "one whose program runs waits for no start");
        assert_eq!(line.take(|_| true).len(), 4, "all of them are still owed an answer");
        assert!(line.is_empty());
    }

    #[test]
    fn one_is_held_for_ten_seconds_or_most_of_the_time_there_is() {
        for (timeout, held) in [(30_000, 10_000), (5_000, 4_000)] {
            let (mut line, now) = (Line::new(Duration::from_millis(timeout)), Instant::now());
            line.wait(asked(1, "a"), now).unwrap();
            let due = now + Duration::from_millis(held);
            assert_eq!(line.next_due(), Some(due));
            assert_eq!(line.take_due(due - Duration::from_millis(1)), []);
            assert_eq!(line.take_due(due), [(asked(1, "a"), WaitsFor::Start)]);
            assert_eq!(line.next_due(), None);
        }
    }

    #[test]
    fn a_program_that_was_started_late_is_watched_only_while_an_answer_is_in_time() {
        let (mut line, came) = (Line::new(Duration::from_secs(5)), Instant::now());
        let topic = Topic::parse("a").unwrap();
        line.wait(asked(1, "a"), came).unwrap();
        line.started(&topic, came + Duration::from_secs(1));
        assert_eq!(line.next_due(), Some(came + Duration::from_secs(3)), "two seconds as a rule");
        line.take(|_| true);
        line.wait(asked(2, "a"), came).unwrap();
        line.started(&topic, came + Duration::from_millis(3900));
        let due = came + Duration::from_millis(4500);
        assert_eq!(line.take_due(due), [(asked(2, "a"), WaitsFor::Program)]);
    }

    #[test]
    fn only_so_many_wait_for_a_start() {
        let (mut line, now) = (Line::new(TIMEOUT), Instant::now());
        for number in 0..MOST as u64 {
            line.wait(asked(number, &format!("t:{number}")), now).unwrap();
        }
        assert_eq!(line.wait(asked(5000, "late"), now), Err(asked(5000, "late")));
        line.started(&Topic::parse("t:0").unwrap(), now);
        assert_eq!(
            line.wait(asked(5000, "late"), now),
            Ok(()),
            "there is room when one was started"
        );
    }
}
