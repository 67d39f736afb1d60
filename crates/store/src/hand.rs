//! What writes: the pen, and what is known of what was written. There is one hand, and who holds it writes: the writer's
//! thread, or the broker itself where that need not wait for the disk.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::batch::Batch;
use crate::checkpoint::LogWatch;
use crate::commit::Reporter;
use crate::disk::DiskGuard;
use crate::error::{Failure, failure};
use crate::housekeeping::Housekeeping;
use crate::open::explain_writing;
use crate::pen::Pen;
use crate::queue::{Together, Write};
use crate::total::Uncounted;
use crate::trouble::{TroubleKind, Troubles};
use crate::{
    Error, Options, Ticket, agent, announced, audit, dead_letter, decision, delivery, figure, job,
    mail, message, presence, rule, saved, search, session, subscription, token,
};

/// How long to wait before what the disk did not take is tried again when nothing else comes.
const RETRY: Duration = Duration::from_secs(1);
/// How often a locked database is tried at once. Each try waits for the lock by itself.
const BUSY_TRIES: u32 = 3;
/// How often what is left is tried when the store closes.
const LAST_TRIES: u32 = 3;
/// So many records are few enough to be written by whoever brings them.
const FEW: usize = 16;

/// The one hand there is. Each holds it as long as it writes, and never while it waits for anything.
pub(crate) type OneHand = Arc<Mutex<Hand>>;

/// Owns the writing connection and the folder's lock.
pub(crate) struct Hand {
    pub(crate) pen: Pen,
    /// Where to find another pen, and how it has to write.
    pub(crate) database: PathBuf,
    pub(crate) options: Options,
    pub(crate) reporter: Reporter,
    /// The last write that was dealt with, or is kept.
    pub(crate) last: Ticket,
    /// Bookkeeping that the disk did not take, oldest first. It goes before anything newer.
    pub(crate) kept: Vec<Write>,
    pub(crate) retry_at: Instant,
    pub(crate) disk: DiskGuard,
    pub(crate) house: Housekeeping,
    pub(crate) uncounted: Uncounted,
    /// For the checkpointer.
    pub(crate) log: LogWatch,
    pub(crate) troubles: Troubles,
    /// Whether the disk did not take the last that it was given.
    pub(crate) troubled: bool,
    /// Held as long as the connection; nobody reads it.
    pub(crate) _lock: File,
}

/// A transaction that did not come about.
struct Failed {
    calls_for: Failure,
    error: rusqlite::Error,
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self { calls_for: failure(&error), error }
    }
}

impl Hand {
    /// Commits what was taken from the queue, and then does what is due.
    pub(crate) fn write(&mut self, taken: Vec<Together>) {
        self.take(taken.into_iter().flat_map(|(one, other)| std::iter::once(one).chain(other)));
        if self.house.due_under_load() {
            self.keep_house();
        }
        self.look_at_log();
    }

    /// Commits these few now, where nothing is in the way; else they are given back, for the thread that writes.
    pub(crate) fn write_at_once(&mut self, few: Together) -> Result<(), Together> {
        let (first, second) = &few;
        let size = first.records.len() + second.as_ref().map_or(0, |write| write.records.len());
        let is_next = first.ticket.0 == self.last.0 + 1;
        let is_free = self.kept.is_empty() && !self.troubled && !self.log.is_wanted();
        if size > FEW || !is_next || !is_free || self.house.due_under_load() {
            return Err(few);
        }
        // The thread says what is wrong, and who has to hear of it.
        if self.disk.check().is_err() {
            return Err(few);
        }
        let records = first.records.iter().chain(second.iter().flat_map(|write| &write.records));
        let batch = Batch::of(records);
        let done = self.pen.without_patience(|| self.transact(&batch));
        let Ok(uncounted) = done else {
            self.pen.roll_back();
            return Err(few);
        };
        self.uncounted = uncounted;
        self.house.written(&batch);
        self.last = second.as_ref().map_or(first.ticket, |write| write.ticket);
        self.reporter.done(self.last);
        self.note_log();
        Ok(())
    }

