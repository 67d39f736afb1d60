//! The last moments: figures, and messages that may not be on disk yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_broker::Broker;
use switchboard_model::{Event, Events, Message, MessageRow};
use switchboard_store::Store;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::api::{Figures, Moved};

/// Messages remembered: what is accepted while one commit is on its way to the disk, and more.
const REMEMBERED: usize = 2048;
/// Their payloads: a few large messages must not fill the memory.
const REMEMBERED_BYTES: usize = 4 << 20;
/// Times remembered for the percentiles.
const TIMES: usize = 1000;
/// How often the figures are taken, and over how many takings the rate is measured.
const TAKE: Duration = Duration::from_millis(500);
const RATE_OVER: usize = 6;

/// Watches the broker for everyone who opens a feed.
#[derive(Clone)]
pub(crate) struct Recent {
    memory: Arc<Mutex<Memory>>,
    figures: watch::Receiver<Figures>,
}

#[derive(Default)]
struct Memory {
    /// In the order of their numbers, most of which follow each other.
    rows: VecDeque<Remembered>,
    payload_bytes: usize,
    times: VecDeque<u64>,
}

struct Remembered {
    seq: u64,
    message: Arc<Message>,
    moved: Option<Moved>,
}

impl Recent {
    /// Begins to watch. Ends with the broker.
    pub(crate) fn start(broker: &Broker, store: Store) -> Self {
        let memory = Arc::new(Mutex::new(Memory::default()));
        let (figures_out, figures) = watch::channel(Figures::default());
        tokio::spawn(watch_events(broker.events(), memory.clone()));
        tokio::spawn(take_figures(broker.clone(), store, memory.clone(), figures_out));
        Self { memory, figures }
    }

    pub(crate) fn figures(&self) -> Figures {
        *self.figures.borrow()
    }

    pub(crate) fn figures_changes(&self) -> watch::Receiver<Figures> {
        self.figures.clone()
    }

    /// The message of that number as it is now, if it is one of the last.
    pub(crate) fn row(&self, seq: u64) -> Option<(MessageRow, Arc<Message>)> {
        let memory = lock(&self.memory);
        memory.rows.get(memory.place(seq).ok()?).map(Remembered::row)
    }

    /// The last messages that came after that number, oldest first.
    pub(crate) fn rows_after(&self, seq: Option<u64>) -> Vec<(MessageRow, Arc<Message>)> {
        let memory = lock(&self.memory);
        let from = seq.map_or(0, |seq| memory.rows.partition_point(|one| one.seq <= seq));
        memory.rows.range(from..).map(Remembered::row).collect()
    }
}

impl Remembered {
    fn row(&self) -> (MessageRow, Arc<Message>) {
        let mut row = MessageRow::of(&self.message);
        if let Some(moved) = &self.moved {
            moved.apply(&mut row);
        }
        (row, self.message.clone())
    }
}

impl Memory {
    fn take(&mut self, event: &Event) {
        match event {
            Event::Accepted(message) => {
                let (seq, message) = (message.seq, Arc::clone(message));
                let Err(place) = self.place(seq) else { return };
                self.payload_bytes += message.payload.bytes();
                self.rows.insert(place, Remembered { seq, message, moved: None });
                while self.rows.len() > REMEMBERED || self.payload_bytes > REMEMBERED_BYTES {
                    let Some(oldest) = self.rows.pop_front() else { break };
                    self.payload_bytes -= oldest.message.payload.bytes();
                }
            }
            Event::Moved { seq, state, to, took_micros, error, retry_at, last_asked: _ } => {
                if let Some(took) = *took_micros {
                    if self.times.len() == TIMES {
                        self.times.pop_front();
                    }
                    self.times.push_back(took);
                }
                if let Some(one) = self.place(*seq).ok().and_then(|place| self.rows.get_mut(place))
                {
                    one.moved = Some(Moved {
                        seq: *seq,
                        state: *state,
                        to: to.clone(),
                        took_micros: *took_micros,
                        error: error.as_deref().map(str::to_owned),
                        retry_at: *retry_at,
                    });
                }
            }
            Event::Withdrawn { seq } => self.forget(*seq),
            Event::Agent(_)
            | Event::Job(_)
            | Event::Refused(..)
            | Event::DiedAgain { .. }
            | Event::Sessions
            | Event::Rules
            | Event::Discovery => {}
        }
    }

    /// Where the message of that number is, or else would be.
    fn place(&self, seq: u64) -> Result<usize, usize> {
        let (Some(first), Some(last)) = (self.rows.front(), self.rows.back()) else {
            return Err(0);
        };
        if seq > last.seq {
            return Err(self.rows.len());
        }
        let behind = usize::try_from(seq.saturating_sub(first.seq)).unwrap_or(usize::MAX);
        match self.rows.get(behind) {
            Some(one) if one.seq == seq => Ok(behind),
            Some(_) | None => self.rows.binary_search_by_key(&seq, |one| one.seq),
        }
    }

