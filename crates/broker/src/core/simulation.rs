//! The core, played through: acts that chance chose, with a real store, a clock of our own, and faults. The
//! disk refuses messages or is heard of late, connections are lost, answers come late, the time of day is set
//! on and back, the broker crashes and restarts. After every act and at the end it is compared with what
//! senders and recipients know (`ledger`): nothing acknowledged is lost, everything is in exactly one state.
//!
//! `acts` are what can happen, `stage` is where the core runs, `play` plays. The same seed is the same play. A seed
//! that failed once is kept in `seeds.txt` and played first, always.

mod acts;
mod ledger;
mod play;
mod stage;

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use switchboard_store::{Options, Store};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use acts::{Step, play_of};
use ledger::Tally;

/// Seeds of plays that failed once.
const SEEDS: &str = include_str!("simulation/seeds.txt");

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// A folder in memory, where there is one, with an empty database in it.
fn theatre() -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let empty = folder.path().join("empty");
    runtime().block_on(async {
        let opened = Store::open(&empty, &Options::default()).await.unwrap();
        opened.store.close().await;
    });
    (folder, empty)
}

fn played(empty: &Path, steps: &[Step]) -> Result<Tally, String> {
    runtime().block_on(play::play(empty, steps))
}

/// The shortest part of a play that still fails, found by leaving out more and more of it.
fn shortened(empty: &Path, mut steps: Vec<Step>) -> Vec<Step> {
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            if played(empty, &fewer).is_err() {
                steps = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    steps
}

fn count_from_environment(quick: u64, full: u64) -> u64 {
    let asked = std::env::var("PLAYS").ok().and_then(|text| text.parse().ok());
    let whole = std::env::var("PROVE").is_ok_and(|text| text == "full");
    asked.unwrap_or(if whole { full } else { quick })
}

/// Prints the figure and how many passed, and writes both down if `PROOFS_DIR` says where: as the proofs do that are made from
/// outside, in `tests`.
fn write_down(name: &str, how: &str, figure: &str, passed: u64, failed: u64) {
    println!("{name}: {figure}");
    println!("{passed} passed, {failed} failed");
    let Some(folder) = std::env::var_os("PROOFS_DIR") else { return };
    let promise = "accepted = processed + waiting + dead + discarded + expired, whatever fails";
    let row = serde_json::json!({
        "name": name,
        "line": 8,
        "promise": promise,
        "figure": figure,
        "how": how,
        "passed": passed,
        "failed": failed,
        "peer": null,
        "date": &crate::clock::now().to_iso()[..10],
        "full": std::env::var("PROVE").is_ok_and(|size| size == "full"),
    });
    std::fs::write(Path::new(&folder).join(format!("{name}.json")), format!("{row:#}\n")).unwrap();
}

#[test]
fn nothing_accepted_is_lost_or_doubled_whatever_fails() {
    let (_folder, empty) = theatre();
    let kept = SEEDS.lines().filter_map(|line| line.split('#').next()?.trim().parse::<u64>().ok());
    let first = std::env::var("FIRST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let plays = count_from_environment(300, 10_000);
    let (mut passed, mut failed, mut sum) = (0_u64, Vec::new(), Tally::default());
    for seed in kept.chain(first..first + plays) {
        match played(&empty, &play_of(seed)) {
            Ok(tally) => {
                passed += 1;
                sum.add(&tally);
            }
            Err(wrong) => failed.push((seed, wrong)),
        }
    }
    let figure = format!(
        "{} sent, {} acknowledged, {} refused, {} deliveries, {} crashes and restarts, {} times a full disk, {} times \
         another time of day, {} replays: {} lost or unaccounted for",
        sum.sent,
        sum.acknowledged,
        sum.refused,
        sum.delivered,
        sum.crashes,
        sum.disk_faults,
        sum.jumps,
        sum.replayed,
        failed.len()
    );
    let how = "each seed a play of up to 208 acts that chance chose, on a real store, with a clock of its own and faults; then all is drained";
    write_down("simulation", how, &figure, passed, failed.len() as u64);
    if let Some((seed, wrong)) = failed.first() {
        let short = shortened(&empty, play_of(*seed));
        let again = played(&empty, &short);
        for step in &short {
            println!("    {step:?}");
        }
        panic!(
            "{failed:?}\nseed {seed}: {wrong}; add it to seeds.txt. In short, as above: {again:?}"
        );
    }
}

#[test]
fn a_seed_is_the_same_play_each_time() {
    let (_folder, empty) = theatre();
    for seed in 0..5 {
        let steps = play_of(seed);
        assert_eq!(played(&empty, &steps), played(&empty, &steps), "seed {seed}");
    }
}

/// The same, with plays that are made short by the library where one fails, and kept in `proptest-regressions`.
#[test]
fn the_core_does_what_its_model_says() {
    let (_folder, empty) = theatre();
    let cases = u32::try_from(count_from_environment(100, 2_000)).unwrap();
    let mut runner = TestRunner::new(Config {
        cases,
        max_shrink_iters: 2_000,
        ..Config::with_source_file(file!())
    });
    let plays = prop::collection::vec(Step::any(), 1..120);
    let outcome =
        runner.run(&plays, |steps| played(&empty, &steps).map(drop).map_err(TestCaseError::fail));
    let how = "plays of up to 120 acts, made short where one fails, beside a model of what senders and recipients know";
    let (passed, failed) = if outcome.is_ok() { (u64::from(cases), 0) } else { (0, 1) };
    let figure = format!("{passed} of {cases} plays as the model says");
    write_down("model", how, &figure, passed, failed);
    outcome.unwrap();
}
