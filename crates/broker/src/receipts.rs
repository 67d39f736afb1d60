//! What may not be answered before it is on disk.

use std::collections::VecDeque;

use switchboard_store::Ticket;
use tokio::time::Instant;

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

/// Messages that go to the disk together, in the order in which they were accepted.
#[derive(Debug, Default)]
struct Pass {
    messages: Vec<Accepted>,
    /// Those whose senders wait for the disk alone.
    pressing: usize,
    /// Those whose senders wait for their recipients, too.
    unanswered: usize,
}

/// A message that was accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    pub(crate) seq: u64,
    bytes: usize,
    pub(crate) at: Instant,
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
    pub(crate) fn accepted(&mut self, seq: u64, bytes: usize, at: Instant) {
        self.unwritten.messages.push(Accepted { seq, bytes, at });
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
        self.unwritten.messages.binary_search_by_key(&seq, |one| one.seq).is_ok()
    }

    /// Messages that have not left for the disk, oldest first; none where nobody waits for recipients.
    pub(crate) fn unanswered(&self) -> &[Accepted] {
        if self.unwritten.unanswered == 0 { &[] } else { &self.unwritten.messages }
    }

    /// The messages that have not left for the disk will not, but for those that are held back.
    pub(crate) fn take_unwritten(&mut self, held: &HeldBack) -> Vec<u64> {
        let pass = self.leave(held);
        self.done(pass)
    }

    /// All that had not left for the disk has, under one ticket, but for what is held back.
    pub(crate) fn handed_over(&mut self, ticket: Ticket, held: &HeldBack) {
        let pass = self.leave(held);
        self.written.push_back((ticket, pass));
    }

    fn leave(&mut self, held: &HeldBack) -> Pass {
        let mut pass = std::mem::take(&mut self.unwritten);
        if !held.is_empty() {
            let stays = |one: &mut Accepted| held.has(one.seq);
            self.unwritten.messages = pass.messages.extract_if(.., stays).collect();
            self.unwritten.unanswered = self.unwritten.messages.len();
        }
        pass
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
        self.bytes -= pass.messages.iter().map(|one| one.bytes).sum::<usize>();
        pass.messages.into_iter().map(|one| one.seq).collect()
    }
}

/// Messages that do not go with a write, because their answers are about to come: then each of them is written once, as
/// it ended. Their senders wait for their recipients.
#[derive(Debug, Default)]
pub(crate) struct HeldBack(Vec<Accepted>);

impl HeldBack {
    /// In the order in which they were accepted.
    pub(crate) fn of(messages: Vec<Accepted>) -> Self {
        Self(messages)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, seq: u64) -> bool {
        self.0.binary_search_by_key(&seq, |one| one.seq).is_ok()
    }

    /// Since when the oldest of them waits.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.0.first().map(|one| one.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_answers_is_written_when_somebody_gains_by_it() {
        let (mut receipts, none) = (Receipts::default(), HeldBack::default());
        let now = Instant::now();
        receipts.accepted(1, 10, now);
        assert_eq!(receipts.worth_writing(), Worth::Now, "somebody waits for the disk alone");
        receipts.waits_for_answers();
        receipts.accepted(2, 10, now);
        receipts.waits_for_answers();
        assert_eq!(receipts.worth_writing(), Worth::WhenAnswered);
        receipts.gave(Ticket(1));
        receipts.answered(1);
        assert_eq!(receipts.worth_writing(), Worth::WhenTheDiskIsFree, "one has been answered");
        receipts.took(Ticket(1));
        assert_eq!(receipts.worth_writing(), Worth::Now);

        receipts.handed_over(Ticket(2), &none);
        receipts.answered(2);
        receipts.accepted(3, 10, now);
        receipts.waits_for_answers();
        let changed = "an answer to what was written before changes nothing";
        assert_eq!(receipts.worth_writing(), Worth::WhenAnswered, "{changed}");
        receipts.accepted(4, 10, now);
        assert_eq!(receipts.worth_writing(), Worth::Now, "one waits for the disk alone");
    }

    #[test]
    fn passes_are_counted_until_their_ticket_is_done_or_failed() {
        let (mut receipts, none) = (Receipts::default(), HeldBack::default());
        let now = Instant::now();
        receipts.accepted(1, 10, now);
        receipts.accepted(2, 10, now);
        assert!(receipts.is_unwritten(2) && !receipts.is_unwritten(0));
        receipts.handed_over(Ticket(5), &none);
        receipts.accepted(3, 10, now);
        receipts.handed_over(Ticket(7), &none);
        receipts.accepted(4, 10, now);
        assert_eq!((receipts.outstanding(), receipts.outstanding_bytes()), (4, 40));
        assert_eq!(receipts.take(Ticket(7)), [3], "a failed pass may be a later one");
        assert_eq!(receipts.take(Ticket(7)), [0_u64; 0]);
        assert_eq!(receipts.take_up_to(Ticket(6)), [1, 2]);
        assert_eq!(receipts.take_unwritten(&none), [4]);
        assert_eq!((receipts.outstanding(), receipts.outstanding_bytes()), (0, 0));
    }

    #[test]
    fn what_is_held_back_goes_with_a_later_write() {
        let (mut receipts, none, now) = (Receipts::default(), HeldBack::default(), Instant::now());
        for seq in 1..=4 {
            receipts.accepted(seq, 10, now);
            receipts.waits_for_answers();
        }
        receipts.answered(1);
        receipts.answered(3);
        let awaited = |one: &&Accepted| one.seq.is_multiple_of(2);
        let held = HeldBack::of(receipts.unanswered().iter().filter(awaited).copied().collect());
        receipts.handed_over(Ticket(1), &held);
        let unwritten: Vec<u64> = (1..=4).filter(|seq| receipts.is_unwritten(*seq)).collect();
        assert_eq!(unwritten, [2, 4], "those with lower numbers than what was written, too");
        assert_eq!(receipts.worth_writing(), Worth::WhenAnswered);
        assert_eq!(receipts.take_up_to(Ticket(1)), [1, 3]);
        assert_eq!((receipts.outstanding(), receipts.outstanding_bytes()), (2, 20));

        receipts.accepted(5, 10, now);
        receipts.waits_for_answers();
        receipts.answered(2);
        let held = HeldBack::of(vec![receipts.unanswered()[2]]);
        assert_eq!(receipts.take_unwritten(&held), [2, 4], "the disk had no room for them");
        receipts.answered(5);
        assert_eq!(receipts.worth_writing(), Worth::Now);
        receipts.handed_over(Ticket(2), &none);
        assert_eq!(receipts.take_up_to(Ticket(2)), [5]);
        assert_eq!((receipts.outstanding(), receipts.outstanding_bytes()), (0, 0));
    }
}
