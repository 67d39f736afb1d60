//! What goes to the disk, and what follows from its having got there.

use switchboard_store::{Commit, QueueFull, Ticket};

use super::Core;
use crate::Refusal;

impl Core {
    /// Sends this pass to the disk. New messages go first and apart, because they can be refused;
    /// what became of others cannot, and waits for room.
    pub(super) async fn write(&mut self) {
        if !self.accepted.is_empty() {
            let pass = std::mem::take(&mut self.accepted);
            match self.store.try_write(pass) {
                Ok(ticket) => self.receipts.handed_over(ticket),
                Err(QueueFull) => {
                    let refused = self.receipts.take_unwritten();
                    self.withdraw(refused, &Refusal::DiskBusy);
                }
            }
        }
        self.write_imports();
        if !self.bookkeeping.is_empty() {
            let pass = std::mem::take(&mut self.bookkeeping);
            match self.store.write(pass).await {
                Ok(ticket) => {
                    self.jobs_written(ticket);
                    self.promises.written(ticket);
                    self.bells_written(ticket);
                }
                Err(closed) => tracing::error!(%closed, "the store closed before the broker"),
            }
        }
    }

    pub(super) fn committed(&mut self, commit: Commit) {
        match commit {
            Commit::Done { up_to } => {
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
