//! `bub rules history`: every change that was made.

use bub::Console;
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::change::Change;
use crate::failure::Failure;
use crate::output::{self, date_time, shortened, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// The most that one page holds.
const PAGE: u64 = 500;
/// Edits of one change that are shown; --json has all of them.
const SHOWN: usize = 3;
/// A note is shown this far.
const NOTE: usize = 60;

/// Show the changes that were made, the newest last; with --json the newest first
#[derive(Args)]
pub(super) struct History {
    /// How many of them
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 50,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    limit: u64,
    /// One JSON document: an array of changes
    #[arg(long)]
    json: bool,
}

impl History {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let changes = newest(&operator.console()?, self.limit).await?;
        if self.json {
            return output::line(&serde_json::to_string(&changes)?);
        }
        if changes.is_empty() {
            output::note("the rules were never changed");
            return Ok(());
        }
        let mut rows = Vec::new();
        for change in changes.iter().rev() {
            rows.push(row(&serde_json::from_str(change.get())?));
        }
        Table::new(["CHANGE", "WHEN", "BY", "WHAT", "UNDO", "NOTE"]).print(&rows)
    }
}

/// Reads pages until there are enough changes or no more; newest first, as the broker wrote them.
async fn newest(console: &Console, count: u64) -> Result<Vec<Box<RawValue>>, Failure> {
    #[derive(Deserialize)]
    struct Page {
        changes: Vec<Box<RawValue>>,
        next: Option<u64>,
    }
    let mut changes = Vec::new();
    let mut before: Option<u64> = None;
    loop {
        let limit = count.saturating_sub(changes.len() as u64).min(PAGE);
        if limit == 0 {
            return Ok(changes);
        }
        let query = json!({"before": before, "limit": limit});
        let page: Page = console.call("ruleHistory", query).await?;
        changes.extend(page.changes);
        match page.next {
            None => return Ok(changes),
            next => before = next,
        }
    }
}

fn row(change: &Change) -> [String; 6] {
    let undo = match (change.undoes, change.undone_by) {
        (_, Some(later)) => format!("undone by {later}"),
        (Some(earlier), None) => format!("undoes {earlier}"),
        (None, None) => "–".to_owned(),
    };
    [
        change.id.to_string(),
        date_time(change.at),
        visible(&change.by).into_owned(),
        what(change),
        undo,
        visible(&shortened(change.note.as_deref().unwrap_or_default(), NOTE)).into_owned(),
    ]
}

fn what(change: &Change) -> String {
    let mut parts: Vec<String> = change.edits.iter().take(SHOWN).map(|edit| edit.words()).collect();
    if let Some(more) = change.edits.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        parts.push(format!("and {more} more"));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_to_one_line_however_much_it_did() {
        let edit = |n: u32| {
            json!({"caller": "a", "provider": "b", "capability": n.to_string(),
            "before": null, "after": "allow"})
        };
        let change = |edits: u32| {
            let edits: Vec<_> = (1..=edits).map(edit).collect();
            let change = json!({"id": 7, "at": "2026-11-16T10:30:00.000000Z", "by": "operator",
                "note": null, "undoes": 5, "undoneBy": null, "edits": edits});
            row(&serde_json::from_value(change).unwrap())
        };
        let [id, at, _, what, undo, note] = change(1);
        assert_eq!([&*id, &*at, &*undo, &*note], ["7", "2026-11-16 10:30:00", "undoes 5", ""]);
        assert_eq!(what, "allow a → b · 1, no rule before");
        let [_, _, _, three, ..] = change(3);
        assert!(!three.contains("more"), "{three}");
        let [_, _, _, five, ..] = change(5);
        assert!(five.ends_with("; and 2 more"), "{five}");
    }
}
