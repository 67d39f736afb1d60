//! What the operator does with many dead letters. A job reads them from the disk page by page,
//! beside the core, and deals with each as if it came alone. What it has dealt with is no longer as
//! its filter wants it, so a job that is taken up after a crash does nothing twice.

mod list;

use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    DeadMessage, Event, Fate, JobAction, JobId, JobKind, JobStatus, JobView, NewJob, Replay, Reply,
    Topic, WhatIf,
};
use switchboard_store::{JobRecord, Record, Ticket};

use super::{Core, operator_only};
use crate::Refusal;
use crate::broker::{Caller, Input};
pub(super) use list::Jobs;
use list::{Ending, Job, Reading};

/// Letters read at a time; few, because each may carry a large payload.
const PAGE: u32 = 64;
/// Letters dealt with in one pass, so that agents are not kept waiting.
const STEP: usize = 32;
/// Replayed messages that may wait for the disk before more are sent.
const UNWRITTEN: usize = 1000;
/// Letters that may be set aside for want of room before no more are read.
const SET_ASIDE: usize = 1000;
/// How long a job waits when there is no room for its messages.
const PAUSE: Duration = Duration::from_millis(100);

impl Core {
    pub(super) fn start_job(&mut self, caller: Caller, new: NewJob) -> Result<Reply, Refusal> {
        operator_only(caller)?;
        let id = JobId(self.jobs.next_id);
        self.jobs.next_id += 1;
        let (kind, (topic, per_second, note)) = (new.action.kind(), parts(new.action));
        let view = JobView {
            id,
            kind,
            status: JobStatus::Running,
            filter: new.filter,
            topic: topic.map(|topic| topic.as_str().to_owned()),
            per_second,
            note,
            total: new.total,
            done: 0,
            failed: 0,
            processed: 0,
            died_again: 0,
            last_error: None,
            started_at: self.now.wall,
            ended_at: None,
        };
        self.jobs.all.insert(id, Job::new(view, self.next_seq - 1));
        self.jobs.forget_old();
        Ok(self.job_changed(id))
    }

    pub(super) fn stop_job(&mut self, caller: Caller, id: JobId) -> Result<Reply, Refusal> {
        operator_only(caller)?;
        self.turn_job(id, JobStatus::Running, JobStatus::Stopped)
    }

    pub(super) fn resume_job(&mut self, caller: Caller, id: JobId) -> Result<Reply, Refusal> {
        operator_only(caller)?;
        self.turn_job(id, JobStatus::Stopped, JobStatus::Running)
    }

    fn turn_job(&mut self, id: JobId, from: JobStatus, to: JobStatus) -> Result<Reply, Refusal> {
        let job = self.jobs.all.get_mut(&id).filter(|job| job.view.status == from);
        let job = job.ok_or(Refusal::NoSuchJob(id))?;
        job.view.status = to;
        // What was read is read anew: others may have dealt with it since.
        job.page.clear();
        job.cursor = 0;
        if job.reading == Reading::AtTheEnd {
            job.reading = Reading::Idle;
        }
        Ok(self.job_changed(id))
    }

    /// Shows a job as it is now, and remembers it.
    fn job_changed(&mut self, id: JobId) -> Reply {
        let Some(job) = self.jobs.all.get_mut(&id) else { return Reply::Done };
        job.shown = job.view.done + job.view.failed;
        let (view, up_to) = (job.view.clone(), job.up_to);
        self.bookkeeping.push(Record::Job(Box::new(JobRecord { view: view.clone(), up_to })));
        self.tell(Event::Job(Arc::new(view.clone())));
        Reply::Job(Box::new(view))
    }

    /// Shows what has become of the messages that jobs sent.
    pub(super) fn show_changed_jobs(&mut self) {
        for view in self.jobs.take_changed() {
            self.tell(Event::Job(Arc::new(view)));
        }
    }