    /// Commits these writes, after those kept from before.
    pub(crate) fn take(&mut self, new: impl IntoIterator<Item = Write>) {
        let mut writes = std::mem::take(&mut self.kept);
        writes.extend(new);
        for write in &mut writes {
            write.taken();
        }
        if writes.iter().any(Write::has_message)
            && let Err(error) = self.disk.check()
        {
            self.trouble(error.to_string());
            writes = self.refuse_messages(writes, error);
        }
        let Some(last) = writes.last().map(|write| write.ticket) else {
            return;
        };
        self.last = self.last.max(last);
        match self.commit(&writes) {
            Ok(()) => {
                self.well_again(&writes);
                self.reporter.done(last);
            }
            Err(failed) => match failed.calls_for {
                Failure::Busy | Failure::Disk => self.keep(writes, failed),
                Failure::Content => self.one_by_one(writes),
            },
        }
    }

    /// Tells the senders of messages, and gives back the other writes.
    fn refuse_messages(&mut self, writes: Vec<Write>, error: Error) -> Vec<Write> {
        let (messages, others): (Vec<_>, Vec<_>) = writes.into_iter().partition(Write::has_message);
        let tickets: Vec<Ticket> = messages.iter().map(|write| write.ticket).collect();
        self.reporter.failed(tickets, Arc::new(error));
        others
    }

    /// The disk failed: whoever waits is told, and bookkeeping is kept, because it is about messages
    /// that were accepted.
    fn keep(&mut self, writes: Vec<Write>, failed: Failed) {
        let Failed { calls_for, error } = failed;
        tracing::error!(%error, "the database did not take a batch");
        self.trouble(explain_writing(&error, &self.database).to_string());
        self.kept = self.refuse_messages(writes, Error::Writing(error));
        self.retry_at = Instant::now() + RETRY;
        if calls_for == Failure::Disk {
            // The old one may be in a state that only a new one mends.
            match Pen::open(&self.database, &self.options) {
                Ok(pen) => self.pen = pen,
                Err(error) => tracing::error!(%error, "could not open the database again"),
            }
        }
    }

    /// A step of keeping house, and a look at the log. What was written meanwhile may have put it off.
    pub(crate) fn keep_house_if_due(&mut self) {
        if Instant::now() < self.house.due() {
            return;
        }
        self.keep_house();
        self.look_at_log();
    }

    fn keep_house(&mut self) {
        match self.house.step(&self.pen, &self.uncounted) {
            Ok(Some(uncounted)) => {
                self.uncounted = uncounted;
                self.well_again(&[]);
            }
            Ok(None) => {}
            Err(error) if failure(&error) == Failure::Disk => {
                self.trouble(explain_writing(&error, &self.database).to_string());
            }
            Err(_) => {}
        }
    }

    /// How large the log is after what was committed last.
    fn note_log(&mut self) {
        self.log.written(self.pen.log_pages(), Instant::now().into_std());
    }

    /// After a commit of which is told, or of which nobody waits to hear.
    fn look_at_log(&mut self) {
        self.note_log();
        if self.log.take_wish()
            && let Err(error) = self.pen.move_log()
        {
            // Nothing is lost by it. But a log that cannot be moved grows, and the disk fails.
            tracing::error!(%error, "could not move the log into the database");
            self.trouble(explain_writing(&error, &self.database).to_string());
        }
    }

    fn trouble(&mut self, words: String) {
        self.troubled = true;
        self.troubles.begin(TroubleKind::Writing, words);
    }

    /// The disk has taken what it was given. While it is nearly full, that is not all that it would be given.
    fn well_again(&mut self, writes: &[Write]) {
        if self.troubled && (writes.iter().any(Write::has_message) || self.disk.check().is_ok()) {
            self.troubled = false;
            self.troubles.end(TroubleKind::Writing);
        }
    }

    /// Something in the batch cannot be written. Each write goes by itself, so that only it fails.
    fn one_by_one(&mut self, writes: Vec<Write>) {
        let mut writes = writes.into_iter();
        while let Some(write) = writes.next() {
            match self.commit(std::slice::from_ref(&write)) {
                Ok(()) => self.reporter.done(write.ticket),
                Err(Failed { calls_for: Failure::Content, error }) => {
                    // Not what they carry: that is nobody's business who reads the log.
                    let records = write.records.len();
                    tracing::error!(%error, records, "cannot be written");
                    let error = Arc::new(Error::Writing(error));
                    self.reporter.failed(vec![write.ticket], error);
                }
                Err(failed) => {
                    let rest = std::iter::once(write).chain(writes).collect();
                    return self.keep(rest, failed);
                }
            }
        }
    }

