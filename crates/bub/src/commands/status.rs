//! `bub status`: what is running, how busy it is, and where every message is.

use clap::Args;
use serde::Deserialize;
use serde_json::Value;
use switchboard_model::{MessageFilter, Timestamp};

use crate::failure::Failure;
use crate::output::{self, date_time, duration};
use crate::whereabouts::AsOperator;

/// Show what is running, how busy it is, and where every message is
#[derive(Args)]
pub(crate) struct Status {
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

#[derive(Deserialize)]
struct Snapshot {
    status: Running,
    totals: Totals,
    figures: Figures,
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    version: String,
    url: String,
    data_dir: String,
    started_at: Timestamp,
    demo: bool,
    mdns_peers: Option<u32>,
    troubles: Vec<Trouble>,
}

#[derive(Deserialize)]
struct Trouble {
    words: String,
    over: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Totals {
    accepted: u64,
    processed: u64,
    waiting: u64,
    dead: u64,
    discarded: u64,
    expired: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    per_second: f64,
    p50_micros: Option<u64>,
    p99_micros: Option<u64>,
    open_letters: u64,
    connections: u32,
    database_bytes: u64,
}

#[derive(Deserialize)]
struct Agent {
    status: String,
}

impl Status {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        // The feed begins with everything as it is now, which is what we want to know.
        let mut feed = self.operator.console()?.watch(&MessageFilter::default()).await?;
        let snapshot = feed.next().await?;
        if self.json {
            return output::line(&document(&snapshot).to_string());
        }
        let snapshot: Snapshot = serde_json::from_value(snapshot)?;
        lines(&snapshot).iter().try_for_each(|line| output::line(line))
    }
}

/// The status with totals and figures beside it.
fn document(snapshot: &Value) -> Value {
    let mut document = snapshot["status"].clone();
    document["totals"] = snapshot["totals"].clone();
    document["figures"] = snapshot["figures"].clone();
    document
}

fn lines(snapshot: &Snapshot) -> Vec<String> {
    let Snapshot { status, totals, figures, agents } = snapshot;
    let here = agents.iter().filter(|agent| agent.status != "unavailable").count();
    let demo = if status.demo { ", with the demo agents" } else { "" };
    let quick = figures.p50_micros.zip(figures.p99_micros).map(|(half, most)| {
        format!(", half settled within {}, 99 % within {}", duration(half), duration(most))
    });
    let mdns = match status.mdns_peers {
        None => "off".to_owned(),
        Some(1) => "1 other broker on the network".to_owned(),
        Some(peers) => format!("{peers} other brokers on the network"),
    };
    let open = match figures.open_letters {
        0 => "no letters wait for you".to_owned(),
        1 => "1 letter waits for you: bub dead-letters list".to_owned(),
        open => format!("{open} letters wait for you: bub dead-letters list"),
    };
    let going_on = status.troubles.iter().filter(|trouble| trouble.over.is_none());
    let troubles = going_on.map(|trouble| format!("  trouble    {}", trouble.words));
    let mut lines = vec![
        format!("Switchboard {} since {} UTC{demo}", status.version, date_time(status.started_at)),
        format!("  bus        {}", status.url),
        format!("  data       {} ({:.1} MB)", status.data_dir, figures.database_bytes as f64 / 1e6),
        format!(
            "  agents     {here} here, {} known, {} connections",
            agents.len(),
            figures.connections
        ),
        format!("  traffic    {:.1} a second{}", figures.per_second, quick.unwrap_or_default()),
        format!(
            "  messages   {} accepted = {} processed + {} waiting + {} dead + {} discarded + {} expired",
            totals.accepted,
            totals.processed,
            totals.waiting,
            totals.dead,
            totals.discarded,
            totals.expired
        ),
        format!("  dead       {open}"),
        format!("  discovery  {mdns}"),
    ];
    lines.extend(troubles);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot() -> Value {
        json!({
            "type": "snapshot", "seq": 1, "rows": [],
            "status": {"version": "0.1.0", "url": "ws://127.0.0.1:7892", "dataDir": "/data",
                       "startedAt": "2026-11-16T10:30:00.000000Z", "demo": true, "mdnsPeers": 1, "troubles": []},
            "totals": {"accepted": 3, "processed": 2, "waiting": 0, "dead": 1, "discarded": 0,
                       "expired": 0},
            "figures": {"perSecond": 1.5, "p50Micros": 900, "p99Micros": 12000, "openLetters": 1,
                        "connections": 2,
                        "databaseBytes": 2_500_000, "uptimeSeconds": 5},
            "agents": [{"status": "ready"}, {"status": "unavailable"}],
        })
    }

    #[test]
    fn the_status_shows_the_sum_and_who_is_here() {
        let shown = lines(&serde_json::from_value(snapshot()).unwrap()).join("\n");
        for part in [
            "Switchboard 0.1.0 since 2026-11-16 10:30:00 UTC, with the demo agents",
            "1 here, 2 known, 2 connections",
            "half settled within 900 µs, 99 % within 12.0 ms",
            "3 accepted = 2 processed + 0 waiting + 1 dead + 0 discarded + 0 expired",
            "1 letter waits for you",
            "1 other broker",
        ] {
            assert!(shown.contains(part), "{part:?} is missing in\n{shown}");
        }
    }

    #[test]
    fn the_document_is_the_status_with_totals_and_figures_beside_it() {
        let document = document(&snapshot());
        assert_eq!(document["url"], "ws://127.0.0.1:7892");
        assert_eq!(document["totals"]["accepted"], 3);
        assert_eq!(document["figures"]["connections"], 2);
    }
}
