//! The one task that writes. It takes whatever is in the queue, commits it together, and tells the
//! broker; it never waits for more when it has something.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::batch::Batch;
use crate::commit::Reporter;
use crate::disk::DiskGuard;
use crate::error::{Failure, failure};
use crate::housekeeping::{BEGIN, Housekeeping, ROLLBACK};
use crate::queue::Write;
use crate::{
    Error, Ticket, agent, announced, audit, checkpoint, dead_letter, decision, delivery, figure,
    job, mail, message, presence, rule, saved, search, session, subscription, token, total,
};

/// How many writes one transaction takes at most.
const BATCH: usize = 512;
/// How many writes that the disk did not take are kept to be tried again. When there are so many,
/// the queue is left to fill, and the broker hears that it is full.
const KEPT: usize = 8_192;
/// How long to wait before they are tried again when nothing else comes.
const RETRY: Duration = Duration::from_secs(1);
/// How often a locked database is tried at once. Each try waits for the lock by itself.
const BUSY_TRIES: u32 = 3;
/// How often what is left is tried when the store closes.
const LAST_TRIES: u32 = 3;

/// Owns the writing connection and the folder's lock.
pub(crate) struct Writer {
    pub(crate) connection: SqliteConnection,
    pub(crate) reconnect: SqliteConnectOptions,
    pub(crate) queue: mpsc::Receiver<Write>,
    pub(crate) reporter: Reporter,
    /// Bookkeeping that the disk did not take, oldest first. It goes before anything newer.
    pub(crate) kept: Vec<Write>,
    pub(crate) retry_at: Instant,
    pub(crate) disk: DiskGuard,
    pub(crate) house: Housekeeping,
    /// Counts commits for the checkpointer.
    pub(crate) commits: Arc<AtomicU64>,
    /// Held as long as the connection.
    pub(crate) lock: File,
}

impl Writer {
    /// Runs until the queue is closed and everything in it is dealt with.
    pub(crate) async fn run(mut self) {
        while self.turn().await {}
        self.finish().await;
    }

