//! Dead letters: listed, sent again, thrown away, carried elsewhere.

use switchboard_broker::{Caller, now};
use switchboard_model::{
    Code, Command, DeadMessage, JobAction, JobView, LetterFilter, LetterStatus, MessageId, NewJob,
    Replay,
};
use switchboard_store::LetterList;

use super::{Console, invalid, lines, parse_topic, reading_failed, unexpected};
use crate::api::{
    CallError, Cause, DiscardMany, ExportLetters, ImportLetters, Imported, LetterLines, LetterPage,
    LetterQuery, RefusedLine, ReplayMany, ReplayOne, RestoreMany, SendResult,
};
use crate::desk::MAX_PAGE;

/// The most letters in one page of an export.
const EXPORTED: u32 = 200;
/// Letters taken in with one write: so many, or as soon as their lines come to so many bytes.
const IMPORTED: usize = 100;
const IMPORTED_BYTES: usize = 4 << 20;
/// The fastest rate that can be asked for; faster is as fast as they are taken.
const MAX_PER_SECOND: u32 = 100_000;
/// The most letters that can be named one by one.
const MAX_IDS: usize = 10_000;

impl Console {
    pub(super) async fn letters(&self, query: LetterQuery) -> Result<LetterPage, CallError> {
        if !(1..=MAX_PAGE).contains(&query.limit) {
            return Err(invalid(format!("limit must be 1 to {MAX_PAGE}")));
        }
        let (filter, store) = (checked(query.filter)?, self.store());
        let payloads = query.payloads.unwrap_or(false);
        let list = store.letters(&filter, query.before, query.limit, payloads).await;
        let LetterList { rows, more, matching } = list.map_err(|error| reading_failed(&error))?;
        let causes = store.causes().await.map_err(|error| reading_failed(&error))?;
        let next = rows.last().filter(|_| more).map(|row| row.seq);
        let causes = causes.into_iter().map(|(reason, count)| Cause { reason, count }).collect();
        Ok(LetterPage { rows, next, matching, causes })
    }

    async fn count(&self, filter: &LetterFilter) -> Result<u64, CallError> {
        self.store().count_letters(filter).await.map_err(|error| reading_failed(&error))
    }

    pub(super) async fn replay(&self, one: ReplayOne) -> Result<SendResult, CallError> {
        let topic = one.topic.as_deref().map(parse_topic).transpose()?;
        let payload = one.payload.as_deref().map(|text| self.parse_payload(text)).transpose()?;
        let letter = self.letter(one.id).await?;
        self.sent(Command::Replay(Box::new(Replay { letter, topic, payload }))).await
    }

    /// An open letter.
    pub(super) async fn letter(&self, id: MessageId) -> Result<DeadMessage, CallError> {
        let filter = LetterFilter { ids: Some(vec![id]), ..LetterFilter::default() };
        let found = self.store().dead_messages(&filter, 0, u64::MAX, 1, false).await;
        let found = found.map_err(|error| reading_failed(&error))?.0.pop();
        found.ok_or_else(|| CallError {
            code: Code::NotFound,
            message: format!(
                "{id} is no open dead letter: it was replayed, discarded or never died"
            ),
        })
    }

    pub(super) async fn replay_many(&self, many: ReplayMany) -> Result<JobView, CallError> {
        if many.per_second.is_some_and(|rate| !(1..=MAX_PER_SECOND).contains(&rate)) {
            return Err(invalid(format!("perSecond must be 1 to {MAX_PER_SECOND}")));
        }
        let topic = many.topic.as_deref().map(parse_topic).transpose()?;
        let action = JobAction::Replay { topic, per_second: many.per_second };
        self.start(action, many.filter, LetterStatus::Open).await
    }

    pub(super) async fn discard(&self, many: DiscardMany) -> Result<JobView, CallError> {
        let note = many.reason.trim().to_owned();
        if note.is_empty() || note.len() > 1024 {
            return Err(invalid("say why in reason, in at most 1024 bytes".to_owned()));
        }
        self.start(JobAction::Discard { note }, many.filter, LetterStatus::Open).await
    }

    pub(super) async fn restore(&self, many: RestoreMany) -> Result<JobView, CallError> {
        self.start(JobAction::Restore, many.filter, LetterStatus::Discarded).await
    }

    async fn start(
        &self,
        action: JobAction,
        filter: LetterFilter,
        status: LetterStatus,
    ) -> Result<JobView, CallError> {
        let filter = LetterFilter { status: Some(status), ..checked(filter)? };
        let total = self.count(&filter).await?;
        self.turn_job(Command::StartJob(NewJob { action, filter, total })).await
    }

    /// Submits what changes a job.
    pub(super) async fn turn_job(&self, command: Command) -> Result<JobView, CallError> {
        let reply = self.broker().submit(Caller::Operator, command).await?;
        reply.job().ok_or_else(unexpected)
    }

    pub(super) async fn export_letters(
        &self,
        export: ExportLetters,
    ) -> Result<LetterLines, CallError> {
        let filter = checked(export.filter)?;
        let after = export.after.unwrap_or(0);
        let read = self.store().dead_messages(&filter, after, u64::MAX, EXPORTED, true).await;
        let (letters, more) = read.map_err(|error| reading_failed(&error))?;
        let next = letters.last().filter(|_| more).map(|last| last.message.seq);
        let mut text = String::new();
        for letter in &letters {
            text.push_str(&lines::write(letter).map_err(|error| {
                tracing::error!(%error, "a dead letter could not be written as JSON");
                unexpected()
            })?);
            text.push('\n');
        }
        Ok(LetterLines { lines: text, next })
    }

    pub(super) async fn import_letters(
        &self,
        import: ImportLetters,
    ) -> Result<Imported, CallError> {
        // One import at a time: each looks for what is here already before it writes.
        let _turn = self.parts.importing.lock().await;
        let mut result = Imported::default();
        let terms = lines::Terms { now: now(), message_bytes: self.parts.message_bytes };
        let (mut letters, mut bytes) = (Vec::<DeadMessage>::new(), 0);
        for (number, line) in (1..).zip(import.lines.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            match lines::read(line, &terms) {
                Ok(letter) => {
                    let again = letters.iter().any(|one| one.message.id == letter.message.id);
                    if again || self.knows(letter.message.id).await? {
                        result.already_here += 1;
                    } else {
                        bytes += line.len();
                        letters.push(letter);
                    }
                }
                Err(message) => result.refused.push(RefusedLine { line: number, message }),
            }
            if letters.len() == IMPORTED || bytes >= IMPORTED_BYTES {
                bytes = 0;
                result.imported += self.take_in(std::mem::take(&mut letters)).await?;
            }
        }
        if !letters.is_empty() {
            result.imported += self.take_in(letters).await?;
        }
        Ok(result)
    }

    async fn knows(&self, id: MessageId) -> Result<bool, CallError> {
        let found = self.store().message(id).await.map_err(|error| reading_failed(&error))?;
        Ok(found.is_some())
    }

    async fn take_in(&self, letters: Vec<DeadMessage>) -> Result<u64, CallError> {
        let reply = self.broker().submit(Caller::Operator, Command::Import(letters)).await?;
        reply.imported().map(|count| count as u64).ok_or_else(unexpected)
    }
}

fn checked(filter: LetterFilter) -> Result<LetterFilter, CallError> {
    match &filter.ids {
        Some(ids) if ids.len() > MAX_IDS => Err(invalid(format!(
            "{} letters are named: name at most {MAX_IDS}, or say which by a filter",
            ids.len()
        ))),
        Some(_) | None => Ok(filter),
    }
}
