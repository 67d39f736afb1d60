//! What may not be answered before it is on disk.

use std::collections::VecDeque;

use switchboard_store::Ticket;

/// Accepted messages that are not on disk yet, in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    written: VecDeque<(Ticket, Pass)>,
    unwritten: Pass,
    /// The last that the disk was given, while it has not said that it has it.
    on_its_way: Option<Ticket>,
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
const ENOUGH: usize = 1024;

/// What would come of it if all that has happened were written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// Somebody would hear of it.
    Now,
    /// The same, but what is being written now goes first.
    WhenTheDiskIsFree,
    /// Nobody would hear of it before recipients answer.
    WhenAnswered,
}

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

    /// What would come of it if everything were written now.
    pub(crate) fn worth_writing(&self) -> Worth {
        let Pass { messages, pressing, unanswered, .. } = &self.unwritten;
        if *unanswered == 0 || *pressing > 0 || messages.len() >= ENOUGH {
            return Worth::Now;
        }
        let somebody_waits = messages.len() > *unanswered;
        match (somebody_waits, self.on_its_way) {
            (true, None) => Worth::Now,
            (true, Some(_)) => Worth::WhenTheDiskIsFree,
            (false, _) => Worth::WhenAnswered,
        }
    }

    /// The disk was given something, whatever it is.
    pub(crate) fn gave(&mut self, ticket: Ticket) {
        self.on_its_way = Some(ticket);
    }

    /// The disk has dealt with everything up to this.
    pub(crate) fn took(&mut self, ticket: Ticket) {
        self.on_its_way = self.on_its_way.filter(|last| *last > ticket);
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
    fn what_waits_for_answers_is_written_when_somebody_gains_by_it() {
        let mut receipts = Receipts::default();
        receipts.accepted(1, 10);
        assert_eq!(receipts.worth_writing(), Worth::Now, "somebody waits for the disk alone");
        receipts.waits_for_answers();
        receipts.accepted(2, 10);
        receipts.waits_for_answers();
        assert_eq!(receipts.worth_writing(), Worth::WhenAnswered);
        receipts.gave(Ticket(1));
        receipts.answered(1);
        assert_eq!(receipts.worth_writing(), Worth::WhenTheDiskIsFree, "one has been answered");
        receipts.took(Ticket(1));
        assert_eq!(receipts.worth_writing(), Worth::Now);

        receipts.handed_over(Ticket(2));
        receipts.answered(2);
        receipts.accepted(3, 10);
        receipts.waits_for_answers();
        let changed = "an answer to what was written before changes nothing";
        assert_eq!(receipts.worth_writing(), Worth::WhenAnswered, "{changed}");
        receipts.accepted(4, 10);
        assert_eq!(receipts.worth_writing(), Worth::Now, "one waits for the disk alone");
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