    /// Does the one most urgent thing; waits if there is none. False when the queue has ended.
    pub(crate) async fn turn(&mut self) -> bool {
        let mut taken = Vec::new();
        let house_due = self.house.due();
        tokio::select! {
            biased;
            count = self.queue.recv_many(&mut taken, BATCH), if self.kept.len() < KEPT => {
                if count == 0 {
                    return false;
                }
                self.take(taken).await;
                if self.house.due_under_load() {
                    self.house.step(&mut self.connection).await;
                }
            }
            () = self.reporter.catch_up(), if self.reporter.is_behind() => {}
            () = sleep_until(self.retry_at), if !self.kept.is_empty() => self.take(taken).await,
            // What is wanted changes when the next step is due.
            () = self.house.called() => {}
            () = sleep_until(house_due) => {
                self.house.step(&mut self.connection).await;
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
        }
        true
    }

    /// Commits these writes, after those kept from before.
    async fn take(&mut self, new: Vec<Write>) {
        let mut writes = std::mem::take(&mut self.kept);
        writes.extend(new);
        for write in &mut writes {
            write.taken();
        }
        if writes.iter().any(Write::has_message)
            && let Err(error) = self.disk.check()
        {
            writes = self.refuse_messages(writes, error);
        }
        let Some(last) = writes.last().map(|write| write.ticket) else {
            return;
        };
        match self.commit(&writes).await {
            Ok(()) => self.reporter.done(last),
            Err(error) => match failure(&error) {
                Failure::Busy | Failure::Disk => self.keep(writes, error).await,
                Failure::Content => self.one_by_one(writes).await,
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
    async fn keep(&mut self, writes: Vec<Write>, error: sqlx::Error) {
        tracing::error!(%error, "the database did not take a batch");
        let lost_connection = error.as_database_error().is_none();
        self.kept = self.refuse_messages(writes, Error::Database(error));
        self.retry_at = Instant::now() + RETRY;
        if lost_connection {
            match self.reconnect.connect().await {
                Ok(connection) => self.connection = connection,
                Err(error) => tracing::error!(%error, "could not open the database again"),
            }
        }
    }

    /// Something in the batch cannot be written. Each write goes by itself, so that only it fails.
    async fn one_by_one(&mut self, writes: Vec<Write>) {
        let mut writes = writes.into_iter();
        while let Some(write) = writes.next() {
            match self.commit(std::slice::from_ref(&write)).await {
                Ok(()) => self.reporter.done(write.ticket),
                Err(error) => match failure(&error) {
                    Failure::Content => {
                        // Not what they carry: that is nobody's business who reads the log.
                        let records = write.records.len();
                        tracing::error!(%error, records, "cannot be written");
                        let error = Arc::new(Error::Database(error));
                        self.reporter.failed(vec![write.ticket], error);
                    }
                    Failure::Busy | Failure::Disk => {
                        let rest = std::iter::once(write).chain(writes).collect();
                        return self.keep(rest, error).await;
                    }
                },
            }
        }
    }

    async fn commit(&mut self, writes: &[Write]) -> Result<(), sqlx::Error> {
        let batch = Batch::of(writes.iter().flat_map(|write| &write.records));
        let mut tries = 1;
        loop {
            match self.transact(&batch).await {
                Ok(()) => break,
                Err(error) => {
                    // Fails if SQLite has rolled back already, which is as good.
                    drop(sqlx::query(ROLLBACK).execute(&mut self.connection).await);
                    if failure(&error) != Failure::Busy || tries == BUSY_TRIES {
                        return Err(error);
                    }
                    tries += 1;
                }
            }
        }
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.house.written();
        Ok(())
    }

    /// The order matters where one row is looked at to change another.
    async fn transact(&mut self, batch: &Batch<'_>) -> Result<(), sqlx::Error> {
        let connection = &mut self.connection;
        let indexed = self.house.indexed_up_to();
        let mut delta = batch.delta;
        begin(&mut *connection).await?;
        agent::apply(&mut *connection, &batch.agents).await?;
        subscription::apply(&mut *connection, &batch.subscriptions).await?;
        message::insert(&mut *connection, &batch.messages).await?;
        search::mark_late(&mut *connection, &batch.messages, indexed).await?;
        for settles in &batch.settles {
            search::mark(&mut *connection, settles, indexed).await?;
            message::settle(&mut *connection, settles, &mut delta).await?;
        }
        delivery::insert(&mut *connection, &batch.deliveries).await?;
        delivery::change(&mut *connection, &batch.changes).await?;
        delivery::insert_attempts(&mut *connection, &batch.attempts).await?;
        dead_letter::insert(&mut *connection, &batch.dead_letters).await?;
        dead_letter::change(&mut *connection, &batch.letters).await?;
        job::apply(&mut *connection, &batch.jobs).await?;
        audit::insert(&mut *connection, &batch.audits).await?;
        decision::insert(&mut *connection, &batch.decisions).await?;
        token::apply(&mut *connection, &batch.tokens).await?;
        mail::apply(&mut *connection, &batch.mail).await?;
        announced::apply(&mut *connection, &batch.trust).await?;
        rule::apply(&mut *connection, &batch.rules).await?;
        session::apply(&mut *connection, &batch.sessions).await?;
        presence::apply(&mut *connection, &batch.presences, batch.running).await?;
        figure::apply(&mut *connection, &batch.figures).await?;
        saved::apply(&mut *connection, &batch.saved).await?;
        total::commit(&mut *connection, &delta).await
    }

    async fn finish(mut self) {
        for _ in 0..LAST_TRIES {
            if !self.kept.is_empty() {
                self.take(Vec::new()).await;
            }
        }
        if !self.kept.is_empty() {
            let count = self.kept.len();
            tracing::error!(count, "closed with writes that the disk did not take");
        }
        if let Err(error) = checkpoint::finish(&mut self.connection).await {
            tracing::warn!(%error, "could not move the log into the database; the next start will");
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "could not close the database");
        }
        drop(self.lock);
    }
}

/// That a transaction cannot even begin is no fault of what it would write: the connection is in a
/// state that only a new one can mend.
async fn begin(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    match sqlx::query(BEGIN).execute(connection).await {
        Ok(_) => Ok(()),
        Err(error) => Err(match failure(&error) {
            Failure::Content => sqlx::Error::Protocol(error.to_string()),
            Failure::Busy | Failure::Disk => error,
        }),
    }
}
