//! What goes to the disk, and what follows from its having got there.

use std::time::Duration;

use switchboard_store::{Commit, QueueFull, Record, Ticket};

use super::{Core, Journey};
use crate::Refusal;
use crate::receipts::{Accepted, HeldBack, Worth};

/// How long new messages may wait for their answers, so that both are one write: a row that is written
/// once is neither looked up nor taken out of an index again.
const TOGETHER: Duration = Duration::from_millis(1);
/// When nothing else happens, they may wait so much longer. On a machine at rest this is the timer that is always set, and
/// one that is due before the system's own next tick costs whoever waits a microsecond or two each time.
const AT_REST: Duration = Duration::from_millis(10);
/// How long anything may wait for the disk to be done with what came before. It is told sooner that it has
/// failed than that it is slow.
const SLOW_DISK: Duration = Duration::from_millis(100);

impl Core {
    /// Sends to the disk what has happened, unless nobody would hear of it sooner and more is about to
    /// happen to the same messages.
    pub(super) async fn write(&mut self) {
        let patience = match self.receipts.worth_writing() {
            Worth::Now => Duration::ZERO,
            Worth::WhenTheDiskIsFree => SLOW_DISK,
            Worth::WhenAnswered => TOGETHER,
        };
        if patience.is_zero() || self.promises.are_pressing() || self.stop_by.is_some() {
            return self.write_now().await;
        }
        let since = *self.unwritten_since.get_or_insert(self.now.monotonic);
        if since + patience <= self.now.monotonic {
            return self.write_now().await;
        }
        self.write_by = Some(since + patience + AT_REST);
    }

    /// New messages go first and apart, because they can be refused; what became of others cannot,
    /// and waits for room.
    pub(super) async fn write_now(&mut self) {
        let held = self.hold_back();
        (self.unwritten_since, self.write_by) = (held.since(), None);
        let mut messages = None;
        let pass = self.take_accepted(&held);
        if !pass.is_empty() {
            match self.store.try_write_with(pass, &mut self.bookkeeping) {
                Ok((ticket, others)) => {
                    messages = Some(ticket);
                    self.receipts.handed_over(ticket, &held);
                    self.receipts.gave(others.unwrap_or(ticket));
                    others.into_iter().for_each(|ticket| self.bookkeeping_written(ticket));
                }
                Err(QueueFull) => {
                    let refused = self.receipts.take_unwritten(&held);
                    self.withdraw(refused, &Refusal::DiskBusy);
                }
            }
        }
        self.write_imports();
        if !self.bookkeeping.is_empty() {
            let pass = std::mem::take(&mut self.bookkeeping);
            match self.store.write(pass).await {
                Ok(ticket) => {
                    self.receipts.gave(ticket);
                    self.bookkeeping_written(ticket);
                }
                Err(closed) => tracing::error!(%closed, "the store closed before the broker"),
            }
        }
        self.promises.need_no_more(messages);
    }

    /// New messages whose answers are about to come. Nothing has happened to them since they were handed over, so
    /// nothing else that is written tells of them.
    fn hold_back(&self) -> HeldBack {
        if self.stop_by.is_some() {
            return HeldBack::default();
        }
        let is_held = |one: &&Accepted| {
            one.at + TOGETHER > self.now.monotonic
                && self.journeys.get(&one.seq).is_some_and(Journey::is_about_to_be_answered)
        };
        HeldBack::of(self.receipts.unanswered().iter().filter(is_held).copied().collect())
    }

    /// What is known of new messages, but for those that are held back.
    fn take_accepted(&mut self, held: &HeldBack) -> Vec<Record> {
        // The next pass will have about as much; to make room bit by bit would copy it many times.
        let room = Vec::with_capacity(self.accepted.len());
        let mut pass = std::mem::replace(&mut self.accepted, room);
        if !held.is_empty() {
            let is_held = |record: &mut Record| record.new_message().is_some_and(|it| held.has(it));
            self.accepted.extend(pass.extract_if(.., is_held));
        }
        pass
    }

    /// What became of messages, and all that is not about messages, went to the disk under this ticket.
    fn bookkeeping_written(&mut self, ticket: Ticket) {
        self.jobs_written(ticket);
        self.promises.written(ticket);
        self.bells_written(ticket);
    }

    pub(super) fn committed(&mut self, commit: Commit) {
        match commit {
            Commit::Done { up_to } => {
                self.receipts.took(up_to);
                for seq in self.receipts.take_up_to(up_to) {
                    if let Some(journey) = self.journeys.get_mut(&seq) {
                        journey.on_disk = true;
                        if let Some(job) = journey.replaces.and_then(|one| one.job()) {
                            self.jobs.took_one(job);
                        }
                    }
                    self.ring(seq);
                    self.leave_on_disk(seq);
                    self.answer_sender(seq);
                }
                self.promises.kept_up_to(up_to);
                self.ring_up_to(up_to);
                self.imported(up_to);
                self.end_jobs(up_to);
            }
            Commit::Failed { tickets, error } => {
                tracing::error!(%error, "messages could not be written to disk and were refused");
                self.import_failed(&tickets);
                self.promises.broken(&tickets);
                for ticket in tickets {
                    self.receipts.took(ticket);
                    let refused = self.receipts.take(ticket);
                    self.withdraw(refused, &Refusal::StorageFailed);
                }
            }
        }
    }

    /// Nothing more can be promised: whoever waits for the disk is told, and the broker stops.
    pub(super) fn lose_the_store(&mut self) {
        tracing::error!("the store has ended; the broker stops");
        self.store_lost = true;
        let refused = self.receipts.take_up_to(Ticket(u64::MAX));
        self.withdraw(refused, &Refusal::StorageFailed);
        self.promises.all_broken();
        self.stop_by = Some(self.now.monotonic);
    }
}
