//! Dead letters by their words: those of the payload and the names, which the index holds, and those of
//! what went wrong, which it does not. A letter may have one word here and another there.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use switchboard_model::MessageFilter;

use super::contents::{fitting, read};
use super::{Range, Search, listed, walked, wanted};
use crate::history::filtered;
use crate::rows::{int, uint};
use crate::{Error, block, message, search, word_list};

/// All there are, in one go: a row for each letter would cost more than finding it.
pub(super) const ALL: &str = "select json_group_array(message) as letters from dead_letter \
     where message > ?1 and message < ?2 and status = ?3";

/// Those among these that pass the rest of the filter.
pub(super) const FOUND: &str = concat!(
    "select json_group_array(d.message) as letters from json_each(?21) s \
     cross join dead_letter d on d.message = s.value \
     cross join message m on m.seq = d.message ",
    wanted!()
);

/// Many letters died of the same, so that there are far fewer texts than letters.
pub(super) const ERRORS: &str = concat!(
    "select m.error, json_group_array(d.message) as letters ",
    walked!(),
    "and m.error is not null group by m.error"
);

/// Those that the index does not hold, or not with all their words.
pub(super) const NOT_INDEXED: &str = concat!(
    "select d.message ",
    walked!(),
    "and (d.message > ?21 or d.message in (select seq from search_again)) order by d.message"
);

/// Where the next letters end.
pub(super) const WINDOW: &str = "select max(message) as end from \
     (select message from dead_letter where message > ?1 and message < ?2 and status = ?3 \
      order by message limit ?4)";

/// How many letters are looked at first when only some of those with the words are wanted, and how
/// many times more whenever that was not enough: both few and many matches are found soon.
const FIRST_WINDOW: u32 = 256;
const WIDER: u32 = 4;

/// How many letters are looked at themselves at a time; few, so that others get their turn.
const CHUNK: usize = 64;

impl Search<'_> {
    /// Every letter in this range with all the words, oldest first.
    pub(super) async fn with_words(
        &self,
        connection: &mut SqliteConnection,
        range: Range,
    ) -> Result<Vec<u64>, Error> {
        let all_words = self.messages.words();
        let mut found = self.indexed(&mut *connection, range, &all_words).await?;
        for (missing, letters) in self.by_words_missing(&mut *connection, range).await? {
            if missing.is_empty() {
                found.extend(letters);
            } else {
                let having = self.indexed(&mut *connection, range, &missing).await?;
                found.extend(letters.into_iter().filter(|seq| having.contains(seq)));
            }
        }
        found.extend(self.not_indexed(connection, range).await?);
        Ok(found.into_iter().collect())
    }

    /// The first letters in this range with all the words, oldest first; at most so many.
    pub(super) async fn first_with_words(
        &self,
        connection: &mut SqliteConnection,
        mut range: Range,
        most: u32,
    ) -> Result<Vec<u64>, Error> {
        let mut found = Vec::new();
        let mut width = FIRST_WINDOW;
        while found.len() < most as usize {
            let window = sqlx::query(WINDOW)
                .bind(int(range.after))
                .bind(int(range.before))
                .bind(self.status().as_str())
                .bind(width);
            let row = window.fetch_one(&mut *connection).await?;
            let Some(end) = row.try_get::<Option<i64>, _>("end")?.map(uint) else { break };
            let window = Range { after: range.after, before: end + 1 };
            found.extend(self.with_words(&mut *connection, window).await?);
            range.after = end;
            width = width.saturating_mul(WIDER);
        }
        found.truncate(most as usize);
        Ok(found)
    }

    /// The letters that have these words in what the index holds.
    async fn indexed(
        &self,
        connection: &mut SqliteConnection,
        range: Range,
        words: &BTreeSet<String>,
    ) -> Result<BTreeSet<u64>, Error> {
        let all = sqlx::query(ALL)
            .bind(int(range.after))
            .bind(int(range.before))
            .bind(self.status().as_str());
        let letters = listed(&all.fetch_one(&mut *connection).await?)?;
        let blocks: BTreeSet<u64> = letters.iter().map(|seq| block::of(*seq)).collect();
        let blocks: Vec<u64> = blocks.into_iter().collect();
        let having = word_list::having(&mut *connection, words, &blocks).await?;
        let has = |seq: &u64| having.get(&block::of(*seq)).is_some_and(|marked| marked.has(*seq));
        let letters: Vec<u64> = letters.into_iter().filter(has).collect();
        let letters = serde_json::Value::from(letters).to_string();
        let found = self.bind(FOUND, range, 0).bind(letters).fetch_one(connection).await?;
        Ok(listed(&found)?.into_iter().collect())
    }

    /// The letters whose errors have some of the words, by those that are still missing.
    async fn by_words_missing(
        &self,
        connection: &mut SqliteConnection,
        range: Range,
    ) -> Result<BTreeMap<BTreeSet<String>, Vec<u64>>, Error> {
        let words = self.messages.words().len();
        let mut by_missing: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for row in self.bind(ERRORS, range, 0).fetch_all(connection).await? {
            let missing = self.messages.words_missing_in(row.try_get("error")?);
            if missing.len() < words {
                by_missing.entry(missing).or_default().extend(listed(&row)?);
            }
        }
        Ok(by_missing)
    }

    /// Looks at each letter itself that the index does not hold.
    async fn not_indexed(
        &self,
        connection: &mut SqliteConnection,
        range: Range,
    ) -> Result<Vec<u64>, Error> {
        let indexed_up_to = search::progress(&mut *connection).await?;
        let query = self.bind(NOT_INDEXED, range, 0).bind(int(indexed_up_to));
        let rows = query.fetch_all(&mut *connection).await?;
        let seqs = rows.iter().map(|row| row.try_get("message").map(uint));
        let mut left = &seqs.collect::<Result<Vec<_>, _>>()?[..];
        let mut found = Vec::new();
        while !left.is_empty() {
            let next = left.get(..CHUNK).unwrap_or(left);
            let (now, later) = left.split_at(fitting(&mut *connection, next, false).await?);
            for row in read(&mut *connection, now, true).await? {
                let error: Option<&str> = row.try_get("error")?;
                let missing = self.messages.words_missing_in(error.unwrap_or_default());
                let letter = message::row(&row)?;
                if only(&missing).accepts(&letter, row.try_get("payload")?) {
                    found.push(letter.seq);
                }
            }
            left = later;
        }
        Ok(found)
    }
}

/// A filter that wants these words and no more.
fn only(words: &BTreeSet<String>) -> MessageFilter {
    let text = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    MessageFilter { text: Some(text), ..MessageFilter::default() }
}
