//! The disk alone: how long one `fdatasync` takes.

use std::fs::File;
use std::io::BufRead;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use crate::Outcome;
use crate::figures::Spread;
use crate::lab::{Cores, Lab};
use crate::process::Process;

/// A page of the database.
const PAGE: usize = 4096;
/// The file is written once in full, so that later writes overwrite, as those to a write-ahead log do.
const PAGES: u64 = 1024;
const TIMES: u64 = 200;

pub(crate) fn start(lab: &Lab, cores: Cores) -> Outcome<Process> {
    let mut command = lab.role("disk", cores);
    command.arg(lab.folder("disk")?.join("file"));
    Process::start(command)
}

/// The median of many, in microseconds.
pub(crate) async fn sync(disk: &mut Process) -> Outcome<f64> {
    disk.tell("sync").await?;
    Ok(disk.line().await?.parse()?)
}

/// Being that process: answers each line with the median.
pub(crate) fn serve(path: &Path) -> Outcome<()> {
    let file = File::create(path)?;
    let page = [0x5a; PAGE];
    for number in 0..PAGES {
        file.write_all_at(&page, number * PAGE as u64)?;
    }
    file.sync_all()?;
    let mut next = 0;
    for line in std::io::stdin().lock().lines() {
        line?;
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let begun = Instant::now();
            file.write_all_at(&page, next % PAGES * PAGE as u64)?;
            file.sync_data()?;
            times.push(begun.elapsed().as_secs_f64() * 1e6);
            next += 1;
        }
        println!("{}", Spread::of(times).median);
    }
    Ok(())
}
