//! What waits for one recipient, and what it holds unanswered.

use std::collections::VecDeque;
use std::time::Duration;

use switchboard_model::{DeliveryId, Priority};
use tokio::time::Instant;

use crate::numbers::ByNumber;

/// How long a delivery waits before it is served as one of the next higher priority.
#[derive(Clone, Copy, Debug)]
pub struct Escalation {
    /// From normal to high.
    pub to_high: Duration,
    /// From high to urgent.
    pub to_urgent: Duration,
}

impl Default for Escalation {
    fn default() -> Self {
        Self { to_high: Duration::from_secs(10), to_urgent: Duration::from_secs(30) }
    }
}

impl Escalation {
    /// How long one waits in this lane. A low one becomes normal when a normal one of its age would
    /// have become urgent: it is served when there is nothing else, but never starves.
    fn patience(&self, lane: Priority) -> Option<Duration> {
        match lane {
            Priority::Low => Some(self.to_high + self.to_urgent),
            Priority::Normal => Some(self.to_high),
            Priority::High => Some(self.to_urgent),
            Priority::Urgent => None,
        }
    }
}

/// The line in front of one connection: by priority, then in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Some may have gone since: only those in `waiting` count.
    lanes: [VecDeque<Waiting>; Priority::ALL.len()],
    /// Those who wait, each with the number it was given when it came.
    waiting: ByNumber<DeliveryId, u64>,
    next_number: u64,
    /// Handed over and not answered, with the bytes of each.
    in_flight: ByNumber<DeliveryId, usize>,
    in_flight_bytes: usize,
}

/// One that waits in a lane.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    delivery: DeliveryId,
    number: u64,
    bytes: usize,
    /// Since when in this lane.
    since: Instant,
}

impl Line {
    /// Puts a delivery at the end of its lane, behind those who have moved up by now.
    pub(crate) fn push(
        &mut self,
        priority: Priority,
        delivery: DeliveryId,
        bytes: usize,
        escalation: &Escalation,
        since: Instant,
    ) {
        self.escalate(escalation, since);
        let number = self.next_number;
        self.next_number += 1;
        self.waiting.insert(delivery, number);
        self.lanes[priority as usize].push_back(Waiting { delivery, number, bytes, since });
    }

    /// The next to hand over, if the recipient may hold more. One that is larger than the whole
    /// allowance goes when nothing else is in flight; else it could never go.
    pub(crate) fn next(
        &mut self,
        most: usize,
        most_bytes: usize,
        escalation: &Escalation,
        now: Instant,
    ) -> Option<DeliveryId> {
        if self.in_flight.len() >= most {
            return None;
        }
        self.escalate(escalation, now);
        let waiting = &self.waiting;
        let here = |one: &Waiting| waiting.get(&one.delivery) == Some(&one.number);
        for lane in &mut self.lanes {
            while lane.front().is_some_and(|first| !here(first)) {
                lane.pop_front();
            }
        }
        let lane = self.lanes.iter_mut().rev().find(|lane| !lane.is_empty())?;
        let Waiting { delivery, bytes, .. } = *lane.front()?;
        if self.in_flight_bytes + bytes > most_bytes && !self.in_flight.is_empty() {
            return None;
        }
        lane.pop_front();
        self.waiting.remove(&delivery);
        self.in_flight.insert(delivery, bytes);
        self.in_flight_bytes += bytes;
        Some(delivery)
    }

    /// Moves up those who have waited long. A lane is in order of arrival, so that only its front
    /// need be looked at, and those who move up together keep their order.
    fn escalate(&mut self, escalation: &Escalation, now: Instant) {
        for lane in Priority::ALL {
            let Some(patience) = escalation.patience(lane) else { continue };
            let lane = lane as usize;
            while let Some(first) = self.lanes[lane].front().copied() {
                let Some(up) = first.since.checked_add(patience).filter(|up| *up <= now) else {
                    break;
                };
                self.lanes[lane].pop_front();
                self.lanes[lane + 1].push_back(Waiting { since: up, ..first });
            }
        }
    }

    /// It was answered, or no longer matters.
    pub(crate) fn done(&mut self, delivery: DeliveryId) {
        match self.in_flight.remove(&delivery) {
            Some(bytes) => self.in_flight_bytes -= bytes,
            // Where it stands is left empty, and passed over when its turn comes.
            None => drop(self.waiting.remove(&delivery)),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Everything in the line, in the order in which it was first pushed.
    pub(crate) fn all(&self) -> Vec<DeliveryId> {
        let waiting = self.waiting.keys().copied();
        let mut all: Vec<_> = self.in_flight.keys().copied().chain(waiting).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests;
