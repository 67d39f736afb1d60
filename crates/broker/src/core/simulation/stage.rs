//! The core on a stage: time is what the play says, the disk is heard of when the play says so, and the
//! broker can end at any moment. What is written is written for good, by the real store.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use switchboard_model::{Command, MessageState, Timestamp};
use switchboard_store::{Commit, Opened, Options, Store, Ticket};
use tempfile::TempDir;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;

use super::super::{Core, Ends};
use crate::broker::{Caller, Input};
use crate::clock::Now;
use crate::replies::{Replied, ReplyTo};
use crate::{Metrics, RetryRule, Settings};

/// Small limits, so that a play of some hundred acts meets all of them.
fn settings() -> Settings {
    Settings {
        timeout: Duration::from_secs(5),
        retry: RetryRule { attempts: 3, backoff: Duration::from_secs(1), multiplier: 2.0 },
        unrouted: Duration::from_secs(2),
        in_flight: 3,
        queue: 6,
        drain: Duration::from_secs(1),
        ..Settings::default()
    }
}

pub(super) fn attempts() -> u32 {
    settings().retry.attempts
}

pub(super) fn timeout() -> Duration {
    settings().timeout
}

fn options(full: bool) -> Options {
    let disk_free_mb = if full { u64::MAX } else { 0 };
    Options { disk_free_mb, ..Options::default() }
}

pub(super) struct Stage {
    folder: TempDir,
    core: Option<Core>,
    inputs: mpsc::Sender<Input>,
    inbox: mpsc::Receiver<Input>,
    /// What the core takes in its next pass.
    pending: Vec<Input>,
    /// What the disk has said and the core has not heard.
    unheard: VecDeque<Commit>,
    /// The last write that the disk was asked about.
    flushed: Ticket,
    began: Instant,
    passed: Duration,
    wall: Timestamp,
}

impl Stage {
    /// A new broker, on a copy of an empty database: to make one takes longer than a play.
    pub(super) async fn new(empty: &Path) -> Self {
        let folder = TempDir::new_in(empty.parent().unwrap()).unwrap();
        for file in std::fs::read_dir(empty).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        let (began, passed, wall) =
            (Instant::now(), Duration::ZERO, Timestamp(1_800_000_000_000_000));
        let (core, inputs, inbox) = open(folder.path(), Now { wall, monotonic: began }).await;
        let (pending, unheard, flushed) = (Vec::new(), VecDeque::new(), Ticket(0));
        let core = Some(core);
        Self { folder, core, inputs, inbox, pending, unheard, flushed, began, passed, wall }
    }

    pub(super) fn core(&self) -> &Core {
        self.core.as_ref().unwrap()
    }

    pub(super) fn now(&self) -> Duration {
        self.passed
    }

    pub(super) fn wall(&self) -> Timestamp {
        self.wall
    }

    pub(super) fn let_pass(&mut self, time: Duration) {
        self.passed += time;
        self.wall = self.wall.plus(time);
    }

    /// Somebody sets the time of day.
    pub(super) fn set_the_clock(&mut self, minutes: i16) {
        self.wall = Timestamp(self.wall.0 + i64::from(minutes) * 60_000_000);
    }

    pub(super) fn input(&mut self, input: Input) {
        self.pending.push(input);
    }

    pub(super) fn submit(
        &mut self,
        caller: Caller,
        command: Command,
    ) -> oneshot::Receiver<Replied> {
        let (reply, replied) = oneshot::channel();
        self.input(Input::Submit { caller, command, reply: Some(ReplyTo::Waiting(reply)) });
        replied
    }

    /// The core takes what is there, and what it reads beside itself meanwhile.
    pub(super) async fn pass(&mut self) {
        self.one_pass().await;
        // Whoever reads for the core holds a way back to it until the core has what was read.
        while self.inputs.strong_count() > 1 {
            self.flush().await;
            let back = tokio::time::timeout(Duration::from_secs(20), self.inbox.recv()).await;
            self.pending.push(back.expect("what was read came back").unwrap());
            self.one_pass().await;
            tokio::task::yield_now().await;
        }
    }

