//! Many requests at a time: how many answers are there in a second?

use super::{FULL, NATS, NORMAL, RELAY, plan};
use crate::Outcome;
use crate::contest::Contest;
use crate::figures::{Section, higher, lower};
use crate::generator::Speech;
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, nats, relay, switchboard};

const CONNECTIONS: usize = 8;
const IN_FLIGHT: usize = 32;
const RESPONDERS: usize = 4;

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let all = Cores::All;
    let load =
        |speech| move |server: &Server| plan(server, speech, CONNECTIONS, IN_FLIGHT, RESPONDERS);
    let full = switchboard::start(lab, Synchronous::Full, all).await?;
    let normal = switchboard::start(lab, Synchronous::Normal, all).await?;
    let mut contest = Contest::new(lab, all);
    contest.enter(FULL, Some(full), load(Speech::Bus)).await?;
    contest.enter(NORMAL, Some(normal), load(Speech::Bus)).await?;
    contest.enter(NATS, nats::core(lab, all).await?, load(Speech::Nats)).await?;
    contest.enter(RELAY, Some(relay::start(lab, all).await?), load(Speech::Bus)).await?;
    let sides = contest.hold().await?;

    let rate = |other| sides.ratio(FULL, other, |sample| sample.rate);
    let cpu = sides.spread(FULL, |sample| sample.server_cpu);
    let cpu_ratio = sides.ratio(FULL, NATS, |sample| sample.server_cpu);
    let figures = [
        higher("request–response throughput / NATS core", rate(NATS)).map(|it| it.target(0.6, 1.0)),
        higher("request–response throughput / bare relay", rate(RELAY)),
        lower("broker CPU a request–response", cpu).map(|it| it.unit("µs").target(12.0, 7.0)),
        lower("broker CPU a request–response / NATS core", cpu_ratio),
    ];
    Ok(Section {
        title: format!(
            "request–response throughput: {CONNECTIONS} connections × {IN_FLIGHT} in flight, {RESPONDERS} responders"
        ),
        operations: "requests",
        sides,
        figures: figures.into_iter().flatten().collect(),
        notes: Vec::new(),
    })
}
