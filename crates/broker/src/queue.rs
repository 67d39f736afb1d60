//! What waits for one recipient, and what it holds unanswered.

use std::collections::{HashMap, VecDeque};

use switchboard_model::{DeliveryId, Priority};

/// The line in front of one connection: by priority, then in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Line {
    waiting: [VecDeque<(DeliveryId, usize)>; Priority::ALL.len()],
    /// Handed over and not answered, with the bytes of each.
    in_flight: HashMap<DeliveryId, usize>,
    in_flight_bytes: usize,
}

impl Line {
    pub(crate) fn push(&mut self, priority: Priority, delivery: DeliveryId, bytes: usize) {
        self.waiting[priority as usize].push_back((delivery, bytes));
    }

    /// The next to hand over, if the recipient may hold more. One that is larger than the whole
    /// allowance goes when nothing else is in flight; else it could never go.
    pub(crate) fn next(&mut self, most: usize, most_bytes: usize) -> Option<DeliveryId> {
        if self.in_flight.len() >= most {
            return None;
        }
        let lane = self.waiting.iter_mut().rev().find(|lane| !lane.is_empty())?;
        let (delivery, bytes) = *lane.front()?;
        if self.in_flight_bytes + bytes > most_bytes && !self.in_flight.is_empty() {
            return None;
        }
        lane.pop_front();
        self.in_flight.insert(delivery, bytes);
        self.in_flight_bytes += bytes;
        Some(delivery)
    }

    /// It was answered, or no longer matters.
    pub(crate) fn done(&mut self, delivery: DeliveryId) {
        match self.in_flight.remove(&delivery) {
            Some(bytes) => self.in_flight_bytes -= bytes,
            None => {
                for lane in &mut self.waiting {
                    lane.retain(|(waiting, _)| *waiting != delivery);
                }
            }
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Everything in the line, in the order in which it was pushed.
    pub(crate) fn all(&self) -> Vec<DeliveryId> {
        let waiting = self.waiting.iter().flatten().map(|(delivery, _)| *delivery);
        let mut all: Vec<_> = self.in_flight.keys().copied().chain(waiting).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn higher_priorities_go_first_and_equals_go_in_order() {
        let mut line = Line::default();
        for (id, priority) in [
            (1, Priority::Low),
            (2, Priority::Normal),
            (3, Priority::Urgent),
            (4, Priority::Normal),
        ] {
            line.push(priority, DeliveryId(id), 1);
        }
        let order: Vec<u64> = std::iter::from_fn(|| line.next(10, 100)).map(|id| id.0).collect();
        assert_eq!(order, [3, 2, 4, 1]);
    }

    #[test]
    fn a_delivery_larger_than_the_allowance_goes_alone() {
        let mut line = Line::default();
        line.push(Priority::Normal, DeliveryId(1), 1);
        line.push(Priority::Normal, DeliveryId(2), 1000);
        assert_eq!(line.next(10, 100), Some(DeliveryId(1)));
        assert_eq!(line.next(10, 100), None, "not beside another");
        line.done(DeliveryId(1));
        assert_eq!(line.next(10, 100), Some(DeliveryId(2)));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_doubled_and_the_limits_hold(
            steps in prop::collection::vec((0u8..3, 0usize..4, 0usize..50), 1..200),
        ) {
            let mut line = Line::default();
            let (mut pushed, mut held, mut seen) = (0u64, Vec::new(), Vec::new());
            for (step, priority, bytes) in steps {
                match step {
                    0 => {
                        pushed += 1;
                        line.push(Priority::ALL[priority], DeliveryId(pushed), bytes);
                    }
                    1 => {
                        if let Some(delivery) = line.next(5, 100) {
                            held.push(delivery);
                            seen.push(delivery);
                        }
                    }
                    _ => {
                        if let Some(delivery) = held.pop() {
                            line.done(delivery);
                        }
                    }
                }
                prop_assert_eq!(line.in_flight(), held.len());
                prop_assert!(held.len() <= 5);
                prop_assert!(line.in_flight_bytes <= 100 || held.len() == 1);
                prop_assert_eq!(seen.len() + line.waiting(), usize::try_from(pushed).unwrap());
            }
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len() + line.waiting(), usize::try_from(pushed).unwrap());
        }
    }
}
