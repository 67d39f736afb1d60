//! One request at a time: how long does an answer take?

use super::{FULL, NATS, NORMAL, RELAY, plan};
use crate::Outcome;
use crate::contest::Contest;
use crate::figures::{Figure, Section, Sides, lower};
use crate::generator::Speech;
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, nats, relay, switchboard};

/// A side of its own and not a sum of two figures: whatever slows the disk or the core slows it as it slows the broker.
const SYNCING: &str = "bare relay + one fdatasync";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let sides = measure(lab, Cores::All).await?;
    let figures = [
        p50(&sides, "request–response p50 / NATS core", FULL, NATS),
        p50(&sides, "request–response p50 / bare relay", FULL, RELAY),
        p50(&sides, "request–response p50 / (bare relay + one fdatasync)", FULL, SYNCING),
    ];
    let figures = figures.into_iter().flatten().collect();
    let title = "request–response latency: 1 in flight".into();
    Ok(Section { title, operations: "requests", sides, figures, notes: Vec::new() })
}

/// The same with every process on one core.
pub(super) async fn pinned(lab: &Lab) -> Outcome<Section> {
    let sides = measure(lab, Cores::One).await?;
    let full = "one core, full: request–response p50 / (bare relay + one fdatasync)";
    let tail = sides.ratio(NORMAL, NATS, |sample| sample.p999);
    let figures = [
        p50(&sides, "one core, normal: request–response p50 / NATS core", NORMAL, NATS)
            .map(|it| it.target(1.3, 1.0)),
        p50(&sides, full, FULL, SYNCING).map(|it| it.target(1.4, 1.15)),
        lower("one core, normal: request–response p99.9 / NATS core", tail)
            .map(|it| it.target(3.0, 1.5)),
    ];
    let figures = figures.into_iter().flatten().collect();
    let title = "request–response latency: 1 in flight, every process on one core".into();
    Ok(Section { title, operations: "requests", sides, figures, notes: Vec::new() })
}

fn p50(sides: &Sides, name: &str, ours: &str, theirs: &str) -> Option<Figure> {
    lower(name, sides.ratio(ours, theirs, |sample| sample.p50))
}

async fn measure(lab: &Lab, cores: Cores) -> Outcome<Sides> {
    let load = |speech| move |server: &Server| plan(server, speech, 1, 1, 1);
    let full = switchboard::start(lab, Synchronous::Full, cores).await?;
    let normal = switchboard::start(lab, Synchronous::Normal, cores).await?;
    let syncing = relay::syncing(lab, cores).await?;
    let mut contest = Contest::new(lab, cores);
    contest.enter(FULL, Some(full), load(Speech::Bus)).await?;
    contest.enter(SYNCING, Some(syncing), load(Speech::Bus)).await?;
    contest.enter(NORMAL, Some(normal), load(Speech::Bus)).await?;
    contest.enter(NATS, nats::core(lab, cores).await?, load(Speech::Nats)).await?;
    contest.enter(RELAY, Some(relay::start(lab, cores).await?), load(Speech::Bus)).await?;
    contest.hold().await
}
