//! The parsers under libFuzzer. The corpora run as ordinary tests of the crates whose parsers they are for; at full size
//! every target runs ten million times more.

use std::path::{Path, PathBuf};
use std::process::Command;

use switchboard_tests::Proof;
use switchboard_tests::proof::full;

/// Executions of each target at full size. `FUZZ_RUNS` asks for another number, at any size.
const RUNS: u64 = 10_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn names(folder: &Path) -> Vec<String> {
    let files =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Each target is a test of its own, so that one of them can be asked for, and has a row of its own.
macro_rules! targets {
    ($($target:ident)*) => {
        const TARGETS: &[&str] = &[$(stringify!($target)),*];
        $(#[test]
        fn $target() {
            fuzzing(stringify!($target));
        })*
    };
}

targets! {
    aacp_message aacp_query announcement bus canonical_json collaboration console_call content_match dialect
    host_and_origin jwt letter_line lobby mdns_packet message_filter object public_key schema settings topic_pattern
    txt_record
}

#[test]
fn every_target_is_here() {
    assert_eq!(names(&root().join("fuzz/fuzz_targets")), TARGETS);
}

fn fuzzing(target: &str) {
    let name = format!("fuzzing-{}", target.replace('_', "-"));
    let promise = "no input breaks this parser, and none takes it longer than 100 ms";
    let mut proof = Proof::new(10, &name, promise).how(
        "libFuzzer, inputs of up to 4 KB, from a corpus that every test run tries too; 100 ms of a processor are the most",
    );
    let kept = names(&root().join("fuzz/corpus").join(target)).len();
    proof.check("it has a corpus", kept > 0);
    proof.check("it is a test too", sources().contains(&format!("replay(\"{target}\"")));
    let mut figure = format!("a corpus of {kept} inputs");
    let asked = std::env::var("FUZZ_RUNS").ok().and_then(|text| text.parse().ok());
    if let Some(runs) = asked.or(full().then_some(RUNS)) {
        figure = match run(target, runs) {
            Ok((done, micros)) => {
                proof.check(format!("{done} executions"), done >= runs);
                let slowest = match micros {
                    Some(micros) => format!("{:.1} ms", micros as f64 / 1000.0),
                    None => "less than 0.5 ms".to_owned(),
                };
                format!("{done} executions, 0 crashes, the slowest {slowest}")
            }
            Err(said) => {
                proof.fail(target, said);
                "a crash, or one that took too long".to_owned()
            }
        };
    }
    proof.close(figure);
}

/// All code of the crates, where the tests of the corpora are.
fn sources() -> String {
    let mut folders = vec![root().join("crates")];
    let mut text = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == "fuzzing.rs") {
                text += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    text
}

/// Runs a target: how often, and how many microseconds the slowest took, where that is worth telling. What it said, if it
/// found something.
fn run(target: &str, runs: u64) -> Result<(u64, Option<u64>), String> {
    let output = Command::new(root().join("dev"))
        .args(["fuzz", target, &runs.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if !output.status.success() {
        return Err(said);
    }
    let number =
        |line: &str| line.split(|c: char| !c.is_ascii_digit()).find_map(|part| part.parse().ok());
    let last = |beginning: &str| {
        said.lines()
            .filter_map(|line| line.split_once(beginning))
            .filter_map(|(_, rest)| number(rest))
            .next_back()
    };
    let done = last("stat::number_of_executed_units:").ok_or("it did not say how often")?;
    Ok((done, last("slowest: ")))
}
