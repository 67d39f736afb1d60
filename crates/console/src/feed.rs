//! The live feed of one screen: a snapshot, then one batch a frame.
//!
//! Whatever the traffic, a batch has at most a few hundred rows and says how many more there were;
//! totals and figures are exact. A feed that falls behind starts over with a snapshot.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use switchboard_model::{
    AgentId, AgentView, Event, Events, JobId, JobView, Message, MessageFilter, MessageRow,
    MessageState,
};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

use crate::Console;
use crate::api::{DiedAgain, FeedEvent, Figures, Moved, Status};

/// A batch at most so often: more than an eye can follow.
const FRAME: Duration = Duration::from_millis(50);
/// Rows in a snapshot, and in a batch: a screen shows some thirty.
const ROWS: usize = 300;
const NEW_ROWS: usize = 100;
/// Rows that were sent and may still move, and of which the screen wants to hear again.
const FOLLOWED: usize = 4000;
/// Messages that died again, in one batch; the history and the jobs have them all.
const DIED_AGAIN: usize = 100;
/// How many frames a message that moved is looked for in the store, which may learn of it later.
const PATIENCE: u8 = 40;

/// A live feed. Ends when it is dropped, or with the broker.
pub struct Feed {
    console: Console,
    filter: MessageFilter,
    events: Receiver<Events>,
    status: watch::Receiver<Status>,
    figures: watch::Receiver<Figures>,
    frames: Interval,
    seq: u64,
    /// What the next batch will say.
    agents: BTreeMap<AgentId, Arc<AgentView>>,
    jobs: BTreeMap<JobId, Arc<JobView>>,
    rows: VecDeque<MessageRow>,
    skipped: u64,
    moved: BTreeMap<u64, Moved>,
    /// Rows that the screen has and that may still move.
    followed: BTreeSet<u64>,
    /// Messages that moved into the filter but are too old to be remembered, with how many more
    /// frames they are looked for.
    late: BTreeMap<u64, u8>,
    /// Whether the rules changed.
    rules: bool,
    /// Whether something changed about who is announced.
    discovery: bool,
    /// Whether a session was opened or changed.
    sessions: bool,
    /// Messages that were sent in the place of dead letters, and died too.
    died_again: Vec<DiedAgain>,
    /// The newest row that was shown or passed over.
    newest: Option<u64>,
    behind: bool,
}

