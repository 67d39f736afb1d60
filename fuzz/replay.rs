//! A fuzz target as an ordinary test: all that is kept in its corpus, and many changes of it that are the same each
//! time. Every crate with parsers has this file as a module of its tests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Changes of the corpus that are tried, unless `FUZZ_CASES` says otherwise.
const CASES: usize = 3000;
/// How long all of it may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(600);
/// As long as the longest input of `fuzz/`.
const LONGEST: usize = 4096;

/// What is put in here and there.
const SIGNS: &[u8] = b"\"\\{}[],:0-9eE.+ntf\x00\n\xff\xc3";
const WORDS: [&str; 8] =
    ["null", "1e400", "-0", "18446744073709551616", "\\ud800", "[[[[[[[[", "😀", "{\"\":"];

/// Runs a target over its corpus and over changes of it; fails with every input for which something does not hold.
pub(crate) fn replay(target: &'static str, trial: fn(&[u8])) {
    let corpus = corpus(target);
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    let (done, ended) = sync_channel(1);
    std::thread::spawn(move || {
        let mut chance = Chance(0x5_1b0a_2d00 + target.len() as u64);
        let kept = corpus.iter().cloned();
        let changed = (0..cases.unwrap_or(CASES)).map(|_| chance.changed(&corpus));
        let mut passed = 0_usize;
        let mut failed = Vec::new();
        for input in kept.chain(changed) {
            match catch_unwind(AssertUnwindSafe(|| trial(&input))) {
                Ok(()) => passed += 1,
                Err(_) => failed.push(input.escape_ascii().to_string()),
            }
        }
        done.send((passed, failed)).unwrap_or_default();
    });
    let (passed, failed) = match ended.recv_timeout(PATIENCE) {
        Ok(ended) => ended,
        Err(RecvTimeoutError::Timeout) => panic!("{target} hangs"),
        Err(RecvTimeoutError::Disconnected) => panic!("{target} ended without a word"),
    };
    println!("fuzzing {target}: {passed} passed, {} failed", failed.len());
    assert!(failed.is_empty(), "{target}: {}", failed.join("\n"));
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut folders = above.map(|folder| folder.join("fuzz/corpus").join(target));
    let folder = folders.find(|folder| folder.exists()).expect("a target has a corpus");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// The same numbers each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }

    /// One of the corpus with a few changes, or with a piece of another in it.
    fn changed(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(input.len() + 1);
            let to = at + self.below(input.len() - at + 1).min(self.below(64));
            match self.below(6) {
                0 => drop(input.drain(at..to)),
                1 => {
                    let piece = input[at..to].to_vec();
                    input.splice(at..at, piece);
                }
                2 => input.insert(at, SIGNS[self.below(SIGNS.len())]),
                3 if at < input.len() => input[at] ^= 1 << self.below(8),
                4 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len() + 1);
                    let piece = other[from..(from + self.below(64)).min(other.len())].to_vec();
                    input.splice(at..to, piece);
                }
                _ => {
                    let word = WORDS[self.below(WORDS.len())];
                    input.splice(at..to, word.bytes());
                }
            }
        }
        input.truncate(LONGEST);
        input
    }
}
