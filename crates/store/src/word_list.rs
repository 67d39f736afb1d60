//! The table `word_list`: which messages of a block have which words.
//!
//! The words of a block are in as many lists as they have first letters, so that a search reads one list of a block for
//! each word that it looks for. Lists are only ever added: a message that gains a word later is in another list, too.

mod coding;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use crate::block;
use crate::pen::Pen;
use crate::rows::{int, uint};
pub(crate) use coding::Marked;

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[INSERT, READ, FORGET];

/// How many bits of an id tell the first letter, and how many which of the lists with that letter it is. A message is
/// in at most three: with its block, because it came late, and because somebody took it.
const LETTER_BITS: u32 = 6;
const LIST_BITS: u32 = 12;

const INSERT: &str = "insert into word_list (id, words) values \
     (coalesce((select max(id) + 1 from word_list where id between ?1 and ?2), ?1), ?3)";

const READ: &str = "select b.value as block, l.value as letter, w.words \
     from json_each(?1) b cross join json_each(?2) l cross join word_list w \
     on w.id between (b.value << 18) + (l.value << 12) and (b.value << 18) + (l.value << 12) + 4095";

const FORGET: &str = "delete from word_list where id between ?1 and ?2";

/// The words of some messages of one block. Each is looked up here, so that is quick; it still cannot be foretold which
/// words would meet.
#[derive(Default)]
pub(crate) struct Gathered(HashMap<Box<str>, Vec<u16>, RandomState>);

impl Gathered {
    /// Notes a word of a message. Messages come one after the other.
    pub(crate) fn add(&mut self, seq: u64, word: &str) {
        let place = place(seq);
        match self.0.get_mut(word) {
            Some(places) => {
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
            None => {
                self.0.insert(word.into(), vec![place]);
            }
        }
    }

    /// Writes the lists.
    pub(crate) fn write(self, pen: &Pen, block: u64) -> rusqlite::Result<()> {
        let mut words: Vec<(Box<str>, Vec<u16>)> = self.0.into_iter().collect();
        words.sort_unstable();
        let mut insert = pen.statement(INSERT)?;
        for of_one_letter in words.chunk_by(|one, next| letter(&one.0) == letter(&next.0)) {
            let Some((word, _)) = of_one_letter.first() else { continue };
            let first = id(block, letter(word));
            let last = first + (1 << LIST_BITS) - 1;
            insert.execute(params![int(first), int(last), coding::encode(of_one_letter)])?;
        }
        Ok(())
    }
}

/// Forgets the words of a block.
pub(crate) fn forget(pen: &Pen, block: u64) -> rusqlite::Result<()> {
    pen.run(FORGET, [int(id(block, 0)), int(id(block + 1, 0) - 1)]).map(drop)
}

/// The messages of these blocks that have words beginning with all of these, by their block.
pub(crate) async fn having(
    connection: &mut SqliteConnection,
    words: &BTreeSet<String>,
    blocks: &[u64],
) -> Result<BTreeMap<u64, Marked>, sqlx::Error> {
    let letters: BTreeSet<u64> = words.iter().map(|word| letter(word)).collect();
    let query = sqlx::query(READ)
        .bind(serde_json::Value::from(blocks).to_string())
        .bind(serde_json::Value::from_iter(letters).to_string());
    let mut found: BTreeMap<u64, Vec<Marked>> = BTreeMap::new();
    for row in query.fetch_all(connection).await? {
        let (block, at): (i64, i64) = (row.try_get("block")?, row.try_get("letter")?);
        let list: &[u8] = row.try_get("words")?;
        let marked = found.entry(uint(block)).or_insert_with(|| vec![Marked::NONE; words.len()]);
        for (word, marked) in words.iter().zip(marked) {
            if letter(word) == uint(at) && coding::mark(list, word.as_bytes(), marked).is_none() {
                return Err(sqlx::Error::Decode("a list of words is damaged".into()));
            }
        }
    }
    let all = |each: Vec<Marked>| each.into_iter().reduce(Marked::and).unwrap_or(Marked::NONE);
    Ok(found.into_iter().map(|(block, each)| (block, all(each))).collect())
}

/// Where in its block a message is.
fn place(seq: u64) -> u16 {
    (seq % block::SPAN) as u16
}

/// The number of a word's first letter, in the order of words.
fn letter(word: &str) -> u64 {
    let letter = match word.as_bytes().first() {
        Some(digit @ b'0'..=b'9') => digit - b'0',
        Some(letter @ b'a'..=b'z') => letter - b'a' + 10,
        // The beginning of a letter in UTF-8; four alphabets or so share a list.
        Some(byte) => byte.saturating_sub(0xc0) / 4 + 36,
        None => 0,
    };
    u64::from(letter)
}

fn id(block: u64, letter: u64) -> u64 {
    (block << (LETTER_BITS + LIST_BITS)) + (letter << LIST_BITS)
}