    /// What became of the messages that jobs sent before the restart.
    pub(super) async fn recover_jobs(&mut self) {
        let replays = self.jobs.replays();
        if replays.is_empty() {
            return;
        }
        match self.store.replayed(&replays).await {
            Ok(all) => all.into_iter().for_each(|one| self.jobs.recover(one)),
            Err(error) => tracing::error!(%error, "what became of replayed letters is not known"),
        }
    }

    pub(super) fn work_on_jobs(&mut self) {
        let running = self.jobs.all.values().filter(|job| job.view.status == JobStatus::Running);
        let running: Vec<JobId> = running.map(|job| job.view.id).collect();
        for id in running {
            if self.stop_by.is_none() {
                self.work_on(id);
            }
        }
    }

    fn work_on(&mut self, id: JobId) {
        let mut set_aside = 0;
        for _ in 0..STEP {
            let full = self.receipts.outstanding() >= UNWRITTEN;
            let Some(job) = self.jobs.all.get_mut(&id) else { return };
            if job.page.is_empty() {
                break;
            }
            if full {
                job.not_before = Some(self.now.monotonic + PAUSE);
                break;
            }
            if !job.may_go_on(self.now.monotonic) {
                break;
            }
            if job.careful {
                job.not_before = Some(self.now.monotonic + list::DISK_PAUSE);
            }
            let Some(letter) = job.page.pop_front() else { break };
            if let Err(letter) = self.deal_with(id, letter) {
                let Some(job) = self.jobs.all.get_mut(&id) else { return };
                // Others may have room where this one has none.
                job.page.push_back(*letter);
                set_aside += 1;
                if set_aside >= job.page.len() {
                    job.not_before = Some(self.now.monotonic + PAUSE);
                    break;
                }
            }
        }
        let Some(job) = self.jobs.all.get_mut(&id) else { return };
        if !job.page.is_empty() && job.not_before.is_none() {
            // More to do at once; others first.
            job.not_before = Some(self.now.monotonic);
        }
        let changed = job.shown != job.view.done + job.view.failed;
        let stuck = set_aside > 0 && set_aside >= job.page.len() && job.page.len() < SET_ASIDE;
        match (job.page.is_empty() || stuck, job.reading) {
            (true, Reading::AtTheEnd) if stuck => {}
            (true, Reading::AtTheEnd) if job.again_from_the_start => {
                job.again_from_the_start = false;
                (job.cursor, job.reading) = (0, Reading::Idle);
                job.not_before = job.not_before.max(Some(self.now.monotonic + PAUSE));
            }
            (true, Reading::AtTheEnd) if job.ending == Ending::NotYet => {
                job.ending = Ending::Unwritten;
                // Something to be written, so that there is a write to wait for.
                self.job_changed(id);
            }
            (true, Reading::AtTheEnd) => {}
            (true, Reading::Idle) => self.read_letters(id),
            (true, Reading::UnderWay) | (false, _) => {}
        }
        if changed {
            self.job_changed(id);
        }
    }

    /// What was done in this pass goes to the disk with this write.
    pub(super) fn jobs_written(&mut self, ticket: Ticket) {
        for job in self.jobs.all.values_mut().filter(|job| job.ending == Ending::Unwritten) {
            job.ending = Ending::Written(ticket);
        }
    }

    /// Everything up to this write is on disk.
    pub(super) fn end_jobs(&mut self, up_to: Ticket) {
        let ended = |job: &&mut Job| matches!(job.ending, Ending::Written(at) if at <= up_to);
        let mut done = Vec::new();
        for job in self.jobs.all.values_mut().filter(ended) {
            job.ending = Ending::NotYet;
            job.view.status = JobStatus::Done;
            job.view.ended_at = Some(self.now.wall);
            done.push(job.view.id);
        }
        for id in done {
            self.job_changed(id);
        }
    }

