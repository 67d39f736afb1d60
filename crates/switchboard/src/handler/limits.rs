//! How many programs may run, and how fast they may be started. Pure.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::FULL;

/// Programs started in one second.
const PER_SECOND: usize = 4;
const SECOND: Duration = Duration::from_secs(1);

/// Keeps a flood of unknown topics from becoming a flood of processes.
pub(super) struct Limits {
    most: usize,
    /// When the last ones were started.
    starts: VecDeque<Instant>,
}

impl Limits {
    pub(super) fn new(most: usize) -> Self {
        Self { most, starts: VecDeque::new() }
    }

    /// Whether one more may be started; else why not, and after how long to ask again.
    pub(super) fn may_start(&self, running: usize, now: Instant) -> Result<(), (String, Duration)> {
        if running >= self.most {
            let why = format!("{running} agents run already, the most that may (max_children)");
            return Err((why, FULL));
        }
        let recent = self.starts.iter().filter(|at| now.duration_since(**at) < SECOND);
        match recent.clone().next() {
            Some(first) if recent.count() >= PER_SECOND => {
                let why = format!("{PER_SECOND} agents were started in the last second");
                Err((why, (*first + SECOND).duration_since(now)))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn started(&mut self, now: Instant) {
        self.starts.push_back(now);
        while self.starts.len() > PER_SECOND {
            self.starts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_are_started_in_a_second_and_no_more_than_may_run() {
        let mut limits = Limits::new(8);
        let start = Instant::now();
        for running in 0..4 {
            assert!(limits.may_start(running, start).is_ok());
            limits.started(start);
        }
        let soon = start + Duration::from_millis(400);
        let (why, delay) = limits.may_start(4, soon).unwrap_err();
        assert!(why.contains("last second"), "{why}");
        assert_eq!(delay, Duration::from_millis(600));
        assert!(limits.may_start(4, start + SECOND).is_ok());
        let (why, _) = limits.may_start(8, start + SECOND).unwrap_err();
        assert!(why.contains("max_children"), "{why}");
    }
}
