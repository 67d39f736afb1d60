//! Forgetting: what is older than the settings say, and the oldest while there is too much. Never a
//! message that waits, never an open dead letter.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::Timestamp;

use crate::Options;
use crate::pen::Pen;
use crate::rows::{int, uint};
use crate::{audit, block, job, presence, subscription};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[
    OLDEST,
    PAGES,
    GIVE_BACK,
    FORGET_ATTEMPTS,
    FORGET_DELIVERIES,
    FORGET_LETTERS,
    FORGET_AGAIN,
    FORGET_DECISIONS,
    FORGET_MAIL,
    FORGET_MESSAGES,
    FORGET_STRAY_ATTEMPTS,
    FORGET_STRAYS,
];

/// Looks at the oldest rows one after another rather than searching by time, which has no index.
const OLDEST: &str = "select m.seq, m.accepted_at, m.settled_at, \
     octet_length(m.payload) as payload_bytes, \
     m.state <> 'waiting' and not exists \
         (select 1 from dead_letter d where d.message = m.seq and d.status = 'open') as settled \
     from message m where m.seq > ? order by m.seq limit ?";

const PAGES: &str = "select page_count, freelist_count, page_size \
     from pragma_page_count, pragma_freelist_count, pragma_page_size";

const FORGET_ATTEMPTS: &str = "delete from attempt where delivery in \
     (select id from delivery where message in (select value from json_each(?)))";
const FORGET_DELIVERIES: &str =
    "delete from delivery where message in (select value from json_each(?))";
const FORGET_LETTERS: &str =
    "delete from dead_letter where message in (select value from json_each(?))";
const FORGET_AGAIN: &str = "delete from search_again where seq in (select value from json_each(?))";
const FORGET_DECISIONS: &str =
    "delete from decision where message in (select value from json_each(?))";
const FORGET_MAIL: &str = "delete from mail where message in (select value from json_each(?))";
const FORGET_MESSAGES: &str = "delete from message where seq in (select value from json_each(?))";

/// Deliveries of messages that are older than the oldest: the disk did not take the message, or
/// retention took it before its delivery was recorded.
const FORGET_STRAY_ATTEMPTS: &str = "delete from attempt where delivery in \
     (select id from delivery where message < (select min(seq) from message) \
      order by message limit ?)";
const FORGET_STRAYS: &str = "delete from delivery where id in \
     (select id from delivery where message < (select min(seq) from message) \
      order by message limit ?)";

/// As many pages as one step can give back without being noticed.
const GIVE_BACK: &str = "pragma incremental_vacuum(256)";

/// Fewer free pages than this are kept: the next messages will need them.
const MANY_FREE_PAGES: u64 = 1024;

/// How many messages one step looks at; more while there is too much, because each step waits for the disk once.
const STEP: u32 = 128;
const LONG_STEP: u32 = 512;

/// What a message takes beside its payload, about.
const ROW_BYTES: u64 = 256;

const MB: u64 = 1024 * 1024;
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// What may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) days: u32,
    pub(crate) max_mb: u64,
}

impl Limits {
    pub(crate) fn of(options: &Options) -> Self {
        Self { days: options.retention_days, max_mb: options.retention_max_mb }
    }
}

/// One walk through the messages from the oldest on, step by step.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    seen_up_to: u64,
    /// There is more than may be kept, as of the last step.
    pub(crate) too_much: bool,
    /// No presence is left to be forgotten; to look again would cost as much for each step.
    presences_forgotten: bool,
}

