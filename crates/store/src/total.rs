//! The table `total`: counters for the whole life of the database.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::{MessageState, Totals};

use crate::pen::Pen;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[ADD, READ];

/// One row, by its key and `or fail`: else SQLite would look for others, and keep a copy to take back this statement alone.
const ADD: &str = "update or fail total set accepted = accepted + ?, processed = processed + ?, \
     waiting = waiting + ?, dead = dead + ?, discarded = discarded + ?, expired = expired + ?, \
     last_seq = max(last_seq, ?), last_delivery = max(last_delivery, ?), \
     last_subscription = max(last_subscription, ?) where id = 1";

const READ: &str = "select accepted, processed, waiting, dead, discarded, expired, \
     last_seq, last_delivery, last_subscription from total";

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

/// Adds to the totals what a transaction changed.
pub(crate) fn add(pen: &Pen, delta: &Delta) -> rusqlite::Result<()> {
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
