//! Reading back dead letters: pages for the operator, and whole messages for replay and export.
//!
//! First which letters, by their seqs; then how many of them are not too much at once; then what they
//! say. So a payload is read only where it is wanted.

mod contents;
mod words;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use switchboard_model::{DeadMessage, LetterFilter, LetterRow, LetterStatus, MessageFilter};

use crate::Error;
use crate::agent::meaningless;
use crate::history::{Page, filtered};
use crate::rows::{Query, int, uint};
use crate::{dead_letter, delivery, message};
use contents::{fitting, letter_row, read};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[
    NEWEST_FIRST,
    OLDEST_FIRST,
    COUNT,
    OF_IDS,
    contents::SIZES,
    contents::READ,
    words::ALL,
    words::FOUND,
    words::ERRORS,
    words::NOT_INDEXED,
    words::WINDOW,
];

/// Which letters, beside what their messages say.
macro_rules! wanted {
    () => {
        concat!(
            "where d.message > ?1 and d.message < ?2",
            filtered!(),
            "and d.status = ?17 and (?18 is null or d.reason = ?18) \
             and (?19 is null or d.job = ?19) \
             and (?20 is null or m.id in (select unhex(value) from json_each(?20))) \
             and ?8 is not null and ?9 is not null "
        )
    };
}
use wanted;

/// Letters are walked in the order of acceptance, which is that of their seqs.
macro_rules! walked {
    () => {
        concat!("from dead_letter d cross join message m on m.seq = d.message ", wanted!())
    };
}
use walked;

const NEWEST_FIRST: &str =
    concat!("select d.message ", walked!(), "order by d.message desc limit ?8");
const OLDEST_FIRST: &str = concat!("select d.message ", walked!(), "order by d.message limit ?8");
const COUNT: &str = concat!("select count(*) as letters ", walked!());

/// A few letters that are named need no walk.
pub(crate) const OF_IDS: &str = concat!(
    "select json_group_array(d.message) as letters ",
    walked!(),
    "and d.message in \
     (select value from json_each(?21) union all select seq from message \
      where by_seq is null and id in (select unhex(value) from json_each(?20)))"
);

/// A page of dead letters.
#[derive(Clone, Debug, PartialEq)]
pub struct LetterList {
    /// Newest first.
    pub rows: Vec<LetterRow>,
    /// Whether there are more after the last.
    pub more: bool,
    /// How many pass the filter, on all pages.
    pub matching: u64,
}

/// What is looked for.
struct Search<'a> {
    letters: &'a LetterFilter,
    messages: MessageFilter,
    ids: Option<String>,
    /// The numbers in those ids.
    numbers: Option<String>,
}

/// From where to where in the order of acceptance; neither end is part of it.
#[derive(Clone, Copy)]
struct Range {
    after: u64,
    before: u64,
}

impl<'a> Search<'a> {
    fn new(letters: &'a LetterFilter) -> Self {
        let messages = MessageFilter { state: None, ..letters.message.clone().unwrap_or_default() };
        let ids = letters.ids.as_ref().map(|ids| {
            let ids = ids.iter().map(|id| id.0.simple().to_string());
            serde_json::Value::from_iter(ids).to_string()
        });
        let numbers = letters
            .ids
            .as_ref()
            .map(|ids| serde_json::Value::from_iter(ids.iter().map(|id| id.number())).to_string());
        Self { letters, messages, ids, numbers }
    }

