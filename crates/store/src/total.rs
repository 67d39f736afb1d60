//! The table `total`: counters for the whole life of the database.
//!
//! It is one more page that a commit writes. So a transaction that only adds messages leaves it alone: what it adds
//! stands in the rows of the messages, which the view `counted` counts where they are newer than `total` knows.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::{MessageState, Totals};

use crate::batch::Batch;
use crate::pen::Pen;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[ADD, READ, COUNT_THE_REST];

/// One row, by its key and `or fail`: else SQLite would look for others, and keep a copy to take back this statement alone.
const ADD: &str = "update or fail total set accepted = accepted + ?, processed = processed + ?, \
     waiting = waiting + ?, dead = dead + ?, discarded = discarded + ?, expired = expired + ?, \
     last_seq = max(last_seq, ?), last_delivery = max(last_delivery, ?), \
     last_subscription = max(last_subscription, ?) where id = 1";

const READ: &str = "select accepted, processed, waiting, dead, discarded, expired, \
     last_seq, last_delivery, last_subscription from counted";

const COUNT_THE_REST: &str = "update total set (accepted, processed, waiting, dead, discarded, \
     expired, last_seq, last_delivery) = (select accepted, processed, waiting, dead, discarded, \
     expired, last_seq, last_delivery from counted) \
     where last_seq < (select max(seq) from message)";

/// So many messages may be counted later: to count them takes a start no time that anyone would notice.
const LATER: usize = 1024;

/// What a batch adds to the totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) accepted: i64,
    processed: i64,
    waiting: i64,
    dead: i64,
    discarded: i64,
    expired: i64,
    pub(crate) last_seq: u64,
    pub(crate) last_delivery: u64,
    pub(crate) last_subscription: u64,
}

impl Delta {
    fn plus(self, other: Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
            processed: self.processed + other.processed,
            waiting: self.waiting + other.waiting,
            dead: self.dead + other.dead,
            discarded: self.discarded + other.discarded,
            expired: self.expired + other.expired,
            last_seq: self.last_seq.max(other.last_seq),
            last_delivery: self.last_delivery.max(other.last_delivery),
            last_subscription: self.last_subscription.max(other.last_subscription),
        }
    }

    /// `count` messages moved from one state to another.
    pub(crate) fn moved(&mut self, from: MessageState, to: MessageState, count: i64) {
        self.enter(from, -count);
        self.enter(to, count);
    }

    /// `count` more messages are in this state.
    pub(crate) fn enter(&mut self, state: MessageState, count: i64) {
        match state {
            MessageState::Waiting => self.waiting += count,
            MessageState::Processed => self.processed += count,
            MessageState::Dead => self.dead += count,
            MessageState::Discarded => self.discarded += count,
            MessageState::Expired => self.expired += count,
            // Not accepted after all, so that the sum still holds.
            MessageState::Refused => self.accepted -= count,
        }
    }
}

/// The totals and the highest numbers given so far.
pub(crate) struct Stored {
    pub(crate) totals: Totals,
    pub(crate) last_seq: u64,
    pub(crate) last_delivery: u64,
    pub(crate) last_subscription: u64,
}

/// What was committed and is not in `total` yet.
#[derive(Debug)]
pub(crate) struct Uncounted {
    delta: Delta,
    messages: usize,
    /// No message with a higher number is counted in `total`.
    counted_up_to: u64,
}

impl Uncounted {
    /// All messages are counted, the last of which has this number.
    pub(crate) fn none(last_seq: u64) -> Self {
        Self { delta: Delta::default(), messages: 0, counted_up_to: last_seq }
    }

    /// Adds what a transaction changed, unless that can be counted later. Returns what is left to be counted once it is
    /// committed.
    pub(crate) fn with(
        &self,
        pen: &Pen,
        batch: &Batch<'_>,
        delta: Delta,
    ) -> rusqlite::Result<Self> {
        let (delta, messages) = (self.delta.plus(delta), self.messages + batch.messages.len());
        let is_newer = batch.messages.iter().all(|new| new.message.seq > self.counted_up_to);
        let left = Self { delta, messages, counted_up_to: self.counted_up_to };
        let later = is_newer && messages <= LATER && batch.is_told_by_its_messages();
        if later { Ok(left) } else { left.count(pen) }
    }

    /// Counts all of it. Returns what is left once that is committed, which is nothing.
    pub(crate) fn count(&self, pen: &Pen) -> rusqlite::Result<Self> {
        add(pen, &self.delta)?;
        Ok(Self::none(self.counted_up_to.max(self.delta.last_seq)))
    }
}

fn add(pen: &Pen, delta: &Delta) -> rusqlite::Result<()> {
    if *delta == Delta::default() {
        return Ok(());
    }
    let values = params![
        delta.accepted,
        delta.processed,
        delta.waiting,
        delta.dead,
        delta.discarded,
        delta.expired,
        int(delta.last_seq),
        int(delta.last_delivery),
        int(delta.last_subscription),
    ];
    pen.run(ADD, values).map(drop)
}

/// Counts what a broker that ended suddenly had not counted.
pub(crate) async fn count_the_rest(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query(COUNT_THE_REST).execute(connection).await.map(drop)
}

pub(crate) async fn read(connection: &mut SqliteConnection) -> Result<Stored, sqlx::Error> {
    let row = sqlx::query(READ).fetch_one(connection).await?;
    let number = |column: &str| row.try_get::<i64, _>(column).map(uint);
    Ok(Stored {
        totals: Totals {
            accepted: number("accepted")?,
            processed: number("processed")?,
            waiting: number("waiting")?,
            dead: number("dead")?,
            discarded: number("discarded")?,
            expired: number("expired")?,
        },
        last_seq: number("last_seq")?,
        last_delivery: number("last_delivery")?,
        last_subscription: number("last_subscription")?,
    })
}