    /// Gives the letter back if there is no room for what it becomes.
    fn deal_with(&mut self, id: JobId, letter: DeadMessage) -> Result<(), Box<DeadMessage>> {
        let Some(job) = self.jobs.all.get(&id) else { return Ok(()) };
        let (kind, note) = (job.view.kind, job.view.note.clone().unwrap_or_default());
        let outcome = match kind {
            JobKind::Discard => Ok(self.discard(&letter, &note, id)),
            JobKind::Restore => Ok(self.restore_letter(&letter, id)),
            JobKind::Replay => {
                let topic = job.view.topic.as_deref().and_then(|topic| Topic::parse(topic).ok());
                let replay = Replay { letter, topic, payload: None };
                let from_before = job.from_before;
                let may = self.may_replay(&replay);
                let back = self.is_somebody_back(&replay, from_before);
                match may.and_then(|planned| back.map(|()| planned)) {
                    Ok(planned) => {
                        self.send_in_place(planned, Some(id), None);
                        Ok(true)
                    }
                    Err(
                        why @ (Refusal::DiskBusy
                        | Refusal::QueueFull { .. }
                        | Refusal::NobodyBack
                        | Refusal::Stopping),
                    ) => {
                        if let Some(job) = self.jobs.all.get_mut(&id) {
                            job.view.last_error = Some(why.to_string());
                        }
                        return Err(Box::new(replay.letter));
                    }
                    // Somebody else was faster.
                    Err(Refusal::NoSuchLetter(_)) => Ok(false),
                    Err(refusal) => Err(refusal),
                }
            }
        };
        let Some(job) = self.jobs.all.get_mut(&id) else { return Ok(()) };
        match outcome {
            Ok(true) => job.view.done += 1,
            Ok(false) => {}
            Err(refusal) => {
                job.view.failed += 1;
                job.view.last_error = Some(refusal.to_string());
            }
        }
        Ok(())
    }

    /// After a restart agents have time to come back before their letters are sent again.
    fn is_somebody_back(&self, replay: &Replay, from_before: bool) -> Result<(), Refusal> {
        if !from_before || self.now.monotonic >= self.back_by {
            return Ok(());
        }
        match self.what_if(WhatIf::Replay(Box::new(replay.clone()))).fate {
            Fate::DeadLetter => Err(Refusal::NobodyBack),
            Fate::Asked | Fate::Waits | Fate::DefaultHandler | Fate::Refused => Ok(()),
        }
    }

    /// Reads the next letters of a job, beside the core.
    fn read_letters(&mut self, id: JobId) {
        let Some(job) = self.jobs.all.get_mut(&id) else { return };
        let Some(inputs) = self.inputs.upgrade() else { return };
        job.reading = Reading::UnderWay;
        let (filter, after, up_to) = (job.filter(), job.cursor, job.up_to);
        let store = self.store.clone();
        tokio::spawn(async move {
            let letters = store.dead_messages(&filter, after, up_to, PAGE, false).await;
            if inputs.send(Input::Letters { job: id, letters }).await.is_err() {
                tracing::debug!("the broker stopped while letters were read");
            }
        });
    }

    pub(super) fn letters_read(
        &mut self,
        id: JobId,
        letters: Result<(Vec<DeadMessage>, bool), switchboard_store::Error>,
    ) {
        let Some(job) = self.jobs.all.get_mut(&id) else { return };
        match letters {
            Ok((letters, more)) => {
                job.reading = if more { Reading::Idle } else { Reading::AtTheEnd };
                job.cursor = letters.last().map_or(job.cursor, |last| last.message.seq);
                job.page.extend(letters);
            }
            Err(error) => {
                tracing::error!(%error, "a job could not read its dead letters and was stopped");
                job.reading = Reading::Idle;
                job.view.status = JobStatus::Stopped;
                let error = "the dead letters could not be read from disk; the log says why";
                job.view.last_error = Some(error.to_owned());
                self.job_changed(id);
            }
        }
    }
}

fn parts(action: JobAction) -> (Option<Topic>, Option<u32>, Option<String>) {
    match action {
        JobAction::Replay { topic, per_second } => (topic, per_second, None),
        JobAction::Discard { note } => (None, None, Some(note)),
        JobAction::Restore => (None, None, None),
    }
}
