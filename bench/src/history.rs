//! What earlier runs measured, one line of JSON each, so that a commit that made something slower is seen.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::figures::{Better, Figure, Spread};

/// A run is compared with so many before it.
const LAST: usize = 10;
/// With fewer than this there is nothing to compare with.
const FEWEST: usize = 3;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Run {
    /// The commit that was measured; with a `+` where something was changed since.
    commit: String,
    /// When that was committed.
    date: String,
    rounds: usize,
    figures: BTreeMap<String, Spread>,
}

/// Earlier runs, oldest first.
pub(crate) struct History {
    file: PathBuf,
    runs: Vec<Run>,
}

impl History {
    pub(crate) fn read(file: &Path) -> Outcome<Self> {
        let text = if file.exists() { fs::read_to_string(file)? } else { String::new() };
        let runs = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Self { file: file.to_owned(), runs })
    }

    pub(crate) fn append(&self, rounds: usize, figures: &[&Figure]) -> Outcome<()> {
        let figures = figures.iter().map(|it| (it.name.clone(), it.spread)).collect();
        let (commit, date) = commit()?;
        let line = serde_json::to_string(&Run { commit, date, rounds, figures })?;
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        Ok(writeln!(file, "{line}")?)
    }

    /// How a figure went over the last runs up to this one: a bar for each, and whether this one is worse.
    pub(crate) fn chart(&self, figure: &Figure) -> String {
        let before = self.last(&figure.name);
        if before.is_empty() {
            return String::new();
        }
        let medians: Vec<f64> = before.iter().map(|it| it.median).collect();
        let values: Vec<f64> = medians.iter().copied().chain([figure.spread.median]).collect();
        let mark = if worse(figure, &medians) { "  worse than before" } else { "" };
        format!("{}{mark}", bars(&values))
    }

    fn last(&self, name: &str) -> Vec<Spread> {
        let all: Vec<Spread> =
            self.runs.iter().filter_map(|run| run.figures.get(name)).copied().collect();
        all[all.len().saturating_sub(LAST)..].to_vec()
    }
}

/// Whether a figure is worse than the median of earlier ones by more than its own spread: its best round is not as good
/// as they commonly were.
fn worse(figure: &Figure, before: &[f64]) -> bool {
    let common = Spread::of(before.to_vec()).median;
    before.len() >= FEWEST
        && match figure.better {
            Better::Higher => figure.spread.max < common,
            Better::Lower => figure.spread.min > common,
        }
}

fn bars(values: &[f64]) -> String {
    let Spread { min, max, .. } = Spread::of(values.to_vec());
    let top = (BARS.len() - 1) as f64;
    // Values that differ by less than a tenth look the same.
    let range = (max - min).max(max.abs() / 10.0);
    let bar = |value: &f64| {
        let height = if range > 0.0 { (value - min) / range * top } else { 0.0 };
        BARS.get(height as usize).copied().unwrap_or(' ')
    };
    values.iter().map(bar).collect()
}

/// What is checked out.
fn commit() -> Outcome<(String, String)> {
    let git = |args: &[&str]| -> Outcome<String> {
        let output = Command::new("git").args(args).output()?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", "crates"])?;
    let mark = if changed.is_empty() { "" } else { "+" };
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    Ok((format!("{commit}{mark}"), git(&["log", "-1", "--format=%cI"])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(better: Better, median: f64, min: f64, max: f64) -> Figure {
        Figure::new("a rate", better, Spread { median, min, max })
    }

    #[test]
    fn a_figure_is_worse_when_its_best_round_is_not_as_good_as_before() {
        let before = [100.0, 90.0, 110.0];
        assert!(worse(&figure(Better::Higher, 80.0, 70.0, 95.0), &before));
        assert!(!worse(&figure(Better::Higher, 80.0, 70.0, 105.0), &before), "within its spread");
        assert!(worse(&figure(Better::Lower, 130.0, 120.0, 140.0), &before));
        assert!(!worse(&figure(Better::Lower, 80.0, 70.0, 90.0), &before), "less is better");
        assert!(!worse(&figure(Better::Higher, 1.0, 1.0, 1.0), &before[..2]), "too few before");
    }

    #[test]
    fn bars_show_the_range_and_hide_what_hardly_differs() {
        assert_eq!(bars(&[0.0, 50.0, 100.0]), "▁▄█");
        assert_eq!(bars(&[100.0, 101.0]), "▁▁");
    }

    #[test]
    fn a_run_is_found_again_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.jsonl");
        let now = figure(Better::Higher, 10.0, 9.0, 11.0);
        for _ in 0..FEWEST {
            History::read(&file).unwrap().append(7, &[&now]).unwrap();
        }
        let history = History::read(&file).unwrap();
        assert_eq!(history.last("a rate").len(), FEWEST);
        assert_eq!(history.last("another"), []);
        let slow = figure(Better::Higher, 5.0, 4.0, 6.0);
        assert!(history.chart(&slow).ends_with("worse than before"), "{}", history.chart(&slow));
    }
}
