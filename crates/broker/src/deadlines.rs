//! By when each delivery must be answered.

use std::collections::VecDeque;

use switchboard_model::{AttemptId, DeliveryId};
use tokio::time::Instant;

use crate::agenda::Agenda;

/// Most deliveries have the same time to be answered in, so the first one handed over is the first
/// one due: a plain line, no heap. Those whose asker waits for another time are kept apart.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    line: VecDeque<(Instant, AttemptId)>,
    apart: Agenda<AttemptId>,
}

impl Deadlines {
    pub(crate) fn push(&mut self, due: Instant, attempt: AttemptId) {
        self.line.push_back((due, attempt));
    }

    /// For one that has another time than the others.
    pub(crate) fn push_apart(&mut self, due: Instant, attempt: AttemptId) {
        self.apart.add(due, attempt);
    }

    /// Hands out deliveries that are due. Answered ones are forgotten on the way, so that the line
    /// does not grow with what is long done.
    pub(crate) fn take_due(
        &mut self,
        now: Instant,
        is_open: impl Fn(AttemptId) -> bool,
    ) -> Vec<DeliveryId> {
        let mut due = Vec::new();
        while let Some(attempt) = self.apart.take_due(now) {
            if is_open(attempt) {
                due.push(attempt.0);
            }
        }
        while let Some((at, attempt)) = self.line.front().copied() {
            let open = is_open(attempt);
            if open && at > now {
                break;
            }
            self.line.pop_front();
            if open {
                due.push(attempt.0);
            }
        }
        due
    }

    /// When the next one may be due.
    pub(crate) fn next(&self) -> Option<Instant> {
        let first = self.line.front().map(|(at, _)| *at);
        first.into_iter().chain(self.apart.next()).min()
    }
}
