//! How many programs may run, and how fast they may be started. Pure.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

/// Programs started in one second.
const PER_SECOND: usize = 4;
const SECOND: Duration = Duration::from_secs(1);

/// Keeps a flood of unknown topics from becoming a flood of processes.
pub(super) struct Limits {
    most: usize,
    /// When the last ones were started.
    starts: VecDeque<Instant>,
}

/// Why no program may be started now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Obstacle {
    /// So many run, and one must end first.
    Children(usize),
    /// The last ones were started too short a time ago; one may be started at this time.
    Rate(Instant),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Children(running) => {
                write!(f, "{running} agents run already, the most that may (max_children)")
            }
            Self::Rate(_) => write!(f, "{PER_SECOND} agents were started in the last second"),
        }
    }
}

impl Limits {
    pub(super) fn new(most: usize) -> Self {
        Self { most, starts: VecDeque::new() }
    }

    /// Whether one more may be started.
    pub(super) fn may_start(&self, running: usize, now: Instant) -> Result<(), Obstacle> {
        if running >= self.most {
            return Err(Obstacle::Children(running));
        }
        match self.starts.front().map(|first| *first + SECOND) {
            Some(free) if self.starts.len() >= PER_SECOND && free > now => {
                Err(Obstacle::Rate(free))
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
            assert_eq!(limits.may_start(running, start), Ok(()));
            limits.started(start);
        }
        let soon = start + Duration::from_millis(400);
        let obstacle = limits.may_start(4, soon).unwrap_err();
        assert_eq!(obstacle, Obstacle::Rate(start + SECOND));
        assert!(obstacle.to_string().contains("last second"), "{obstacle}");
        assert_eq!(limits.may_start(4, start + SECOND), Ok(()));
        let obstacle = limits.may_start(8, start + SECOND).unwrap_err();
        assert!(obstacle.to_string().contains("max_children"), "{obstacle}");
    }
}