    async fn one_pass(&mut self) {
        let now = Now { wall: self.wall, monotonic: self.began + self.passed };
        let core = self.core.as_mut().unwrap();
        core.look_at_the_clock(now);
        core.pass(&mut self.pending).await;
    }

    /// Waits until everything that was given to the disk is dealt with. The core does not hear of it yet; then it hears of
    /// each write by itself, because which of them the disk takes together is up to chance.
    pub(super) async fn flush(&mut self) {
        let core = self.core.as_mut().unwrap();
        let last = core.store.write(Vec::new()).await.unwrap();
        let mut refused = HashMap::new();
        loop {
            match core.commits.recv().await.unwrap() {
                Commit::Done { up_to } if up_to >= last => break,
                Commit::Done { .. } => {}
                Commit::Failed { tickets, error } => {
                    refused.extend(tickets.into_iter().map(|ticket| (ticket, error.clone())));
                }
            }
        }
        for ticket in (self.flushed.0 + 1..=last.0).map(Ticket) {
            self.unheard.push_back(match refused.remove(&ticket) {
                Some(error) => Commit::Failed { tickets: vec![ticket], error },
                None => Commit::Done { up_to: ticket },
            });
        }
        self.flushed = last;
    }

    /// The core hears the next thing that the disk has said; false if there is none.
    pub(super) async fn hear_one(&mut self) -> bool {
        let Some(commit) = self.unheard.pop_front() else { return false };
        self.core.as_mut().unwrap().committed(commit);
        self.pass().await;
        true
    }

    /// The disk takes no new messages, or does again.
    pub(super) async fn fill_disk(&mut self, full: bool) {
        self.flush().await;
        self.core().store.change(options(full));
    }

    pub(super) fn store(&self) -> Store {
        self.core().store.clone()
    }

    /// The broker ends in the middle of what it does, and is started again: what it had not given to
    /// the disk is lost.
    pub(super) async fn crash(&mut self) {
        let core = self.core.take().unwrap();
        let store = core.store.clone();
        drop(core);
        self.pending.clear();
        self.unheard.clear();
        store.close().await;
        let now = Now { wall: self.wall, monotonic: self.began + self.passed };
        let (core, inputs, inbox) = open(self.folder.path(), now).await;
        (self.core, self.inputs, self.inbox) = (Some(core), inputs, inbox);
        self.flushed = Ticket(0);
    }

    /// The broker was stopped, and has ended.
    pub(super) async fn close(&mut self) {
        assert!(self.core().is_done(), "a broker that was stopped ends");
        self.core.as_mut().unwrap().close_down().await;
    }

    /// Whether the core has nothing more to do for this message, which was accepted.
    pub(super) fn is_settled(&self, seq: u64) -> bool {
        let core = self.core();
        match core.journeys.get(&seq) {
            Some(journey) => journey.dispatch.state() != MessageState::Waiting,
            None => !core.parking.contains(seq),
        }
    }

    /// What the core still holds, in words; none if it holds nothing.
    pub(super) fn left_open(&self) -> Option<String> {
        let core = self.core();
        let counts = [
            ("waiting", usize::try_from(core.totals.waiting).unwrap()),
            ("journeys", core.journeys.len()),
            ("deliveries", core.deliveries.len()),
            ("not on disk", core.receipts.outstanding()),
            ("resting", core.resting.len()),
            ("unwritten", core.accepted.len()),
        ];
        let left: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        (!left.is_empty()).then(|| left.join(", "))
    }
}

async fn open(folder: &Path, now: Now) -> (Core, mpsc::Sender<Input>, mpsc::Receiver<Input>) {
    let opened: Opened = Store::open(folder, &options(false)).await.unwrap();
    let (inputs, inbox) = mpsc::channel(64);
    let (totals, _) = watch::channel(opened.restored.totals);
    let ends = Ends {
        inputs: inputs.downgrade(),
        events: broadcast::channel(16).0,
        totals,
        announcements: broadcast::channel(16).0,
        announced_on_bus: broadcast::channel(16).0,
        open_letters: Arc::new(AtomicU64::new(0)),
        metrics: Metrics::default(),
    };
    (Core::restore(settings(), opened, ends, now).await, inputs, inbox)
}
