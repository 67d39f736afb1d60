//! The jobs there are, and how far each is.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use switchboard_model::{
    DeadMessage, JobId, JobKind, JobStatus, JobView, LetterFilter, LetterStatus, MessageState,
};
use switchboard_store::{JobRecord, Replayed, Ticket};
use tokio::time::Instant;

use super::PAUSE;

/// Jobs that ended and are still shown.
const REMEMBERED: usize = 20;

/// How long a job waits when the disk has not taken what it did.
pub(super) const DISK_PAUSE: Duration = Duration::from_secs(2);

/// Every job that runs or can go on, and the last ones that ended.
#[derive(Default)]
pub(in crate::core) struct Jobs {
    pub(super) all: BTreeMap<JobId, Job>,
    pub(super) next_id: u64,
    /// Messages on their way that were sent in the place of letters, by their seqs.
    sent: HashMap<u64, JobId>,
    /// Jobs of which more is known than was shown.
    changed: BTreeSet<JobId>,
}

pub(super) struct Job {
    pub(super) view: JobView,
    pub(super) up_to: u64,
    /// Letters up to here have been looked at since it was last taken up.
    pub(super) cursor: u64,
    pub(super) page: VecDeque<DeadMessage>,
    pub(super) reading: Reading,
    /// Not to be worked on before then.
    pub(super) not_before: Option<Instant>,
    pub(super) shown: u64,
    pub(super) ending: Ending,
    /// The disk did not take something of it, which is still to be done.
    pub(super) again_from_the_start: bool,
    /// Until the disk takes one, they are tried one by one and seldom: each is handed to its
    /// recipient before the disk has it.
    pub(super) careful: bool,
    /// It goes on after a restart: those it sends to may not be back yet.
    pub(super) from_before: bool,
}

/// A job has ended when what it did last is on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    NotYet,
    /// Nothing is left to do.
    Unwritten,
    /// All of it goes to the disk up to this write.
    Written(Ticket),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Idle,
    UnderWay,
    AtTheEnd,
}

impl Jobs {
    pub(in crate::core) fn restore(records: Vec<JobRecord>) -> Self {
        let mut jobs = Self { next_id: 1, ..Self::default() };
        for JobRecord { view, up_to } in records {
            jobs.next_id = jobs.next_id.max(view.id.0 + 1);
            let job = Job { from_before: true, ..Job::new(view, up_to) };
            jobs.all.insert(job.view.id, job);
        }
        jobs.forget_old();
        jobs
    }

    pub(super) fn forget_old(&mut self) {
        let ended = self.all.values().filter(|job| job.view.status == JobStatus::Done);
        let ended: Vec<JobId> = ended.map(|job| job.view.id).collect();
        for id in ended.iter().rev().skip(REMEMBERED) {
            self.all.remove(id);
        }
    }

    /// Newest first.
    pub(in crate::core) fn views(&self) -> Vec<JobView> {
        self.all.values().rev().map(|job| job.view.clone()).collect()
    }

    /// When the next one has something to do.
    pub(in crate::core) fn next(&self) -> Option<Instant> {
        let working = self.all.values().filter(|job| job.view.status == JobStatus::Running);
        // One that waits for the disk is woken by it.
        let has_work = working.filter(|job| !job.page.is_empty());
        has_work.filter_map(|job| job.not_before).min()
    }

    /// The disk took what replaced one of its letters.
    pub(in crate::core) fn took_one(&mut self, id: JobId) {
        if let Some(job) = self.all.get_mut(&id).filter(|job| job.careful) {
            (job.careful, job.not_before) = (false, None);
        }
    }

    /// A message was sent in the place of one of its letters.
    pub(in crate::core) fn sent_one(&mut self, id: JobId, message: u64) {
        self.sent.insert(message, id);
    }

    /// A message is settled; if one of these sent it, that is counted.
    pub(in crate::core) fn settled_one(&mut self, message: u64, state: MessageState) {
        let Some(id) = self.sent.remove(&message) else { return };
        if let Some(count) = self.all.get_mut(&id).and_then(|job| job.count(state)) {
            *count += 1;
            self.changed.insert(id);
        }
    }

    /// Those of which more is known than was shown, as they are now.
    pub(super) fn take_changed(&mut self) -> Vec<JobView> {
        let changed = std::mem::take(&mut self.changed);
        changed.iter().filter_map(|id| Some(self.all.get(id)?.view.clone())).collect()
    }

    /// The jobs that may have sent something.
    pub(super) fn replays(&self) -> Vec<JobId> {
        let replays = self.all.values().filter(|job| job.view.kind == JobKind::Replay);
        replays.map(|job| job.view.id).collect()
    }

    /// What became of the messages that a job sent before the restart.
    pub(super) fn recover(&mut self, replayed: Replayed) {
        if let Some(job) = self.all.get_mut(&replayed.job) {
            job.view.processed = replayed.processed;
            job.view.died_again = replayed.died_again;
            self.sent.extend(replayed.waiting.into_iter().map(|seq| (seq, replayed.job)));
        }
    }

    /// The disk did not take what replaced one of its letters, which had come so far.
    pub(in crate::core) fn undo_one(
        &mut self,
        id: JobId,
        message: u64,
        state: MessageState,
        now: Instant,
    ) {
        self.sent.remove(&message);
        if let Some(job) = self.all.get_mut(&id) {
            if let Some(count) = job.count(state) {
                *count = count.saturating_sub(1);
            }
            job.view.done = job.view.done.saturating_sub(1);
            job.view.last_error = Some("the disk did not take the new message".to_owned());
            (job.again_from_the_start, job.careful) = (true, true);
            job.not_before = Some(now + DISK_PAUSE);
            job.page.clear();
        }
    }
}

impl Job {
    pub(super) fn new(view: JobView, up_to: u64) -> Self {
        let (cursor, page, reading) = (0, VecDeque::new(), Reading::Idle);
        let (not_before, shown, ending) = (None, 0, Ending::NotYet);
        let (again_from_the_start, careful, from_before) = (false, false, false);
        Self {
            view,
            up_to,
            cursor,
            page,
            reading,
            not_before,
            shown,
            ending,
            again_from_the_start,
            careful,
            from_before,
        }
    }

    /// Where messages that it sent are counted when they have come to this state.
    fn count(&mut self, state: MessageState) -> Option<&mut u64> {
        match state {
            MessageState::Processed => Some(&mut self.view.processed),
            MessageState::Dead | MessageState::Expired => Some(&mut self.view.died_again),
            MessageState::Waiting | MessageState::Discarded | MessageState::Refused => None,
        }
    }

    /// The letters it wants are those that it has not dealt with.
    pub(super) fn filter(&self) -> LetterFilter {
        let status = match self.view.kind {
            JobKind::Replay | JobKind::Discard => LetterStatus::Open,
            JobKind::Restore => LetterStatus::Discarded,
        };
        LetterFilter { status: Some(status), ..self.view.filter.clone() }
    }

    /// Whether it may deal with a letter now; keeps to its rate, without making up for long pauses.
    pub(super) fn may_go_on(&mut self, now: Instant) -> bool {
        if self.not_before.is_some_and(|at| now < at) {
            return false;
        }
        self.not_before = self.view.per_second.map(|rate| {
            let since = self.not_before.map_or(now, |at| at.max(now - PAUSE));
            since + Duration::from_secs(1) / rate.max(1)
        });
        true
    }
}