    /// Binds the first twenty values of a statement about wanted letters.
    fn bind(&self, statement: &'static str, range: Range, limit: u32) -> Query<'_> {
        let page = Page { filter: &self.messages, before: range.before, limit, payloads: false };
        let query = sqlx::query(statement).bind(int(range.after));
        page.bind(query, range.before, limit, false)
            .bind(self.status().as_str())
            .bind(self.letters.reason.map(|reason| reason.as_str()))
            .bind(self.letters.closed_by.map(|job| int(job.0)))
            .bind(self.ids.as_deref())
    }

    fn status(&self) -> LetterStatus {
        self.letters.status.unwrap_or(LetterStatus::Open)
    }

    /// Every letter, oldest first, where that is found without a walk; none where it is not.
    async fn all(&self, connection: &mut SqliteConnection) -> Result<Option<Vec<u64>>, Error> {
        let anywhere = Range { after: 0, before: u64::MAX };
        if !self.messages.words().is_empty() {
            return Ok(Some(self.with_words(connection, anywhere).await?));
        }
        if self.ids.is_none() {
            return Ok(None);
        }
        let query = self.bind(OF_IDS, anywhere, 0).bind(self.numbers.as_deref());
        let row = query.fetch_one(connection).await?;
        let mut seqs = listed(&row)?;
        seqs.sort_unstable();
        Ok(Some(seqs))
    }

    async fn walk(
        &self,
        connection: &mut SqliteConnection,
        statement: &'static str,
        range: Range,
        limit: u32,
    ) -> Result<Vec<u64>, sqlx::Error> {
        let rows = self.bind(statement, range, limit).fetch_all(connection).await?;
        rows.iter().map(|row| row.try_get("message").map(uint)).collect()
    }

    async fn count(&self, connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
        let anywhere = Range { after: 0, before: u64::MAX };
        let row = self.bind(COUNT, anywhere, 0).fetch_one(connection).await?;
        row.try_get("letters").map(uint)
    }
}

/// A page of letters, newest first, those before `before` if it is given.
pub(crate) async fn page(
    pool: &SqlitePool,
    filter: &LetterFilter,
    before: Option<u64>,
    limit: u32,
    payloads: bool,
) -> Result<LetterList, Error> {
    let mut snapshot = pool.begin().await?;
    let search = Search::new(filter);
    let range = Range { after: 0, before: before.unwrap_or(u64::MAX) };
    let one_more = limit.saturating_add(1);
    let (mut seqs, matching) = match search.all(&mut snapshot).await? {
        Some(all) => {
            let newest = all.iter().rev().copied().filter(|seq| *seq < range.before);
            (newest.take(one_more as usize).collect(), all.len() as u64)
        }
        None => (
            search.walk(&mut snapshot, NEWEST_FIRST, range, one_more).await?,
            search.count(&mut snapshot).await?,
        ),
    };
    let mut more = seqs.len() > limit as usize;
    seqs.truncate(limit as usize);
    if payloads {
        let fitting = fitting(&mut snapshot, &seqs, false).await?;
        more |= fitting < seqs.len();
        seqs.truncate(fitting);
    }
    let found = read(&mut snapshot, &seqs, payloads).await?;
    let rows = found.iter().rev().map(letter_row).collect::<Result<_, _>>()?;
    Ok(LetterList { rows, more, matching })
}

/// How many letters pass the filter.
pub(crate) async fn count(pool: &SqlitePool, filter: &LetterFilter) -> Result<u64, Error> {
    let mut snapshot = pool.begin().await?;
    let search = Search::new(filter);
    match search.all(&mut snapshot).await? {
        Some(all) => Ok(all.len() as u64),
        None => Ok(search.count(&mut snapshot).await?),
    }
}

/// Whole letters, oldest first, those after `after` and up to `up_to`; with their deliveries if
/// `with_attempts`. Says whether there are more.
pub(crate) async fn dead_messages(
    pool: &SqlitePool,
    filter: &LetterFilter,
    after: u64,
    up_to: u64,
    limit: u32,
    with_attempts: bool,
) -> Result<(Vec<DeadMessage>, bool), Error> {
    let mut snapshot = pool.begin().await?;
    let search = Search::new(filter);
    let range = Range { after, before: up_to.saturating_add(1) };
    let one_more = limit.saturating_add(1);
    let mut seqs = if !search.messages.words().is_empty() {
        search.first_with_words(&mut snapshot, range, one_more).await?
    } else if let Some(mut all) = search.all(&mut snapshot).await? {
        all.retain(|seq| *seq > range.after && *seq < range.before);
        all
    } else {
        search.walk(&mut snapshot, OLDEST_FIRST, range, one_more).await?
    };
    let found = seqs.len();
    seqs.truncate(limit as usize);
    seqs.truncate(fitting(&mut snapshot, &seqs, with_attempts).await?);
    let mut letters = Vec::with_capacity(seqs.len());
    for row in read(&mut snapshot, &seqs, true).await? {
        let message = message::message(&row)?;
        let deliveries = match with_attempts {
            true => delivery::of_message(&mut snapshot, message.seq).await?,
            false => Vec::new(),
        };
        let letter = dead_letter::read(&row)?;
        letters.push(DeadMessage { message, letter, error: row.try_get("error")?, deliveries });
    }
    Ok((letters, seqs.len() < found))
}

/// The seqs that SQL gathered in one row.
fn listed(row: &SqliteRow) -> Result<Vec<u64>, Error> {
    let text: &str = row.try_get("letters")?;
    serde_json::from_str(text).map_err(|_| meaningless("a list of dead letters", text))
}
