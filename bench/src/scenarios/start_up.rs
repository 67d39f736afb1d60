//! How soon a broker listens after its program was started.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Outcome;
use crate::figures::{Section, Sides, Spread, lower};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::{self, Synchronous};

const MIB: u64 = 1 << 20;
/// What is called a database of 5 GB here, since messages of one size do not add up to a round sum.
const LARGE: u64 = 4500 * MIB;

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let large = lab.history().await?;
    let size = std::fs::metadata(large.join("switchboard.db"))?.len();
    // The first start may still have something to do for good, such as a migration.
    start(lab, &large).await?;
    let (mut empty, mut full) = (Vec::new(), Vec::new());
    for _ in 0..lab.rounds {
        empty.push(start(lab, &switchboard::folder(lab, Synchronous::Full)?).await?);
        full.push(start(lab, &large).await?);
    }
    let named = if size > LARGE { "5 GB".to_owned() } else { format!("{} MB", size / MIB) };
    let mut notes = Vec::new();
    if size <= LARGE {
        notes.push(format!(
            "{named} instead of 5 GB: `--full` makes that once, in some minutes, and keeps it"
        ));
    }
    let ratio = full.iter().zip(&empty).map(|(full, empty)| full / empty).collect();
    let figures = [
        lower("start to listening, empty database", Some(Spread::of(empty)))
            .map(|it| it.unit("ms").target(150.0, 60.0)),
        lower(format!("start to listening, {named}"), Some(Spread::of(full)))
            .map(|it| it.unit("ms").target(500.0, 150.0)),
        lower(format!("start to listening, {named} / empty"), Some(Spread::of(ratio))),
    ];
    Ok(Section {
        title: "start-up: from the start of the program to its line `listening on`".into(),
        operations: "",
        sides: Sides::none(),
        figures: figures.into_iter().flatten().collect(),
        notes,
    })
}

/// Starts and cleanly stops a broker; the milliseconds until it listened.
async fn start(lab: &Lab, folder: &Path) -> Outcome<f64> {
    let begun = Instant::now();
    let server = switchboard::start_in(lab, PathBuf::from(folder), Cores::All).await?;
    let millis = begun.elapsed().as_secs_f64() * 1e3;
    server.process.stop().await?;
    Ok(millis)
}
