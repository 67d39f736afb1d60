//! `./dev bench`: what the broker costs over a bare relay, measured side by side.
//!
//! Two programs of their own, `switchboardd` and a WebSocket relay that stores and decides nothing
//! (`relay`), serve the same clients (`load`) in turns. Every figure that matters is a ratio taken
//! within one round, so that a busy machine slows both sides alike; `report` prints its median and
//! its spread. Nothing here passes or fails by a time.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod load;
mod relay;
mod report;
mod server;

use std::error::Error;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Parser, Subcommand};

use load::Load;
use report::{Report, Round};
use server::Server;

/// What the broker costs over a bare relay, side by side.
#[derive(Parser)]
struct Args {
    /// How often each side is measured
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long each measurement lasts; a round has four
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// The broker to measure; else the one beside this program
    #[arg(long)]
    switchboardd: Option<PathBuf>,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Subcommand)]
enum Role {
    /// Be the relay that the broker is compared with
    #[command(hide = true)]
    Relay,
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let args = Args::parse();
    match args.role {
        Some(Role::Relay) => relay::serve().await,
        None => {
            let report = measure(&args).await?;
            println!("{}", if args.json { report.json()? } else { report.table() });
            Ok(())
        }
    }
}

async fn measure(args: &Args) -> Outcome<Report> {
    let this = std::env::current_exe()?;
    let beside = this.parent().unwrap_or(Path::new("."));
    let broker = args.switchboardd.clone().unwrap_or_else(|| beside.join("switchboardd"));
    if !broker.exists() {
        let advice = "build it with `cargo build --release -p switchboardd`";
        return Err(format!("{} is missing: {advice}", broker.display()).into());
    }
    // Beside the program and not under /tmp, which is often kept in memory: the disk is part of
    // what is measured.
    let data = tempfile::Builder::new().prefix("bench-data-").tempdir_in(beside)?;
    // Other brokers on this machine are none of its business while it is measured.
    std::fs::write(data.path().join("switchboard.toml"), "[discovery]\nmdns = false\n")?;
    let data_dir = data.path().as_os_str();
    let listen = ["--listen".as_ref(), "127.0.0.1:0".as_ref(), "--data-dir".as_ref(), data_dir];
    let broker = Server::start(&broker, &listen).await?;
    let relay = Server::start(&this, &["relay".as_ref()]).await?;
    let ours = Load::connect(broker.url()).await?;
    let bare = Load::connect(relay.url()).await?;

    let span = Duration::from_secs_f64(args.seconds);
    // The first turns fill caches and queues; they are not counted.
    let warm_up = span.min(Duration::from_millis(500));
    round(warm_up, (&broker, &ours), (&relay, &bare), true).await?;

    let mut rounds = Vec::new();
    for number in 0..args.rounds {
        if std::io::stderr().is_terminal() {
            eprint!("\rround {} of {} ", number + 1, args.rounds);
        }
        let ours_first = number % 2 == 0;
        rounds.push(round(span, (&broker, &ours), (&relay, &bare), ours_first).await?);
    }
    Ok(Report::new(&rounds))
}

type Side<'a> = (&'a Server, &'a Load);

/// Measures both sides once. Who goes first changes from round to round, so that neither always
/// follows the other's dirty caches.
async fn round(
    span: Duration,
    ours: Side<'_>,
    relay: Side<'_>,
    ours_first: bool,
) -> Outcome<Round> {
    let latency = in_turn(ours, relay, ours_first, async |(server, load): Side<'_>| {
        server.cost_of(load.one_in_flight(span)).await
    });
    let latency = latency.await?;
    let throughput = in_turn(ours, relay, ours_first, async |(server, load): Side<'_>| {
        server.cost_of(load.many_in_flight(span)).await
    });
    Ok(Round { latency, throughput: throughput.await? })
}

async fn in_turn<'a, T>(
    ours: Side<'a>,
    relay: Side<'a>,
    ours_first: bool,
    measure: impl AsyncFn(Side<'a>) -> Outcome<T>,
) -> Outcome<report::Pair<T>> {
    Ok(if ours_first {
        let ours = measure(ours).await?;
        report::Pair { ours, relay: measure(relay).await? }
    } else {
        let relay = measure(relay).await?;
        report::Pair { ours: measure(ours).await?, relay }
    })
}
