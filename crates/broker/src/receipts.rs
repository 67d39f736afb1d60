//! What may not be answered before it is on disk.

use std::collections::VecDeque;

use switchboard_store::Ticket;

/// Accepted messages that are not on disk yet, in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    written: VecDeque<(Ticket, Pass)>,
    unwritten: Pass,
    count: usize,
    bytes: usize,
}

/// Messages that go to the disk together.
#[derive(Debug, Default)]
struct Pass {
    messages: Vec<u64>,
    bytes: usize,
    /// Those whose senders wait for the disk alone.
    pressing: usize,
    /// Those whose senders wait for their recipients, too.
    unanswered: usize,
}

/// So many messages are worth a write, whatever they wait for.
const ENOUGH: usize = 256;

impl Receipts {
    /// A message was accepted.
    pub(crate) fn accepted(&mut self, seq: u64, bytes: usize) {
        self.unwritten.messages.push(seq);
        self.unwritten.bytes += bytes;
        self.unwritten.pressing += 1;
        self.count += 1;
        self.bytes += bytes;
    }

    /// Its sender waits for its recipients, and not only for the disk.
    pub(crate) fn waits_for_answers(&mut self) {
        self.unwritten.pressing -= 1;
        self.unwritten.unanswered += 1;
    }

    /// The recipients of a message that waited for them have answered.
    pub(crate) fn answered(&mut self, seq: u64) {
        if self.is_unwritten(seq) {
            self.unwritten.unanswered -= 1;
        }
    }

    /// Whether nobody would hear of it sooner if everything were written now.
    pub(crate) fn can_wait(&self) -> bool {
        let Pass { messages, pressing, unanswered, .. } = &self.unwritten;
        *pressing == 0 && *unanswered > 0 && messages.len() < ENOUGH
    }

    /// Whether this message has not left for the disk.
    pub(crate) fn is_unwritten(&self, seq: u64) -> bool {
        self.unwritten.messages.first().is_some_and(|first| *first <= seq)
    }

    /// The messages that have not left for the disk will not.
    pub(crate) fn take_unwritten(&mut self) -> Vec<u64> {
        let pass = std::mem::take(&mut self.unwritten);
        self.done(pass)
    }

    /// All that had not left for the disk has, under one ticket.
    pub(crate) fn handed_over(&mut self, ticket: Ticket) {
        let pass = std::mem::take(&mut self.unwritten);
        self.written.push_back((ticket, pass));
    }

    /// Accepted messages that are not on disk yet.
    pub(crate) fn outstanding(&self) -> usize {
        self.count
    }

    /// Their payloads, in bytes.
    pub(crate) fn outstanding_bytes(&self) -> usize {
        self.bytes
    }

    /// The messages of every pass up to this ticket.
    pub(crate) fn take_up_to(&mut self, ticket: Ticket) -> Vec<u64> {
        let mut taken = Vec::new();
        while self.written.front().is_some_and(|(at, _)| *at <= ticket) {
            let Some((_, pass)) = self.written.pop_front() else { break };
            taken.extend(self.done(pass));
        }
        taken
    }

    /// The messages of this one pass.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Vec<u64> {
        let at = self.written.iter().position(|(one, _)| *one == ticket);
        match at.and_then(|at| self.written.remove(at)) {
            Some((_, pass)) => self.done(pass),
            None => Vec::new(),
        }
    }

    fn done(&mut self, pass: Pass) -> Vec<u64> {
        self.count -= pass.messages.len();
        self.bytes -= pass.bytes;
        pass.messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_waits_for_answers_can_wait_to_be_written() {
        let mut receipts = Receipts::default();
        assert!(!receipts.can_wait(), "there is nothing to wait for");
        receipts.accepted(1, 10);
        assert!(!receipts.can_wait(), "somebody waits for the disk");
        receipts.waits_for_answers();
        receipts.accepted(2, 10);
        receipts.waits_for_answers();
        assert!(receipts.can_wait());
        receipts.answered(1);
        assert!(receipts.can_wait());
        receipts.answered(2);
        assert!(!receipts.can_wait(), "everyone has answered");

        receipts.accepted(3, 10);
        receipts.waits_for_answers();
        receipts.accepted(4, 10);
        assert!(!receipts.can_wait(), "one of them waits for the disk alone");
        receipts.handed_over(Ticket(1));
        receipts.answered(3);
        receipts.accepted(5, 10);
        receipts.waits_for_answers();
        assert!(receipts.can_wait(), "an answer to what was written before changes nothing");
    }

    #[test]
    fn passes_are_counted_until_their_ticket_is_done_or_failed() {
        let mut receipts = Receipts::default();
        receipts.accepted(1, 10);
        receipts.accepted(2, 10);
        assert!(receipts.is_unwritten(2) && !receipts.is_unwritten(0));
        receipts.handed_over(Ticket(5));
        receipts.accepted(3, 10);
        receipts.handed_over(Ticket(7));
        receipts.accepted(4, 10);
        assert_eq!((receipts.outstanding(), receipts.outstanding_bytes()), (4, 40));
        assert_eq!(receipts.take(Ticket(7)), [3], "a failed pass may be a later one");
        assert_eq!(receipts.take(Ticket(7)), [0_u64; 0]);
        assert_eq!(receipts.take_up_to(Ticket(6)), [1, 2]);
        assert_eq!(receipts.take_unwritten(), [4]);
        assert_eq!((receipts.outstanding(), receipts.outstanding_bytes()), (0, 0));
    }
}
