//! One request at a time: how long does an answer take?

use super::{FULL, NATS, NORMAL, RELAY, plan};
use crate::Outcome;
use crate::contest::Contest;
use crate::figures::{Figure, Section, Sides, Spread, lower};
use crate::generator::{Order, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, disk, nats, relay, switchboard};

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let (sides, _) = measure(lab, Cores::All).await?;
    let figures = [
        p50(&sides, "request–response p50 / NATS core", FULL, NATS),
        p50(&sides, "request–response p50 / bare relay", FULL, RELAY),
    ];
    let figures = figures.into_iter().flatten().collect();
    let title = "request–response latency: 1 in flight".into();
    Ok(Section { title, operations: "requests", sides, figures, notes: Vec::new() })
}

/// The same with every process on one core.
pub(super) async fn pinned(lab: &Lab) -> Outcome<Section> {
    let (sides, disk) = measure(lab, Cores::One).await?;
    let over_limit = || {
        let relay = sides.samples(RELAY)?.iter().zip(&disk).map(|(relay, disk)| relay.p50 + disk);
        let full = sides.samples(FULL)?.iter();
        Some(Spread::of(full.zip(relay).map(|(full, limit)| full.p50 / limit).collect()))
    };
    let tail = sides.ratio(NORMAL, NATS, |sample| sample.p999);
    let figures = [
        p50(&sides, "one core, normal: request–response p50 / NATS core", NORMAL, NATS)
            .map(|it| it.target(1.3, 1.0)),
        lower("one core, full: request–response p50 / (bare relay + one fdatasync)", over_limit())
            .map(|it| it.target(1.4, 1.15)),
        lower("one core, normal: request–response p99.9 / NATS core", tail)
            .map(|it| it.target(3.0, 1.5)),
    ];
    let sync = Spread::of(disk).median;
    let notes = vec![format!("one fdatasync of a page that is overwritten: {sync:.0} µs")];
    let figures = figures.into_iter().flatten().collect();
    let title = "request–response latency: 1 in flight, every process on one core".into();
    Ok(Section { title, operations: "requests", sides, figures, notes })
}

fn p50(sides: &Sides, name: &str, ours: &str, theirs: &str) -> Option<Figure> {
    lower(name, sides.ratio(ours, theirs, |sample| sample.p50))
}

/// Everyone's samples, and how long the disk takes in each round.
async fn measure(lab: &Lab, cores: Cores) -> Outcome<(Sides, Vec<f64>)> {
    let load = |speech| move |server: &Server| plan(server, speech, 1, 1, 1);
    let full = switchboard::start(lab, Synchronous::Full, cores).await?;
    let normal = switchboard::start(lab, Synchronous::Normal, cores).await?;
    let mut contest = Contest::new(lab, cores);
    contest.enter(FULL, Some(full), load(Speech::Bus)).await?;
    contest.enter(NORMAL, Some(normal), load(Speech::Bus)).await?;
    contest.enter(NATS, nats::core(lab, cores).await?, load(Speech::Nats)).await?;
    contest.enter(RELAY, Some(relay::start(lab, cores).await?), load(Speech::Bus)).await?;
    let mut disk = disk::start(lab, cores)?;
    let mut syncs = Vec::new();
    let order = Order::For { seconds: lab.span.as_secs_f64() };
    let sides = contest.hold_for(order, async || {
        syncs.push(disk::sync(&mut disk).await?);
        Ok(())
    });
    Ok((sides.await?, syncs))
}
