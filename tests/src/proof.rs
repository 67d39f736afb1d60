//! A proof: a promise, tried in many cases, and a figure that says how it went.

use std::fmt::Display;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Whether proofs run at full size (`PROVE=full`, as `./dev prove` asks), or at the size of `./dev test`.
pub fn full() -> bool {
    std::env::var("PROVE").is_ok_and(|size| size == "full")
}

/// As many cases as the size of this run asks for.
pub fn cases(quick: u64, at_full_size: u64) -> u64 {
    if full() { at_full_size } else { quick }
}

/// What came of a proof: a row of docs/PROOFS.md, and a file of its own between runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// A word or two, as in a file's name: `kill-9`.
    pub name: String,
    /// The promise's number in the list of all.
    pub line: u32,
    /// What is promised, in a few words.
    pub promise: String,
    /// What was measured.
    pub figure: String,
    /// How it was measured.
    pub how: String,
    pub passed: u64,
    pub failed: u64,
    /// What is known of others.
    pub peer: Option<String>,
    /// `2026-11-18`
    pub date: String,
    /// Whether it ran at full size.
    pub full: bool,
}

/// Counts cases. A case that fails is told at once, and the others go on.
pub struct Proof {
    row: Row,
}

impl Proof {
    /// Of the promise with this number: by this name, in these words.
    pub fn new(line: u32, name: &str, promise: &str) -> Self {
        let text = str::to_owned;
        let row = Row {
            name: text(name),
            line,
            promise: text(promise),
            figure: String::new(),
            how: String::new(),
            passed: 0,
            failed: 0,
            peer: None,
            date: today(),
            full: full(),
        };
        Self { row }
    }

    /// How it is tried.
    pub fn how(mut self, how: impl Into<String>) -> Self {
        self.row.how = how.into();
        self
    }

    /// What is known of others, where somebody measured it.
    pub fn peer(mut self, peer: impl Into<String>) -> Self {
        self.row.peer = Some(peer.into());
        self
    }

    /// One case went as promised.
    pub fn pass(&mut self) {
        self.row.passed += 1;
    }

    /// One case did not; says which, and why.
    pub fn fail(&mut self, case: impl Display, why: impl Display) {
        self.row.failed += 1;
        println!("{} failed: {case}: {why}", self.row.name);
    }

    /// One case that went well, or not.
    pub fn case(&mut self, case: impl Display, result: Result<(), impl Display>) {
        match result {
            Ok(()) => self.pass(),
            Err(why) => self.fail(case, why),
        }
    }

    /// One case that holds, or not.
    pub fn check(&mut self, case: impl Display, holds: bool) {
        let result = if holds { Ok(()) } else { Err("it does not hold") };
        self.case(case, result);
    }

    pub fn passed(&self) -> u64 {
        self.row.passed
    }

    pub fn failed(&self) -> u64 {
        self.row.failed
    }

    /// Prints the figure and `N passed, N failed`, writes both down if `PROOFS_DIR` says where, and panics if a case
    /// failed or there was none.
    pub fn close(mut self, figure: impl Into<String>) {
        self.row.figure = figure.into();
        let Row { name, figure, passed, failed, .. } = &self.row;
        println!("{name}: {figure}");
        println!("{passed} passed, {failed} failed");
        if let Some(folder) = std::env::var_os("PROOFS_DIR") {
            let file = PathBuf::from(folder).join(format!("{name}.json"));
            std::fs::write(file, serde_json::to_string_pretty(&self.row).unwrap() + "\n").unwrap();
        }
        assert!(*failed == 0 && *passed > 0, "{name}: {passed} passed, {failed} failed");
    }
}

#[expect(clippy::disallowed_methods, reason = "the day of the run, which decides nothing")]
fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

/// Numbers that look like chance and are the same in every run: a failure can be seen again by its seed.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number. (SplitMix64.)
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of `0..bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