    fn forget(&mut self, seq: u64) {
        if let Some(gone) = self.place(seq).ok().and_then(|place| self.rows.remove(place)) {
            self.payload_bytes -= gone.message.payload.bytes();
        }
    }

    fn percentiles(&self) -> (Option<u64>, Option<u64>) {
        let mut times: Vec<u64> = self.times.iter().copied().collect();
        times.sort_unstable();
        let at = |share: usize| times.get(times.len().saturating_sub(1) * share / 100).copied();
        (at(50), at(99))
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn watch_events(mut events: Receiver<Events>, memory: Arc<Mutex<Memory>>) {
    loop {
        match events.recv().await {
            Ok(events) => {
                let mut memory = lock(&memory);
                events.iter().for_each(|event| memory.take(event));
            }
            // What was missed is on disk; the figures count from the totals, which miss nothing.
            Err(RecvError::Lagged(missed)) => {
                tracing::debug!(missed, "the console fell behind the broker");
            }
            Err(RecvError::Closed) => return,
        }
    }
}

async fn take_figures(
    broker: Broker,
    store: Store,
    memory: Arc<Mutex<Memory>>,
    out: watch::Sender<Figures>,
) {
    let started = Instant::now();
    let mut ticks = tokio::time::interval(TAKE);
    let mut counts: VecDeque<(Instant, u64)> = VecDeque::new();
    // Ends when the console does: nobody holds the other end then.
    while !out.is_closed() {
        let now = ticks.tick().await;
        let accepted = broker.totals().accepted;
        counts.push_back((now, accepted));
        if counts.len() > RATE_OVER {
            counts.pop_front();
        }
        let (p50_micros, p99_micros) = lock(&memory).percentiles();
        out.send_replace(Figures {
            per_second: rate(&counts),
            p50_micros,
            p99_micros,
            open_letters: broker.open_letters(),
            connections: broker.connections(),
            database_bytes: store.size_bytes().await.unwrap_or_default(),
            uptime_seconds: started.elapsed().as_secs(),
        });
    }
}

fn rate(counts: &VecDeque<(Instant, u64)>) -> f64 {
    let (Some((first, before)), Some((last, after))) = (counts.front(), counts.back()) else {
        return 0.0;
    };
    let seconds = last.duration_since(*first).as_secs_f64();
    if seconds > 0.0 { after.saturating_sub(*before) as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use switchboard_model::{
        Address, AgentId, Dialect, Door, Kind, MessageId, Payload, Priority, Timestamp,
    };

    use super::*;

    fn accepted(seq: u64) -> Event {
        Event::Accepted(Arc::new(Message {
            seq,
            id: MessageId::numbered(seq),
            from: AgentId::operator(),
            address: Address::Agent(AgentId::operator()),
            kind: Kind::Event,
            capability: None,
            priority: Priority::Normal,
            door: Door::Bus,
            correlation: None,
            conversation: None,
            payload: Payload::trusted("{}"),
            dialect: Dialect::Bus,
            context: None,
            decision: None,
            answer_by: None,
            accepted_at: Timestamp(0),
            expires_at: None,
            replay_of: None,
        }))
    }

    #[test]
    fn percentiles_of_nothing_are_nothing_and_of_a_hundred_are_exact() {
        let mut memory = Memory::default();
        assert_eq!(memory.percentiles(), (None, None));
        memory.times.extend((1..=101).rev());
        assert_eq!(memory.percentiles(), (Some(51), Some(100)));
    }

    #[test]
    fn a_message_is_found_by_its_number_though_numbers_are_missing_and_the_oldest_are_forgotten() {
        let mut memory = Memory::default();
        let there =
            |memory: &Memory| (0..20).filter(|seq| memory.place(*seq).is_ok()).collect::<Vec<_>>();
        assert_eq!(memory.place(3), Err(0));
        [5, 7, 8, 6, 12].iter().for_each(|seq| memory.take(&accepted(*seq)));
        memory.take(&accepted(8));
        assert_eq!(there(&memory), [5, 6, 7, 8, 12]);
        memory.take(&Event::Withdrawn { seq: 7 });
        assert_eq!((there(&memory), memory.payload_bytes), (vec![5, 6, 8, 12], 4 * 2));
        (20..).take(REMEMBERED).for_each(|seq| memory.take(&accepted(seq)));
        assert_eq!(memory.rows.len(), REMEMBERED);
        assert_eq!(memory.rows.front().map(|one| one.seq), Some(20));
    }

    #[tokio::test]
    async fn the_rate_is_taken_over_the_times_that_were_counted() {
        let start = Instant::now();
        let counts = VecDeque::from([(start, 100), (start + Duration::from_secs(2), 300)]);
        assert!((rate(&counts) - 100.0).abs() < f64::EPSILON);
        assert!(rate(&VecDeque::new()).abs() < f64::EPSILON);
    }
}
