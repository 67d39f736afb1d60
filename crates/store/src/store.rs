//! The handle that the broker and the console hold.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::Connection;
use sqlx::sqlite::SqlitePool;
use switchboard_model::{
    AgentId, ConversationId, ConversationMessage, ConversationRow, DeadMessage, DeadReason, JobId,
    LetterFilter, Mail, MailPage, MailStatus, Message, MessageDetail, MessageFilter, MessageId,
    MessageRow, MessageSummary, Payload, RuleChange, Saved, Scope, SessionView, Tally, Timestamp,
};
use tokio::sync::{Mutex, oneshot, watch};

use crate::message::Readable;
use crate::open::{self, log_path};
use crate::queue::Queue;
use crate::trouble::Troubles;
use crate::upkeep::Upkeep;
use crate::{
    Audited, Backup, Closed, Error, Kept, LetterList, MessageList, NamedRequest, Opened, Options,
    QueueFull, Record, Relation, Replayed, RequestGroup, Scopes, Then, Ticket, Tried, Trouble,
    TroubleKind, Work, audit, block, conversation, dead_letter, decision, delivery, figure,
    history, job, letters, mail, message, moment, related, rule, saved, search,
};

/// Everything that is remembered. Cloning is cheap; all clones are the same store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    queue: Queue,
    /// For what the operator looks at.
    readers: SqlitePool,
    /// For what a delivery waits for.
    delivery_readers: SqlitePool,
    /// For what a job waits for.
    job_readers: SqlitePool,
    database: PathBuf,
    upkeep: Upkeep,
    troubles: Troubles,
    tasks: Mutex<Option<Tasks>>,
}

struct Tasks {
    writer: oneshot::Receiver<()>,
    checkpointer: oneshot::Receiver<()>,
}

impl Store {
    /// Opens the store in this folder; creates folder and database, readable by their owner only,
    /// where they are missing.
    pub async fn open(dir: &Path, options: &Options) -> Result<Opened, Error> {
        let parts = open::open(dir, options).await?;
        let no_thread = |error: io::Error| Error::Database(error.into());
        let tasks = Tasks {
            writer: parts.writer.start().map_err(no_thread)?,
            checkpointer: parts.checkpointer.start().map_err(no_thread)?,
        };
        Connection::close(parts.connection).await?;
        let inner = Inner {
            queue: parts.queue,
            readers: parts.readers,
            delivery_readers: parts.delivery_readers,
            job_readers: parts.job_readers,
            database: parts.database,
            upkeep: parts.upkeep,
            troubles: parts.troubles,
            tasks: Mutex::new(Some(tasks)),
        };
        Ok(Opened {
            store: Self { inner: Arc::new(inner) },
            commits: parts.commits,
            restored: parts.restored,
        })
    }

