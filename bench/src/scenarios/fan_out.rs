//! One message to a thousand listeners, each of which acknowledges it.

use super::{FULL, NATS, RELAY};
use crate::Outcome;
use crate::contest::Contest;
use crate::figures::{Section, higher};
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::redis::Append;
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, mosquitto, nats, redis, relay, switchboard};

const LISTENERS: usize = 1000;
const IN_FLIGHT: usize = 4;
const MOSQUITTO: &str = "mosquitto, QoS 1";
const REDIS: &str = "redis channel, not acknowledged";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let all = Cores::All;
    // At the bus and the relay the server gathers the acknowledgements; elsewhere the publisher counts them, or the
    // arrivals where nobody acknowledges.
    let gathered = |server: &Server| plan(server, Speech::Bus, 1);
    let counted = |speech| move |server: &Server| plan(server, speech, LISTENERS as u32);
    let ours = switchboard::start(lab, Synchronous::Full, all).await?;
    let mut contest = Contest::new(lab, all);
    contest.enter(FULL, Some(ours), gathered).await?;
    contest.enter(RELAY, Some(relay::start(lab, all).await?), gathered).await?;
    contest.enter(NATS, nats::core(lab, all).await?, counted(Speech::Nats)).await?;
    contest.enter(MOSQUITTO, mosquitto::start(lab).await?, counted(Speech::Mqtt)).await?;
    let redis = redis::start(lab, Append::No).await?;
    contest.enter(REDIS, redis, counted(Speech::RedisChannel)).await?;
    let sides = contest.hold().await?;
    let rate = |other| sides.ratio(FULL, other, |sample| sample.rate);
    let figures = [
        higher("fan-out to 1,000, acknowledged / bare relay with acknowledgements", rate(RELAY))
            .map(|it| it.target(0.4, 0.8)),
        higher("fan-out to 1,000 / NATS core with replies", rate(NATS)),
        higher("fan-out to 1,000 / mosquitto, QoS 1", rate(MOSQUITTO)),
    ];
    Ok(Section {
        title: format!(
            "fan-out to {LISTENERS} listeners: {IN_FLIGHT} in flight; an operation is all {LISTENERS}"
        ),
        operations: "fan-outs",
        sides,
        figures: figures.into_iter().flatten().collect(),
        notes: Vec::new(),
    })
}

fn plan(server: &Server, speech: Speech, answers: u32) -> Plan {
    let topic = "bench.everyone";
    let listener = Part::Listener { topic: topic.into() };
    let herald = Part::Asker { in_flight: IN_FLIGHT, topics: vec![topic.into()], answers };
    let group = |name, count, part| Group::new(server.address, speech, name, count, part);
    Plan { groups: vec![group("listener-#", LISTENERS, listener), group("herald-#", 1, herald)] }
}
