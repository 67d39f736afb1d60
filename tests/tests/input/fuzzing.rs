//! The parsers under libFuzzer. The corpora run as ordinary tests of the crates whose parsers they are for; at full size
//! every target runs ten million times more.

use std::path::{Path, PathBuf};
use std::process::Command;

use switchboard_tests::Proof;
use switchboard_tests::proof::full;

/// Executions of each target at full size, unless `FUZZ_RUNS` says otherwise.
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

#[test]
fn fuzzing() {
    let mut proof =
        Proof::new(10, "fuzzing", "No input breaks a parser, and none takes longer than 100 ms")
            .how("libFuzzer on every parser; its corpora run in every test run too");
    let targets = names(&root().join("fuzz/fuzz_targets"));
    let sources = sources();
    for target in &targets {
        let kept = names(&root().join("fuzz/corpus").join(target)).len();
        proof.check(format!("{target} has a corpus"), kept > 0);
        proof.check(
            format!("{target} is a test too"),
            sources.contains(&format!("replay(\"{target}\"")),
        );
    }
    let mut figure =
        format!("{} parsers, each with a corpus that every test run tries", targets.len());
    if full() {
        let runs =
            std::env::var("FUZZ_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS);
        let (mut executions, mut slowest) = (0, 0);
        for target in &targets {
            match run(target, runs) {
                Ok((done, micros)) => {
                    println!("{target}: {done} executions, the slowest {micros} µs");
                    proof.check(format!("{target}: {done} executions"), done >= runs);
                    executions += done;
                    slowest = slowest.max(micros);
                }
                Err(said) => proof.fail(target, said),
            }
        }
        figure = format!(
            "{} parsers, {executions} executions, 0 crashes, the slowest {:.1} ms",
            targets.len(),
            slowest as f64 / 1000.0
        );
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

/// Runs a target; how often, and how many microseconds the slowest took. What it said, if it found something.
fn run(target: &str, runs: u64) -> Result<(u64, u64), String> {
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
    Ok((done, last("slowest: ").unwrap_or(500)))
}