    #[cfg(test)]
    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.inner.readers
    }

    /// Writes these records together if there is room at once; for new messages, whose sender can be
    /// told to try again. The ticket comes back in a `Commit`.
    pub fn try_write(&self, write: Vec<Record>) -> Result<Ticket, QueueFull> {
        self.inner.queue.try_write(write)
    }

    /// The same. What must not be lost goes with them, but has a ticket of its own and stays where
    /// it is if there is no room. The tickets come back in a `Commit`.
    pub fn try_write_with(
        &self,
        write: Vec<Record>,
        others: &mut Vec<Record>,
    ) -> Result<(Ticket, Option<Ticket>), QueueFull> {
        self.inner.queue.try_write_with(write, others)
    }

    /// Writes these records together, when there is room; for what must not be lost. The ticket
    /// comes back in a `Commit`.
    pub async fn write(&self, write: Vec<Record>) -> Result<Ticket, Closed> {
        self.inner.queue.write(write).await
    }

    /// Messages that wait, oldest first, those after `after_seq`.
    pub async fn waiting(&self, after_seq: u64, limit: u32) -> Result<Vec<Message>, Error> {
        let mut reader = self.inner.delivery_readers.acquire().await?;
        Ok(self.rest(message::waiting(&mut reader, after_seq, limit).await?))
    }

    /// Messages that are settled, but have somebody who watches and is to be asked again.
    pub async fn watched(&self) -> Result<Vec<Message>, Error> {
        let mut reader = self.inner.delivery_readers.acquire().await?;
        Ok(self.rest(message::watched(&mut reader).await?))
    }

    /// Requests that somebody took, whose senders were to be answered after `since`, and were not.
    pub async fn unanswered(&self, since: Timestamp) -> Result<Vec<Message>, Error> {
        let mut reader = self.inner.delivery_readers.acquire().await?;
        Ok(self.rest(message::unanswered(&mut reader, since).await?))
    }

    /// What these messages carry, by their seqs.
    pub async fn payloads(&self, messages: &[u64]) -> Result<HashMap<u64, Payload>, Error> {
        let mut reader = self.inner.delivery_readers.acquire().await?;
        Ok(self.rest(message::payloads(&mut reader, messages).await?))
    }

    /// What could be read. Of the rest the operator is told; it stays where it is.
    fn rest<T>(&self, read: Readable<T>) -> T {
        if let Some(error) = read.damage {
            tracing::error!(%error, "a message cannot be read, and waits on");
            self.inner.troubles.begin(TroubleKind::Damage, error.to_string());
        }
        read.rest
    }

    /// What is wrong with the disk, or was last: one of each kind.
    pub fn troubles(&self) -> watch::Receiver<Vec<Trouble>> {
        self.inner.troubles.watch()
    }

    /// What has been tried for these messages, by their seqs. Nobody is to be asked again later after `now` than it was
    /// to be after it was asked last, though the clock may have been set back since.
    pub async fn tried(
        &self,
        messages: &[u64],
        now: Timestamp,
    ) -> Result<Vec<(u64, Tried)>, Error> {
        let mut reader = self.inner.delivery_readers.acquire().await?;
        delivery::tried(&mut reader, messages, now).await
    }

    /// A page of dead letters, newest first: those that pass the filter and come before `before`. With
    /// `payloads` it may end early, because they would be too much for one answer.
    pub async fn letters(
        &self,
        filter: &LetterFilter,
        before: Option<u64>,
        limit: u32,
        payloads: bool,
    ) -> Result<LetterList, Error> {
        letters::page(&self.inner.readers, filter, before, limit, payloads).await
    }

    /// How many dead letters pass the filter.
    pub async fn count_letters(&self, filter: &LetterFilter) -> Result<u64, Error> {
        letters::count(&self.inner.readers, filter).await
    }

    /// How many dead letters are open of each reason, most first.
    pub async fn causes(&self) -> Result<Vec<(DeadReason, u64)>, Error> {
        let mut reader = self.inner.readers.acquire().await?;
        dead_letter::causes(&mut reader).await
    }

    /// Dead letters with their whole messages, oldest first: those that pass the filter, come after
    /// `after` and not after `up_to`. With `attempts`, also what was tried for them. There are fewer
    /// than `limit` where more would be too much at once; says whether there are more.
    pub async fn dead_messages(
        &self,
        filter: &LetterFilter,
        after: u64,
        up_to: u64,
        limit: u32,
        attempts: bool,
    ) -> Result<(Vec<DeadMessage>, bool), Error> {
        letters::dead_messages(&self.inner.job_readers, filter, after, up_to, limit, attempts).await
    }

    /// A page of messages, newest first: those that pass the filter and come before `before`. With
    /// `payloads`, the rows carry them.
    pub async fn messages(
        &self,
        filter: &MessageFilter,
        before: Option<u64>,
        limit: u32,
        payloads: bool,
    ) -> Result<MessageList, Error> {
        history::messages(&self.inner.readers, filter, before, limit, payloads).await
    }

    /// One message with its whole life.
    pub async fn message(&self, id: MessageId) -> Result<Option<MessageDetail>, Error> {
        history::message(&self.inner.readers, id).await
    }

    /// So many messages are described together for searches; fewer are looked at one by one.
    pub const DESCRIBED_TOGETHER: u64 = block::SPAN;

    /// How many messages a search has to look at one by one, because no full block has them yet.
    pub async fn not_indexed(&self) -> Result<u64, Error> {
        let mut reader = self.inner.readers.acquire().await?;
        search::behind(&mut reader).await
    }

    /// One message as it was accepted.
    pub async fn whole_message(&self, id: MessageId) -> Result<Option<Message>, Error> {
        let mut reader = self.inner.readers.acquire().await?;
        message::whole(&mut reader, id).await
    }

    /// The messages that have to do with this one, oldest first; none if there is no such message.
    pub async fn related(
        &self,
        id: MessageId,
    ) -> Result<Option<Vec<(Relation, MessageRow)>>, Error> {
        related::of(&self.inner.readers, id).await
    }

    /// What was asked since then, put together, and the first message that counts.
    pub async fn requests_since(
        &self,
        since: Timestamp,
    ) -> Result<(u64, Vec<RequestGroup>), Error> {
        decision::groups(&self.inner.readers, since).await
    }

    /// The newest requests of these groups, from message `first` on.
    pub async fn requests_of(
        &self,
        first: u64,
        groups: &[RequestGroup],
        limit: u32,
    ) -> Result<Vec<NamedRequest>, Error> {
        decision::named(&self.inner.readers, first, groups, limit).await
    }

    /// Changes of the rules before `before`, newest first.
    pub async fn rule_history(
        &self,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<RuleChange>, Error> {
        rule::history(&self.inner.readers, before, limit).await
    }

    /// How things stood at a moment in the past.
    pub async fn moment(&self, at: Timestamp) -> Result<Then, Error> {
        moment::read(&self.inner.readers, at).await
    }

    /// What became of the messages that these jobs sent in the place of dead letters.
    pub async fn replayed(&self, jobs: &[JobId]) -> Result<Vec<Replayed>, Error> {
        let mut reader = self.inner.job_readers.acquire().await?;
        job::replayed(&mut reader, jobs).await
    }

    /// Conversations whose last message came before `before`, newest first.
    pub async fn conversations(
        &self,
        filter: conversation::ConversationFilter<'_>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, Error> {
        conversation::page(&self.inner.readers, filter, before, limit).await
    }

    /// A conversation's messages, oldest first, how many there are in all, and its session.
    pub async fn conversation(
        &self,
        id: &ConversationId,
        limit: u32,
    ) -> Result<(Vec<ConversationMessage>, u64, Option<SessionView>), Error> {
        conversation::read(&self.inner.readers, id, limit).await
    }

    /// The last messages of a conversation in short, oldest first.
    pub async fn last_messages(
        &self,
        id: &ConversationId,
        limit: u32,
    ) -> Result<Vec<MessageSummary>, Error> {
        conversation::last_messages(&self.inner.readers, id, limit).await
    }

    /// What has come for an agent that it has not fetched, newest first, by their seqs.
    pub async fn unread_mail(&self, agent: &AgentId, limit: u32) -> Result<Vec<u64>, Error> {
        mail::unread(&self.inner.delivery_readers, agent, limit).await
    }

    /// A page of an agent's mailbox, newest first.
    pub async fn mail_page(
        &self,
        agent: &AgentId,
        status: Option<MailStatus>,
        limit: u32,
        offset: u32,
    ) -> Result<MailPage, Error> {
        mail::page(&self.inner.delivery_readers, agent, status, limit, offset).await
    }

    /// One message of an agent's mailbox.
    pub async fn mail(&self, agent: &AgentId, id: MessageId) -> Result<Option<Mail>, Error> {
        mail::one(&self.inner.delivery_readers, agent, id).await
    }

    /// One scope's figures over stretches of so many seconds, since then, oldest first.
    pub async fn figures_of(
        &self,
        span: u32,
        scope: &Scope,
        since: i64,
    ) -> Result<Vec<(i64, Tally)>, Error> {
        figure::of_scope(&self.inner.readers, span, scope, since).await
    }

    /// Figures of many over stretches of so many seconds, since then, oldest first; of everyone if it
    /// is not said of whom.
    pub async fn figures(
        &self,
        span: u32,
        since: i64,
        only: Option<Scopes>,
    ) -> Result<Vec<(Scope, i64, Tally)>, Error> {
        figure::of_all(&self.inner.readers, span, since, only).await
    }

    /// When the last such stretch that is kept began.
    pub async fn last_figures(&self, span: u32) -> Result<Option<i64>, Error> {
        figure::last(&self.inner.readers, span).await
    }

    /// What was done of this kind, before the one of this number, newest first.
    pub async fn audited(
        &self,
        action: &str,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Audited>, Error> {
        audit::page(&self.inner.readers, action, before, limit).await
    }

    /// What the operator keeps for another time.
    pub async fn saved(&self) -> Result<Vec<Saved>, Error> {
        saved::all(&self.inner.readers).await
    }

    /// Bytes on disk: the database and its log.
    pub async fn size_bytes(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for path in [self.inner.database.clone(), log_path(&self.inner.database)] {
            bytes += match tokio::fs::metadata(&path).await {
                Ok(file) => file.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(error) => return Err(Error::Database(error.into())),
            };
        }
        Ok(bytes)
    }

    /// Other limits hold from now on; when a commit counts as done does not change.
    pub fn change(&self, options: Options) {
        self.inner.upkeep.change(options);
    }

    /// What is kept, and how much of it.
    pub async fn kept(&self) -> Result<Kept, Error> {
        self.inner.upkeep.kept().await
    }

    /// What is done to the database now, or was last.
    pub fn work(&self) -> Option<Work> {
        self.inner.upkeep.work()
    }

    /// The last look for damage since the start.
    pub fn last_check(&self) -> Option<Work> {
        self.inner.upkeep.last_check()
    }

    /// Begins to copy the database. Nobody waits for it.
    pub async fn back_up(&self) -> Result<(), Error> {
        self.inner.upkeep.back_up().await
    }

    /// Begins to give back to the disk what is empty.
    pub async fn compact(&self) -> Result<(), Error> {
        self.inner.upkeep.compact().await
    }

    /// Begins to look for damage.
    pub async fn check(&self) -> Result<(), Error> {
        self.inner.upkeep.check().await
    }

    /// Copies of the database, newest first.
    pub fn backups(&self) -> Result<Vec<Backup>, Error> {
        self.inner.upkeep.backups()
    }

    /// Deletes a copy, by its name in the folder of backups.
    pub fn delete_backup(&self, name: &str) -> Result<(), Error> {
        self.inner.upkeep.delete_backup(name)
    }

    /// Lets a copy take the place of the database when the store is opened next; none takes the wish back. What is
    /// replaced is kept among the copies.
    pub async fn restore(&self, file: Option<&str>) -> Result<(), Error> {
        self.inner.upkeep.restore(file).await
    }

    /// The copy that takes the place of the database at the next start.
    pub fn restoring(&self) -> Option<PathBuf> {
        self.inner.upkeep.restoring()
    }

    /// Commits everything in the queue, empties the log and lets go of the folder. Other clones can
    /// neither read nor write from here on.
    pub async fn close(self) {
        self.inner.queue.close();
        let Some(tasks) = self.inner.tasks.lock().await.take() else {
            return;
        };
        self.inner.upkeep.stop().await;
        for readers in [&self.inner.readers, &self.inner.delivery_readers, &self.inner.job_readers]
        {
            readers.close().await;
        }
        if tasks.writer.await.is_err() {
            tracing::error!("the thread that writes ended badly");
        }
        if tasks.checkpointer.await.is_err() {
            tracing::error!("the thread that moves the log ended badly");
        }
    }
}
