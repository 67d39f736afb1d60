//! One request at a time: how long does an answer take?

use super::throughput::plan;
use super::{FULL, NATS, NORMAL, RELAY};
use crate::Outcome;
use crate::contest::{self, Contestant};
use crate::figures::{Better, Figure, Section, Side, Spread};
use crate::generator::Speech;
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{disk, nats, relay, switchboard};

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let (sides, _) = measure(lab, Cores::All).await?;
    let [full, _, nats, relay] = sides.as_slice() else {
        return Err("four sides were measured".into());
    };
    let figures = vec![
        p50("request–response p50 / NATS core", full, nats),
        p50("request–response p50 / bare relay", full, relay),
    ];
    let title = "request–response latency: 1 in flight".into();
    Ok(Section { title, operations: "requests", sides, figures, notes: Vec::new() })
}

/// The same with every process on one core.
pub(super) async fn pinned(lab: &Lab) -> Outcome<Section> {
    let (sides, disk) = measure(lab, Cores::One).await?;
    let [full, normal, nats, relay] = sides.as_slice() else {
        return Err("four sides were measured".into());
    };
    let limit = relay.samples.iter().zip(&disk).map(|(relay, disk)| relay.p50 + disk);
    let over_limit = full.samples.iter().zip(limit).map(|(full, limit)| full.p50 / limit);
    let tail = normal.ratio(nats, |sample| sample.p999);
    let figures = vec![
        p50("one core, normal: request–response p50 / NATS core", normal, nats).target(1.3, 1.0),
        Figure::ratio(
            "one core, full: request–response p50 / (bare relay + one fdatasync)",
            Better::Lower,
            Spread::of(over_limit.collect()),
        )
        .target(1.4, 1.15),
        Figure::ratio("one core, normal: request–response p99.9 / NATS core", Better::Lower, tail)
            .target(3.0, 1.5),
    ];
    let notes = vec![format!(
        "one fdatasync of a page that is overwritten: {:.0} µs",
        Spread::of(disk).median
    )];
    let title = "request–response latency: 1 in flight, every process on one core".into();
    Ok(Section { title, operations: "requests", sides, figures, notes })
}

fn p50(name: &str, ours: &Side, theirs: &Side) -> Figure {
    Figure::ratio(name, Better::Lower, ours.ratio(theirs, |sample| sample.p50))
}

/// Everyone's samples, and how long the disk takes in each round.
async fn measure(lab: &Lab, cores: Cores) -> Outcome<(Vec<Side>, Vec<f64>)> {
    let full = switchboard::start(lab, Synchronous::Full, cores).await?;
    let normal = switchboard::start(lab, Synchronous::Normal, cores).await?;
    let nats = nats::core(lab, cores).await?;
    let relay = relay::start(lab, cores).await?;
    let mut contestants = Vec::new();
    for (name, server, speech) in [
        (FULL, full, Speech::Bus),
        (NORMAL, normal, Speech::Bus),
        (NATS, nats, Speech::Nats),
        (RELAY, relay, Speech::Bus),
    ] {
        let plan = plan(&server, speech, 1, 1, 1);
        contestants.push(Contestant::connect(lab, name, server, &plan, cores).await?);
    }
    let mut disk = disk::start(lab, cores)?;
    let mut syncs = Vec::new();
    let sides = contest::hold_beside(lab, &mut contestants, async || {
        syncs.push(disk::sync(&mut disk).await?);
        Ok(())
    })
    .await?;
    Ok((sides, syncs))
}
