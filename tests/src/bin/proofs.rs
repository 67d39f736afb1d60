//! Writes docs/PROOFS.md from what the proofs wrote down: `proofs FOLDER` prints it.

use std::error::Error;
use std::path::Path;

use switchboard_tests::proof::Row;

const PREFACE: &str = "\
# What was proven, and how

Each row is a promise, tried by a program in many cases on a real `switchboardd`, and what came of it: the figure, how it was
taken and when. `./dev prove` runs them all, `./dev prove NAME…` some of them (the other rows stay as they were), and
both write this page; `./dev test` runs each at a smaller size. The tests are in [tests/tests](../tests/tests):
`faults`, `strain`, `input` and `entry`; the simulation is in [crates/broker](../crates/broker/src/core/simulation.rs), what needs a
screen in [ui/e2e](../ui/e2e).

What such a page can say is that nothing broke in the cases that were tried. A row marked *quick* was taken at the size of `./dev
test`, not at the size that the promise names. Unless a row says otherwise the programs are debug builds, with overflow checks; they may have
shared the machine with other work, so times are upper bounds. What others reached is told where somebody measured it, and was not always measured here; it is there to
show the scale, not to rank.
";

const TABLE: &str = "\
| # | promise | figure | passed | failed | how | others | date |
|---|---|---|---|---|---|---|---|
";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: proofs FOLDER")?;
    print!("{}", page(&rows(Path::new(&folder))?));
    Ok(())
}

fn rows(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows: Vec<Row> = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|end| end == "json") {
            rows.push(serde_json::from_slice(&std::fs::read(path)?)?);
        }
    }
    rows.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    Ok(rows)
}

fn page(rows: &[Row]) -> String {
    let mut page = format!("{PREFACE}\n{TABLE}");
    for row in rows {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let size = if row.full { "" } else { " *quick*" };
        let peer = row.peer.as_deref().unwrap_or("");
        page += &format!(
            "| {} | **{}**: {} | {} | {} | {} | {} | {} | {}{size} |\n",
            row.line,
            row.name,
            cell(&row.promise),
            cell(&row.figure),
            row.passed,
            row.failed,
            cell(&row.how),
            cell(peer),
            row.date,
        );
    }
    let failed = rows.iter().filter(|row| row.failed > 0).count();
    page + &format!("\n{} proofs, {failed} of them with failed cases.\n", rows.len())
}