    fn commit(&mut self, writes: &[Write]) -> Result<(), Failed> {
        let batch = Batch::of(writes.iter().flat_map(|write| &write.records));
        let mut tries = 1;
        self.uncounted = loop {
            match self.transact(&batch) {
                Ok(uncounted) => break uncounted,
                Err(failed) => {
                    self.pen.roll_back();
                    if failed.calls_for != Failure::Busy || tries == BUSY_TRIES {
                        return Err(failed);
                    }
                    tries += 1;
                }
            }
        };
        self.house.written(&batch);
        Ok(())
    }

    /// The order matters where one row is looked at to change another.
    fn transact(&self, batch: &Batch<'_>) -> Result<Uncounted, Failed> {
        let pen = &self.pen;
        let indexed = self.house.looked_at_up_to();
        let mut delta = batch.delta;
        begin(pen)?;
        each(&batch.agents, |rows| agent::apply(pen, rows))?;
        each(&batch.subscriptions, |rows| subscription::apply(pen, rows))?;
        each(&batch.messages, |rows| message::insert(pen, rows))?;
        each(&batch.messages, |rows| decision::insert(pen, rows))?;
        each(&batch.messages, |rows| search::mark_late(pen, rows, indexed))?;
        each(&batch.settles, |rows| search::mark(pen, rows, indexed))?;
        each(&batch.settles, |rows| message::settle(pen, rows, &mut delta))?;
        each(&batch.deliveries, |rows| delivery::insert(pen, rows))?;
        each(&batch.changes, |rows| delivery::change(pen, rows))?;
        each(&batch.attempts, |rows| delivery::insert_attempts(pen, rows))?;
        each(&batch.dead_letters, |rows| dead_letter::insert(pen, rows))?;
        each(&batch.letters, |rows| dead_letter::change(pen, rows))?;
        each(&batch.jobs, |rows| job::apply(pen, rows))?;
        each(&batch.audits, |rows| audit::insert(pen, rows))?;
        each(&batch.tokens, |rows| token::apply(pen, rows))?;
        each(&batch.mail, |rows| mail::apply(pen, rows))?;
        each(&batch.trust, |rows| announced::apply(pen, rows))?;
        each(&batch.rules, |rows| rule::apply(pen, rows))?;
        each(&batch.sessions, |rows| session::apply(pen, rows))?;
        each(&batch.presences, |rows| presence::apply(pen, rows))?;
        each(batch.running.as_slice(), |at| presence::running(pen, at))?;
        each(&batch.figures, |rows| figure::apply(pen, rows))?;
        each(&batch.saved, |rows| saved::apply(pen, rows))?;
        let uncounted = self.uncounted.with(pen, batch, delta)?;
        pen.commit()?;
        Ok(uncounted)
    }

    /// The end: nothing more comes.
    pub(crate) fn finish(&mut self) {
        for _ in 0..LAST_TRIES {
            if !self.kept.is_empty() {
                self.take([]);
            }
        }
        if !self.kept.is_empty() {
            let count = self.kept.len();
            tracing::error!(count, "closed with writes that the disk did not take");
        }
        if let Err(error) = self.uncounted.count(&self.pen) {
            tracing::warn!(%error, "could not count the last messages; the next start will");
        }
        if let Err(error) = self.pen.empty_log() {
            tracing::warn!(%error, "could not move the log into the database; the next start will");
        }
    }
}

#[cfg(test)]
impl Hand {
    pub(crate) fn describe(&mut self, up_to: u64) {
        self.house.describe(&self.pen, up_to).unwrap();
    }

    pub(crate) fn describe_whole(&mut self) {
        self.house.describe_whole(&self.pen).unwrap();
    }

    pub(crate) fn look(&mut self, most: usize) -> bool {
        self.house.look(&self.pen, most).unwrap()
    }

    pub(crate) fn count_and_keep_house(&mut self) {
        self.uncounted = self.house.step(&self.pen, &self.uncounted).unwrap().unwrap();
    }
}

/// Writes these rows, if there are any: most transactions have few kinds of them, and to ask for a statement
/// costs as much as a small row.
fn each<T>(rows: &[T], write: impl FnOnce(&[T]) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    if rows.is_empty() { Ok(()) } else { write(rows) }
}

/// That a transaction cannot even begin is no fault of what it would write: the connection is in a
/// state that only a new one can mend.
fn begin(pen: &Pen) -> Result<(), Failed> {
    pen.begin().map_err(|error| match failure(&error) {
        Failure::Content => Failed { calls_for: Failure::Disk, error },
        Failure::Busy | Failure::Disk => error.into(),
    })
}
