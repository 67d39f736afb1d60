//! `./dev bench`: what Switchboard costs beside its peers and beside bare limits, measured side by side.
//!
//! Every server is a process of its own, and so are the clients (`generator`). `peers` starts the servers,
//! `scenarios` says what is measured, `contest` measures everyone in turns, `figures` takes the ratios within each
//! round, so that a busy machine slows all sides alike, and `report` prints them with their spread. Nothing here passes
//! or fails by a time.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod call;
mod contest;
mod figures;
mod generator;
mod history;
mod instructions;
mod lab;
mod pages;
mod peers;
mod process;
mod relay;
mod report;
mod scenarios;
mod usage;
mod websocket;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

use history::History;
use lab::Lab;
use report::Report;
use scenarios::Scenario;

/// What Switchboard costs beside its peers and beside bare limits.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Args {
    /// What to measure; everything if nothing is named
    #[arg(value_enum)]
    scenarios: Vec<Scenario>,
    /// How often each side is measured
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// How long each time
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// A first impression: three rounds, a third of a second each
    #[arg(long, conflicts_with_all = ["rounds", "seconds"])]
    quick: bool,
    /// Makes the database of 5 GB if it is not there, which takes some minutes, and keeps it
    #[arg(long)]
    full: bool,
    /// Where the figures are kept, a line for each run
    #[arg(long, default_value = "bench/history.jsonl")]
    history: PathBuf,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// The broker to measure; else the one beside this program
    #[arg(long)]
    switchboardd: Option<PathBuf>,
    #[command(subcommand)]
    role: Option<Role>,
}

/// What else this program does; most of it in the processes it starts.
#[derive(Subcommand)]
enum Role {
    /// Counts the instructions of a request–response, and fails if they became more
    Instructions {
        /// Write the count to the file instead of comparing it
        #[arg(long)]
        record: bool,
        /// The recorded count
        #[arg(long, default_value = "bench/instructions.txt")]
        file: PathBuf,
        /// Keep here what callgrind counted, for `callgrind_annotate`
        #[arg(long)]
        dumps: Option<PathBuf>,
    },
    /// Be the clients
    #[command(hide = true)]
    Generator,
    /// Be the relay that the broker is compared with
    #[command(hide = true)]
    Relay {
        /// Sync a page of this for every message
        file: Option<PathBuf>,
    },
    /// Be the bare HTTP server
    #[command(hide = true)]
    Echo,
    /// Be SQLite alone
    #[command(hide = true)]
    Sqlite { file: PathBuf, rows: usize },
}

/// A machine of which others use less than this part is at rest.
const AT_REST: f64 = 0.1;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Outcome<()> {
    match &args.role {
        Some(Role::Generator) => generator::serve(),
        Some(Role::Relay { file }) => relay::serve(file.as_deref()),
        Some(Role::Echo) => runtime::Runtime::new()?.block_on(peers::echo::serve()),
        Some(Role::Sqlite { file, rows }) => {
            one_thread()?.block_on(peers::sqlite::serve(file, *rows))
        }
        Some(Role::Instructions { record, file, dumps }) => {
            let lab = Lab::open(args.switchboardd.clone(), 1, Duration::ZERO, false)?;
            let check = instructions::check(&lab, file, *record, dumps.as_deref());
            one_thread()?.block_on(until_stopped(check))
        }
        None => one_thread()?.block_on(until_stopped(measure(args))),
    }
}

fn one_thread() -> Outcome<runtime::Runtime> {
    Ok(runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Whoever stops it also stops what it started, because that is ended when it is dropped.
async fn until_stopped(work: impl Future<Output = Outcome<()>>) -> Outcome<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        outcome = work => outcome,
        _ = terminate.recv() => Err("stopped".into()),
        interrupted = tokio::signal::ctrl_c() => { interrupted?; Err("stopped".into()) }
    }
}

async fn measure(args: &Args) -> Outcome<()> {
    let (rounds, seconds) = if args.quick { (3, 0.3) } else { (args.rounds, args.seconds) };
    let span = Duration::from_secs_f64(seconds);
    let lab = Lab::open(args.switchboardd.clone(), rounds.into(), span, args.full)?;
    let wanted = match args.scenarios.as_slice() {
        [] => Scenario::value_variants(),
        some => some,
    };
    for program in peers::missing() {
        eprintln!("{program} is not installed, and left out");
    }
    let (mut sections, mut failed, mut at_rest) = (Vec::new(), Vec::new(), true);
    for scenario in wanted {
        let busy = usage::busy().await?;
        let outcome = match lab.check_room() {
            Ok(()) => scenario.run(&lab).await,
            Err(full) => Err(full),
        };
        lab.clean()?;
        match outcome {
            Ok(mut section) => {
                if busy > AT_REST {
                    at_rest = false;
                    let what = "busy with other things before this began";
                    section.notes.push(format!("the machine was {:.0} % {what}", busy * 100.0));
                }
                if !args.json {
                    println!("{}", report::section(&section));
                }
                sections.push(section);
            }
            // The others are worth measuring all the same.
            Err(error) => failed.push(format!("{scenario:?}: {error}")),
        }
    }
    let report = Report { rounds: lab.rounds, sections };
    let history = History::read(&args.history)?;
    println!("{}", if args.json { report.json()? } else { report.summary(&history) });
    // A first impression is not worth remembering, and what a busy machine did would make later runs look good or bad.
    if at_rest && !args.quick {
        history.append(lab.rounds, &report.figures())?;
    } else {
        eprintln!("not added to the history");
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}
