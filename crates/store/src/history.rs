//! Reading back: pages of messages, newest first, and one message with its whole life. `page` finds the
//! cheapest way to each page.

mod page;

use sqlx::sqlite::SqlitePool;
use switchboard_model::{MessageDetail, MessageFilter, MessageId, MessageRow};

use crate::Error;
use crate::rows::{Query, int};
use crate::{dead_letter, decision, delivery, message};

#[cfg(test)]
pub(crate) const SQL: &[&str] =
    &[PAGE, FAILED, WAITING, SLOW, COUNT_SLOW, OF_CONVERSATION, FOUND, FOUND_AGAIN];

/// What is read of each message.
macro_rules! read {
    () => {
        concat!("select ", message::columns!(), ", ", message::carried!(if "?9"), " ")
    };
}

/// The parts of a filter that SQL decides. Case is ignored as in `MessageFilter`: ASCII only.
macro_rules! filtered {
    () => {
        " and (?3 is null or m.kind = ?3) \
         and (?4 is null or m.door = ?4) \
         and (?5 is null or m.state = ?5) \
         and (?6 is null or instr(lower(m.sender), ?6) > 0 \
              or instr(lower(coalesce(m.recipient, '')), ?6) > 0) \
         and (?7 is null or instr(lower(m.topic), ?7) > 0 \
              or instr(lower(coalesce(m.capability, '')), ?7) > 0) \
         and (?10 is null or instr(lower(m.sender), ?10) > 0) \
         and (?11 is null or instr(lower(coalesce(m.recipient, '')), ?11) > 0) \
         and (?12 is null or m.priority = ?12) \
         and (?13 is null or m.conversation = ?13) \
         and (?14 is null or m.accepted_at >= ?14) \
         and (?15 is null or m.accepted_at < ?15) \
         and (?16 is null or m.settled_at - m.accepted_at >= ?16) "
    };
}

pub(crate) use filtered;

/// A page by everything but words. Also reads what is not in the index yet.
const PAGE: &str = concat!(
    read!(),
    "from message m where m.seq > ?1 and m.seq < ?2",
    filtered!(),
    "order by m.seq desc limit ?8"
);

/// What did not go well has an index of its own, and so has what waits.
const FAILED: &str = concat!(
    read!(),
    "from message m indexed by message_failed where m.seq > ?1 and m.seq < ?2 \
     and m.state = ?5 and m.state <> 'processed' and m.state <> 'waiting'",
    filtered!(),
    "order by m.seq desc limit ?8"
);
const WAITING: &str = concat!(
    read!(),
    "from message m indexed by message_waiting where m.seq > ?1 and m.seq < ?2 \
     and m.state = 'waiting'",
    filtered!(),
    "order by m.seq desc limit ?8"
);

/// What took longer than a second has an index by time; so the few are found there, then read in order.
macro_rules! slow {
    ($what:literal) => {
        concat!(
            "select ",
            $what,
            " from message s indexed by message_slow \
             where s.settled_at > s.accepted_at + 1000000 and s.settled_at - s.accepted_at >= "
        )
    };
}

const SLOW: &str = concat!(
    read!(),
    "from message m where m.seq in (",
    slow!("s.seq"),
    "?16 and s.seq > ?1 and s.seq < ?2)",
    filtered!(),
    "order by m.seq desc limit ?8"
);

const COUNT_SLOW: &str =
    concat!("select count(*) as slow from (", slow!("1"), "?1 and s.seq < ?2 limit ?3)");

const OF_CONVERSATION: &str = concat!(
    read!(),
    "from message m indexed by message_conversation where m.seq > ?1 and m.seq < ?2 \
     and m.conversation = ?13",
    filtered!(),
    "order by m.seq desc limit ?8"
);

/// Those among these that pass the rest of the filter.
const FOUND: &str = concat!(
    read!(),
    "from json_each(?1) s cross join message m on m.seq = s.value where m.seq < ?2",
    filtered!(),
    "order by m.seq desc limit ?8"
);

/// Those that have gained a word since they were indexed.
const FOUND_AGAIN: &str = concat!(
    read!(),
    "from search_again s cross join message m on m.seq = s.seq where s.seq > ?1 and s.seq < ?2",
    filtered!(),
    "order by s.seq desc limit ?8"
);

/// A page of messages.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageList {
    /// Newest first.
    pub rows: Vec<MessageRow>,
    /// Where to go on; none at the end of history. A page may have few rows or none and yet not be the
    /// last: where words have to be looked for one by one, it ends before that takes long.
    pub next: Option<u64>,
}

/// A place in the history and what is wanted from there on.
pub(crate) struct Page<'a> {
    pub(crate) filter: &'a MessageFilter,
    pub(crate) before: u64,
    pub(crate) limit: u32,
    pub(crate) payloads: bool,
}

/// Messages that pass the filter, newest first, those before `before` if it is given.
pub(crate) async fn messages(
    pool: &SqlitePool,
    filter: &MessageFilter,
    before: Option<u64>,
    limit: u32,
    payloads: bool,
) -> Result<MessageList, Error> {
    let page = Page { filter, before: before.unwrap_or(u64::MAX), limit, payloads };
    let mut snapshot = pool.begin().await?;
    page.read(&mut snapshot).await
}

impl Page<'_> {
    /// Binds the second to the sixteenth value of a statement that filters messages.
    pub(crate) fn bind<'q>(
        &self,
        query: Query<'q>,
        before: u64,
        limit: u32,
        payloads: bool,
    ) -> Query<'q> {
        query
            .bind(int(before))
            .bind(self.filter.kind.map(|kind| kind.as_str()))
            .bind(self.filter.door.map(|door| door.as_str()))
            .bind(self.filter.state.map(|state| state.as_str()))
            .bind(self.filter.agent_part())
            .bind(self.filter.topic_part())
            .bind(limit)
            .bind(payloads)
            .bind(self.filter.from_part())
            .bind(self.filter.to_part())
            .bind(self.filter.priority.map(|priority| priority.as_str()))
            .bind(self.filter.conversation.as_ref().map(|conversation| &*conversation.0))
            .bind(self.filter.since.map(|since| since.0))
            .bind(self.filter.until.map(|until| until.0))
            .bind(self.filter.slower_micros.map(int))
    }
}

/// One message with its whole life.
pub(crate) async fn message(
    pool: &SqlitePool,
    id: MessageId,
) -> Result<Option<MessageDetail>, Error> {
    let mut snapshot = pool.begin().await?;
    let Some(mut detail) = message::by_id(&mut snapshot, id).await? else {
        return Ok(None);
    };
    detail.letter = dead_letter::of_message(&mut snapshot, detail.row.seq).await?;
    detail.decision = decision::of_message(&mut snapshot, detail.row.seq).await?;
    detail.deliveries = delivery::of_message(&mut snapshot, detail.row.seq).await?;
    Ok(Some(detail))
}
