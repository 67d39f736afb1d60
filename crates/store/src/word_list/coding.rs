//! How a list of words is kept: for each word how much of the one before it begins with, the rest of it, and which messages
//! have it, as the steps from each to the next or, where they are many, as a bit for each message of the block.

use crate::block::SPAN;

const PLACES: usize = SPAN as usize;
/// From so many on a bit for each message of the block takes less.
const MANY: usize = PLACES / 8;

/// Some of the messages of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marked([u64; PLACES / 64]);

impl Marked {
    pub(crate) const NONE: Self = Self([0; PLACES / 64]);

    fn mark(&mut self, place: usize) -> Option<()> {
        *self.0.get_mut(place / 64)? |= 1 << (place % 64);
        Some(())
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        for (one, other) in self.0.iter_mut().zip(other.0) {
            *one &= other;
        }
        self
    }

    pub(crate) fn has(&self, seq: u64) -> bool {
        let place = (seq % SPAN) as usize;
        self.0.get(place / 64).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
    }

    /// Their seqs in this block, newest first.
    pub(crate) fn seqs(&self, block: u64) -> impl Iterator<Item = u64> {
        let first = block * SPAN;
        (first..first + SPAN).rev().filter(|seq| self.has(*seq))
    }
}

/// The list of these words, which are in order; so are the messages of each.
pub(super) fn encode(words: &[(Box<str>, Vec<u16>)]) -> Vec<u8> {
    let mut list = Vec::with_capacity(words.len() * 8);
    let mut before: &[u8] = &[];
    for (word, places) in words {
        let word = word.as_bytes();
        let shared = word.iter().zip(before).take_while(|(one, other)| one == other).count();
        push(&mut list, shared);
        push(&mut list, word.len() - shared);
        list.extend_from_slice(&word[shared..]);
        before = word;
        if places.len() < MANY {
            push(&mut list, places.len());
            let mut last = 0;
            for place in places {
                push(&mut list, usize::from(*place - last));
                last = *place;
            }
        } else {
            push(&mut list, 0);
            let mut marked = Marked::NONE;
            for place in places {
                let _ = marked.mark(usize::from(*place));
            }
            list.extend(marked.0.iter().flat_map(|bits| bits.to_le_bytes()));
        }
    }
    list
}

/// Marks the messages that have a word which begins so. None if this is no list of ours.
pub(super) fn mark(mut list: &[u8], beginning: &[u8], marked: &mut Marked) -> Option<()> {
    let mut word = Vec::with_capacity(64);
    while !list.is_empty() {
        let shared = take(&mut list)?;
        let rest = take(&mut list)?;
        if shared > word.len() {
            return None;
        }
        word.truncate(shared);
        word.extend_from_slice(list.split_off(..rest)?);
        let begins_so = word.starts_with(beginning);
        if !begins_so && word.as_slice() > beginning {
            return Some(());
        }
        let count = take(&mut list)?;
        if count == 0 {
            let bits = list.split_off(..MANY)?;
            if begins_so {
                for (ours, theirs) in marked.0.iter_mut().zip(bits.chunks_exact(8)) {
                    *ours |= u64::from_le_bytes(theirs.try_into().ok()?);
                }
            }
            continue;
        }
        let mut place = 0;
        for _ in 0..count {
            place += take(&mut list)?;
            if begins_so {
                marked.mark(place)?;
            }
        }
    }
    Some(())
}

/// Seven bits of a number at a time, the lowest first.
fn push(list: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        list.push(number as u8 | 0x80);
        number >>= 7;
    }
    list.push(number as u8);
}

fn take(list: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in [0, 7, 14] {
        let byte = list.split_off_first()?;
        number |= usize::from(byte & 0x7f) << shift;
        if *byte <= 0x7f {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn found(list: &[u8], beginning: &str) -> Option<Vec<u64>> {
        let mut marked = Marked::NONE;
        mark(list, beginning.as_bytes(), &mut marked)?;
        let mut seqs: Vec<u64> = marked.seqs(7).map(|seq| seq - 7 * SPAN).collect();
        seqs.reverse();
        Some(seqs)
    }

    proptest! {
        #[test]
        fn every_beginning_finds_just_the_messages_that_have_it(
            words in prop::collection::btree_map("[ab]{1,3}é?", prop::collection::btree_set(0..1024_u16, 1..300), 0..12),
            beginning in "[abc]{0,3}é?",
        ) {
            let words: BTreeMap<String, BTreeSet<u16>> = words;
            let list: Vec<(Box<str>, Vec<u16>)> = words
                .iter()
                .map(|(word, places)| (word.as_str().into(), places.iter().copied().collect()))
                .collect();
            let having = words.iter().filter(|(word, _)| word.starts_with(&beginning));
            let expected: BTreeSet<u64> =
                having.flat_map(|(_, places)| places.iter().map(|place| u64::from(*place))).collect();
            let found = found(&encode(&list), &beginning);
            prop_assert_eq!(found, Some(expected.into_iter().collect()));
        }

        #[test]
        fn what_is_no_list_is_found_out_or_harmless(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            found(&bytes, "a");
        }
    }
}
