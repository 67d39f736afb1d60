//! `./dev bench instructions`: how many instructions a request–response takes in the broker, under callgrind.
//!
//! Times differ from run to run and from machine to machine; the count hardly does, so this one may fail. The broker is
//! the real program on one core, and so is its path: sockets, rules, routing, the database. Only what happens between
//! the first of the requests and the rest after the last is counted, so neither the start nor the clients are in it.

use std::path::Path;

use tokio::process::Command;

use crate::Outcome;
use crate::contest::{self, generator};
use crate::figures::Spread;
use crate::generator::{Order, Speech};
use crate::lab::{Cores, Lab, on};
use crate::peers::Server;
use crate::peers::switchboard::{self, Synchronous};
use crate::scenarios;

/// Requests that are not counted: they fill caches, and translate the program for callgrind.
const WARM_UP: u64 = 300;
const REQUESTS: u64 = 100;
/// How often that is counted. The least is the figure: a busy machine keeps answers away for so long that questions are
/// written without them, and again with them, and so it only ever adds.
const TIMES: usize = 7;
/// A count that is larger than the recorded one by more than this part is a failure.
const TOLERANCE: f64 = 0.05;

/// Counts, and compares with the figure in the file, or writes it there.
pub(crate) async fn check(
    lab: &Lab,
    file: &Path,
    record: bool,
    dumps: Option<&Path>,
) -> Outcome<()> {
    let counted = count(lab, dumps).await?;
    let Spread { median, min, max } = counted;
    println!("instructions a request–response: {min:.0} (median {median:.0}, most {max:.0})");
    if record {
        std::fs::write(file, format!("{min:.0}\n"))?;
        println!("recorded in {}", file.display());
        return Ok(());
    }
    let recorded: f64 = std::fs::read_to_string(file)
        .map_err(|error| format!("{}: {error}; `--record` makes it", file.display()))?
        .trim()
        .parse()?;
    println!("{}", verdict(min, recorded)?);
    Ok(())
}

/// Fewer are welcome, and worth recording; more are a failure.
fn verdict(counted: f64, recorded: f64) -> Outcome<String> {
    let change = counted / recorded - 1.0;
    let words = format!("{:+.1} % beside the recorded {recorded:.0}", change * 100.0);
    if change > TOLERANCE {
        return Err(
            format!("{words}: too many; if that is meant, record it with `--record`").into()
        );
    }
    if change < -TOLERANCE {
        return Ok(format!("{words}: record it with `--record`, so that it stays so"));
    }
    Ok(words)
}

async fn count(lab: &Lab, dumps: Option<&Path>) -> Outcome<Spread> {
    let folder = switchboard::folder(lab, Synchronous::Full)?;
    let out = dumps.unwrap_or(&folder).join("callgrind.out");
    let mut valgrind = on(Cores::One, "valgrind");
    valgrind.args(["--tool=callgrind", "--instr-atstart=no", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", out.display())).arg(lab.program());
    let server = switchboard::start_by(valgrind, folder).await?;
    let plan = scenarios::plan(&server, Speech::Bus, 1, 1, 1);
    let mut clients = generator(lab, &plan, Cores::One).await?;
    contest::load(&mut clients, Order::Times { count: WARM_UP }).await?;
    server.process.rest().await?;
    let mut counts = Vec::new();
    for number in 1..=TIMES {
        control(&server, "--instr=on").await?;
        contest::load(&mut clients, Order::Times { count: REQUESTS }).await?;
        server.process.rest().await?;
        control(&server, "--dump").await?;
        control(&server, "--instr=off").await?;
        let dump = std::fs::read_to_string(out.with_extension(format!("out.{number}")))?;
        let total = totals(&dump).ok_or("callgrind counted nothing")?;
        counts.push(total as f64 / REQUESTS as f64);
    }
    Ok(Spread::of(counts))
}

async fn control(server: &Server, order: &str) -> Outcome<()> {
    let pid = server.process.pid().to_string();
    let said = Command::new("callgrind_control").args([order, &pid]).output().await?;
    if !said.status.success() {
        return Err(format!("callgrind_control: {}", String::from_utf8_lossy(&said.stderr)).into());
    }
    Ok(())
}

/// What a dump says was counted in all.
fn totals(dump: &str) -> Option<u64> {
    dump.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_found_in_a_dump() {
        assert_eq!(totals("fn=(1) main\n5 10\nsummary: 7\ntotals: 45829569\n"), Some(45_829_569));
        assert_eq!(totals(""), None);
    }

    #[test]
    fn only_more_than_the_tolerance_fails() {
        assert!(verdict(104.0, 100.0).is_ok());
        assert!(verdict(106.0, 100.0).is_err());
        assert!(verdict(80.0, 100.0).is_ok_and(|words| words.contains("--record")));
    }
}
