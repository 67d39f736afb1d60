//! How busy the broker was: a task beside the core that watches what happens, counts it second by
//! second, and lets the core write each minute and each hour to disk.
//!
//! `book` is what is counted, with time as an argument; here it meets the clock, the events and the
//! store. Watching never slows the core: a recorder that falls behind loses events, not messages, and
//! what is counted of everything comes from the core's own totals.

mod book;
mod read;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_model::{Events, Totals};
use switchboard_store::{FigureRecord, Store};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use crate::Metrics;
use crate::broker::Input;
use crate::clock::now;
use book::{Book, Gauges, HOUR, MINUTE, MINUTES_KEPT};

pub use read::{Busy, Stretch};

/// How often the counts of the last moments are put away.
const SECOND: Duration = Duration::from_secs(1);

/// The book that the recorder writes and others read. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Figures {
    book: Arc<Mutex<Book>>,
    totals: watch::Receiver<Totals>,
    metrics: Metrics,
    open_letters: Arc<AtomicU64>,
}

impl Figures {
    pub(crate) fn new(
        totals: watch::Receiver<Totals>,
        metrics: Metrics,
        open_letters: Arc<AtomicU64>,
    ) -> Self {
        Self { book: Arc::default(), totals, metrics, open_letters }
    }

    /// Begins to record. Ends soon after [`Figures::close`], or with the core.
    pub(crate) fn start(
        &self,
        events: Receiver<Events>,
        inputs: mpsc::WeakSender<Input>,
        store: Store,
    ) {
        let recorder = Recorder { events, figures: self.clone(), inputs };
        tokio::spawn(async move {
            recorder.take_up(&store).await;
            recorder.run().await;
        });
    }

    /// Everything that is not written yet. Nothing is counted after this.
    pub(crate) fn close(&self) -> Vec<FigureRecord> {
        self.book().close(self.gauges(), seconds())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gauges(&self) -> Gauges {
        let totals = *self.totals.borrow();
        Gauges {
            accepted: totals.accepted,
            processed: totals.processed,
            queued: self.metrics.open_deliveries(),
            open_letters: self.open_letters.load(Ordering::Relaxed),
        }
    }
}

struct Recorder {
    events: Receiver<Events>,
    figures: Figures,
    /// Does not keep the core running.
    inputs: mpsc::WeakSender<Input>,
}

impl Recorder {
    /// Takes up the minute and the hour that the broker was stopped in, and puts hours together of
    /// which only minutes are there because it ended too suddenly.
    async fn take_up(&self, store: &Store) {
        let now = seconds();
        let before = async {
            let last_hour = store.last_figures(HOUR).await?.unwrap_or_default();
            store.figures(MINUTE, last_hour.max(now - i64::from(MINUTES_KEPT)), None).await
        };
        match before.await {
            Ok(minutes) => {
                let hours = self.figures.book().take_up(minutes, now);
                self.hand_over(hours).await;
            }
            Err(error) => tracing::warn!(%error, "the figures of before could not be read"),
        }
    }

    async fn run(mut self) {
        let mut ticks = tokio::time::interval(SECOND);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.figures.book().begin(self.figures.gauges(), seconds());
        while !self.figures.book().is_closed() {
            tokio::select! {
                events = self.events.recv() => match events {
                    Ok(events) => {
                        let mut book = self.figures.book();
                        events.iter().for_each(|event| book.take(event));
                    }
                    Err(RecvError::Lagged(missed)) => {
                        tracing::debug!(missed, "the recorder of figures fell behind");
                    }
                    Err(RecvError::Closed) => return,
                },
                _ = ticks.tick() => {
                    let full = self.figures.book().turn(self.figures.gauges(), seconds());
                    self.hand_over(full).await;
                }
            }
        }
    }

    async fn hand_over(&self, records: Vec<FigureRecord>) {
        let Some(inputs) = self.inputs.upgrade() else { return };
        if !records.is_empty() && inputs.send(Input::Figures(records)).await.is_err() {
            tracing::debug!("figures came after the core had stopped");
        }
    }
}

/// The time of day in seconds since 1970.
fn seconds() -> i64 {
    now().0.div_euclid(1_000_000)
}