impl Feed {
    pub(crate) fn open(console: Console, filter: MessageFilter) -> Self {
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            events: console.broker().events(),
            status: console.status_changes(),
            figures: console.recent().figures_changes(),
            console,
            filter,
            frames,
            seq: 0,
            agents: BTreeMap::new(),
            jobs: BTreeMap::new(),
            rows: VecDeque::new(),
            skipped: 0,
            moved: BTreeMap::new(),
            followed: BTreeSet::new(),
            late: BTreeMap::new(),
            rules: false,
            discovery: false,
            sessions: false,
            died_again: Vec::new(),
            newest: None,
            behind: true,
        }
    }

    /// The next thing to tell the screen; none once the broker has stopped.
    pub async fn next(&mut self) -> Option<FeedEvent> {
        loop {
            if self.behind {
                return Some(self.snapshot().await);
            }
            tokio::select! {
                events = self.events.recv() => match events {
                    Ok(events) => events.iter().for_each(|event| self.take(event.clone())),
                    Err(RecvError::Lagged(_)) => self.behind = true,
                    Err(RecvError::Closed) => return None,
                },
                _ = self.frames.tick() => {
                    self.look_for_late().await;
                    if self.has_news() {
                        return Some(self.batch());
                    }
                }
            }
        }
    }

    /// Everything as it is now. Events that come meanwhile wait in the channel, and what they say
    /// again is passed over. Not waited for to the end, it is begun anew the next time.
    async fn snapshot(&mut self) -> FeedEvent {
        self.events = self.events.resubscribe();
        self.status.mark_unchanged();
        self.figures.mark_unchanged();
        let on_disk = self.console.store().messages(&self.filter, None, ROWS as u32, false).await;
        let mut rows = on_disk.map(|page| page.rows).unwrap_or_else(|error| {
            tracing::error!(%error, "a feed begins without history");
            Vec::new()
        });
        let agents = self.console.broker().agents().await;
        let jobs = self.console.broker().jobs().await;
        // The newest may not be on disk yet.
        let fresh = self.console.recent().rows_after(rows.first().map(|row| row.seq));
        self.newest = fresh.last().map(|(row, _)| row.seq).or(rows.first().map(|row| row.seq));
        for (row, message) in fresh {
            if self.filter.accepts(&row, message.payload.as_str()) {
                rows.insert(0, row);
            }
        }
        rows.truncate(ROWS);
        self.followed = rows.iter().filter(|row| may_move(row.state)).map(|row| row.seq).collect();
        self.agents.clear();
        self.jobs.clear();
        self.rows.clear();
        self.skipped = 0;
        self.moved.clear();
        self.late.clear();
        self.behind = false;
        FeedEvent::Snapshot {
            seq: self.next_seq(),
            status: self.console.status(),
            totals: self.console.broker().totals(),
            figures: self.figures_now(),
            agents,
            rows,
            jobs,
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Accepted(message) => {
                if self.newest.is_none_or(|newest| newest < message.seq) {
                    self.newest = Some(message.seq);
                    self.show(MessageRow::of(&message), &message);
                }
            }
            Event::Moved { seq, state, to, took_micros, error, retry_at, last_asked: _ } => {
                let error = error.as_deref().map(str::to_owned);
                self.move_on(Moved { seq, state, to, took_micros, error, retry_at });
            }
            Event::Withdrawn { seq } => {
                let error = Some("could not be written to disk".to_owned());
                let state = MessageState::Refused;
                let (to, took_micros, retry_at) = (None, None, None);
                self.move_on(Moved { seq, state, to, took_micros, error, retry_at });
            }
            Event::Refused(message, error) => {
                let mut row = MessageRow::of(&message);
                row.state = MessageState::Refused;
                row.error = Some(error.to_string());
                if self.newest.is_none_or(|newest| newest < message.seq) {
                    self.newest = Some(message.seq);
                    self.show(row, &message);
                }
            }
            Event::DiedAgain { id, replay_of, topic, error } => {
                if self.died_again.len() < DIED_AGAIN {
                    let (topic, error) = (topic.as_str().to_owned(), Some(error.to_string()));
                    self.died_again.push(DiedAgain { id, replay_of, topic, error });
                }
            }
            Event::Sessions => self.sessions = true,
            Event::Rules => self.rules = true,
            Event::Discovery => self.discovery = true,
            Event::Agent(view) => drop(self.agents.insert(view.id.clone(), view)),
            Event::Job(view) => drop(self.jobs.insert(view.id, view)),
        }
    }

    fn show(&mut self, row: MessageRow, message: &Message) {
        if !self.filter.accepts(&row, message.payload.as_str()) {
            return;
        }
        if self.rows.len() == NEW_ROWS {
            self.rows.pop_front();
            self.skipped += 1;
        }
        self.rows.push_back(row);
    }

    fn move_on(&mut self, moved: Moved) {
        // Rows are in order, and what moves is mostly young: search from the newest.
        if let Some(row) = self.rows.iter_mut().rev().find(|row| row.seq == moved.seq) {
            return moved.apply(row);
        }
        if self.followed.contains(&moved.seq) {
            if !may_move(moved.state) {
                self.followed.remove(&moved.seq);
            }
            self.moved.insert(moved.seq, moved);
            return;
        }
        // It may have moved into the filter just now.
        if self.filter.state == Some(moved.state) {
            match self.console.recent().row(moved.seq) {
                Some((mut row, message)) => {
                    moved.apply(&mut row);
                    self.show(row, &message);
                }
                None => drop(self.late.insert(moved.seq, PATIENCE)),
            }
        }
    }

    /// Fetches messages that moved into the filter after they were forgotten here.
    async fn look_for_late(&mut self) {
        let Some((&newest, _)) = self.late.last_key_value() else {
            return;
        };
        let page =
            self.console.store().messages(&self.filter, Some(newest + 1), ROWS as u32, false);
        for row in page.await.map(|page| page.rows).unwrap_or_default() {
            if self.late.remove(&row.seq).is_some() && self.rows.len() < NEW_ROWS {
                self.rows.push_front(row);
            }
        }
        self.late.retain(|_, patience| {
            *patience -= 1;
            *patience > 0
        });
    }

    fn has_news(&self) -> bool {
        !self.rows.is_empty()
            || !self.moved.is_empty()
            || !self.agents.is_empty()
            || !self.jobs.is_empty()
            || self.rules
            || self.discovery
            || self.sessions
            || !self.died_again.is_empty()
            || self.status.has_changed().unwrap_or(false)
            || self.figures.has_changed().unwrap_or(false)
    }

    fn batch(&mut self) -> FeedEvent {
        let status_changed = self.status.has_changed().unwrap_or(false);
        self.status.mark_unchanged();
        self.figures.mark_unchanged();
        let rows: Vec<MessageRow> = std::mem::take(&mut self.rows).into();
        self.followed.extend(rows.iter().filter(|row| may_move(row.state)).map(|row| row.seq));
        while self.followed.len() > FOLLOWED {
            self.followed.pop_first();
        }
        let agents = std::mem::take(&mut self.agents).into_values();
        let jobs = std::mem::take(&mut self.jobs).into_values();
        FeedEvent::Batch {
            seq: self.next_seq(),
            totals: self.console.broker().totals(),
            figures: self.figures_now(),
            status: status_changed.then(|| self.console.status()),
            agents: agents.map(Arc::unwrap_or_clone).collect(),
            rows,
            skipped: std::mem::take(&mut self.skipped),
            moved: std::mem::take(&mut self.moved).into_values().collect(),
            jobs: jobs.map(Arc::unwrap_or_clone).collect(),
            rules: std::mem::take(&mut self.rules),
            discovery: std::mem::take(&mut self.discovery),
            sessions: std::mem::take(&mut self.sessions),
            died_again: std::mem::take(&mut self.died_again),
        }
    }

    /// The figures as they were last taken, with what is counted as it happens.
    fn figures_now(&self) -> Figures {
        let open_letters = self.console.broker().open_letters();
        Figures { open_letters, ..self.console.recent().figures() }
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }
}

/// Whether a message of this state may be heard of again; what died may be sent again.
fn may_move(state: MessageState) -> bool {
    match state {
        MessageState::Waiting
        | MessageState::Dead
        | MessageState::Expired
        | MessageState::Discarded => true,
        MessageState::Processed | MessageState::Refused => false,
    }
}

impl Moved {
    pub(crate) fn apply(&self, row: &mut MessageRow) {
        row.state = self.state;
        row.took_micros = self.took_micros.or(row.took_micros);
        row.retry_at = self.retry_at;
        // What the operator does with a dead message does not change what went wrong with it.
        if self.error.is_some() || self.took_micros.is_some() {
            row.error.clone_from(&self.error);
        }
        if let Some(to) = &self.to {
            row.to = Some(to.clone());
        }
    }
}
