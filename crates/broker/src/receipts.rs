//! What may not be answered before it is on disk.

use std::collections::VecDeque;

use switchboard_store::Ticket;

/// Accepted messages that are not on disk yet, in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    written: VecDeque<(Ticket, Vec<u64>)>,
    unwritten: Vec<u64>,
    count: usize,
}

impl Receipts {
    /// A message was accepted in this pass.
    pub(crate) fn accepted(&mut self, seq: u64) {
        self.unwritten.push(seq);
        self.count += 1;
    }

    /// Whether this message was accepted in this pass.
    pub(crate) fn is_of_this_pass(&self, seq: u64) -> bool {
        self.unwritten.first().is_some_and(|first| *first <= seq)
    }

    /// The messages accepted in this pass will not go to the disk.
    pub(crate) fn take_unwritten(&mut self) -> Vec<u64> {
        let pass = std::mem::take(&mut self.unwritten);
        self.count -= pass.len();
        pass
    }

    /// The messages accepted in this pass went to the disk under one ticket.
    pub(crate) fn handed_over(&mut self, ticket: Ticket) {
        let pass = std::mem::take(&mut self.unwritten);
        self.written.push_back((ticket, pass));
    }

    /// Accepted messages that are not on disk yet.
    pub(crate) fn outstanding(&self) -> usize {
        self.count
    }

    /// The messages of every pass up to this ticket.
    pub(crate) fn take_up_to(&mut self, ticket: Ticket) -> Vec<u64> {
        let mut taken = Vec::new();
        while self.written.front().is_some_and(|(at, _)| *at <= ticket) {
            let Some((_, pass)) = self.written.pop_front() else {
                break;
            };
            taken.extend(pass);
        }
        self.count -= taken.len();
        taken
    }

    /// The messages of this one pass.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Vec<u64> {
        let Some(at) = self.written.iter().position(|(one, _)| *one == ticket) else {
            return Vec::new();
        };
        let pass = self.written.remove(at).map(|(_, pass)| pass).unwrap_or_default();
        self.count -= pass.len();
        pass
    }
}