impl Walk {
    /// One step, to be run in a transaction. Returns whether there may be more to do.
    pub(crate) fn step(
        &mut self,
        pen: &Pen,
        limits: Limits,
        now: Timestamp,
    ) -> rusqlite::Result<bool> {
        let cutoff = Timestamp(now.0.saturating_sub(i64::from(limits.days) * DAY_MICROS));
        let used = pages(pen)?.used_bytes();
        let mut too_many_bytes = used.saturating_sub(limits.max_mb.saturating_mul(MB));
        self.too_much = too_many_bytes > 0;
        let most = if self.too_much { LONG_STEP } else { STEP };
        let mut others = subscription::forget(pen, cutoff, STEP)?
            + audit::forget(pen, cutoff, STEP)?
            + job::forget(pen, cutoff)?
            + forget_strays(pen)?;
        if !self.presences_forgotten {
            let forgotten = presence::forget(pen, cutoff, STEP)?;
            self.presences_forgotten = forgotten == 0;
            others += forgotten;
        }

        let mut oldest = pen.statement(OLDEST)?;
        let mut rows = oldest.query(params![int(self.seen_up_to), most])?;
        let mut looked_at = 0;
        let mut old = Vec::new();
        let mut last_forgotten = None;
        let mut reached_young = false;
        while let Some(row) = rows.next()? {
            looked_at += 1;
            let accepted_at = Timestamp(row.get("accepted_at")?);
            // What comes later was accepted later, so that the walk need not go through all that is
            // young each time. Not so after a time that is still to come: it tells of a clock that
            // was wrong, and must not keep what follows from being forgotten until then.
            if accepted_at >= cutoff && accepted_at <= now && too_many_bytes == 0 {
                reached_young = true;
                break;
            }
            self.seen_up_to = uint(row.get("seq")?);
            // A letter that was thrown away just now can be taken back, however old it is.
            let settled_at = row.get::<_, Option<i64>>("settled_at")?.map(Timestamp);
            let last_touched = settled_at.map_or(accepted_at, |at| at.max(accepted_at));
            if row.get("settled")? && (last_touched < cutoff || too_many_bytes > 0) {
                let bytes = uint(row.get("payload_bytes")?) + ROW_BYTES;
                too_many_bytes = too_many_bytes.saturating_sub(bytes);
                old.push(self.seen_up_to);
                last_forgotten = last_forgotten.max(Some(last_touched));
            }
        }
        forget(pen, &old)?;
        if let Some(at) = last_forgotten {
            presence::kept_since(pen, at)?;
        }
        let more_messages = !reached_young && looked_at == most;
        if more_messages || others > 0 {
            return Ok(true);
        }
        give_back(pen)
    }
}

fn forget(pen: &Pen, seqs: &[u64]) -> rusqlite::Result<()> {
    if seqs.is_empty() {
        return Ok(());
    }
    let list = serde_json::Value::from(seqs).to_string();
    let statements = [
        FORGET_ATTEMPTS,
        FORGET_DELIVERIES,
        FORGET_LETTERS,
        FORGET_AGAIN,
        FORGET_DECISIONS,
        FORGET_MAIL,
        FORGET_MESSAGES,
    ];
    for statement in statements {
        pen.run(statement, [list.as_str()])?;
    }
    block::forget_empty(pen, seqs)
}

fn forget_strays(pen: &Pen) -> rusqlite::Result<u64> {
    pen.run(FORGET_STRAY_ATTEMPTS, [STEP])?;
    pen.run(FORGET_STRAYS, [STEP])
}

/// How much of the file is what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    pub(crate) all: u64,
    pub(crate) free: u64,
    pub(crate) size: u64,
}

impl Pages {
    /// Free pages do not count: they will be used again.
    pub(crate) fn used_bytes(self) -> u64 {
        self.all.saturating_sub(self.free) * self.size
    }
}

fn pages(pen: &Pen) -> rusqlite::Result<Pages> {
    pen.statement(PAGES)?.query_one([], |row| {
        let number = |column| row.get::<_, i64>(column).map(uint);
        Ok(Pages { all: number(0)?, free: number(1)?, size: number(2)? })
    })
}

/// The same, for one who only reads.
pub(crate) async fn pages_read(connection: &mut SqliteConnection) -> Result<Pages, sqlx::Error> {
    let row = sqlx::query(PAGES).fetch_one(connection).await?;
    let number = |column: usize| row.try_get::<i64, _>(column).map(uint);
    Ok(Pages { all: number(0)?, free: number(1)?, size: number(2)? })
}

/// Gives some free pages back to the system where they are many. Returns whether it did.
fn give_back(pen: &Pen) -> rusqlite::Result<bool> {
    let pages = pages(pen)?;
    if pages.free < MANY_FREE_PAGES || pages.free < pages.all / 4 {
        return Ok(false);
    }
    give_back_some(pen)
}

/// Gives some free pages back to the system, if there are any. Returns whether there were.
pub(crate) fn give_back_some(pen: &Pen) -> rusqlite::Result<bool> {
    if pages(pen)?.free == 0 {
        return Ok(false);
    }
    // It gives back a page for each row that is asked of it.
    let mut give_back = pen.statement(GIVE_BACK)?;
    let mut given = give_back.query([])?;
    while given.next()?.is_some() {}
    Ok(true)
}
