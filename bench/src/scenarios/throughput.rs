//! Many requests at a time: how many answers are there in a second?

use super::{FULL, NATS, NORMAL, RELAY};
use crate::Outcome;
use crate::contest::{self, Contestant};
use crate::figures::{Better, Figure, Section};
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, nats, relay, switchboard};

const CONNECTIONS: usize = 8;
const IN_FLIGHT: usize = 32;
const RESPONDERS: usize = 4;

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let all = Cores::All;
    let full = switchboard::start(lab, Synchronous::Full, all).await?;
    let normal = switchboard::start(lab, Synchronous::Normal, all).await?;
    let nats = nats::core(lab, all).await?;
    let relay = relay::start(lab, all).await?;
    let mut contestants = Vec::new();
    for (name, server, speech) in [
        (FULL, full, Speech::Bus),
        (NORMAL, normal, Speech::Bus),
        (NATS, nats, Speech::Nats),
        (RELAY, relay, Speech::Bus),
    ] {
        let plan = plan(&server, speech, CONNECTIONS, IN_FLIGHT, RESPONDERS);
        contestants.push(Contestant::connect(lab, name, server, &plan, all).await?);
    }
    let sides = contest::hold(lab, &mut contestants).await?;
    let [full, _, nats, relay] = sides.as_slice() else {
        return Err("four sides were measured".into());
    };
    let rate = |side| full.ratio(side, |sample| sample.rate);
    let figures = vec![
        Figure::ratio("request–response throughput / NATS core", Better::Higher, rate(nats))
            .target(0.6, 1.0),
        Figure::ratio("request–response throughput / bare relay", Better::Higher, rate(relay)),
        Figure::ratio(
            "broker CPU a request–response",
            Better::Lower,
            full.spread(|sample| sample.server_cpu),
        )
        .unit("µs")
        .target(12.0, 7.0),
    ];
    Ok(Section {
        title: format!(
            "request–response throughput: {CONNECTIONS} connections × {IN_FLIGHT} in flight, {RESPONDERS} responders"
        ),
        operations: "requests",
        sides,
        figures,
        notes: Vec::new(),
    })
}

/// Those that ask, and those that answer.
pub(super) fn plan(
    server: &Server,
    speech: Speech,
    connections: usize,
    in_flight: usize,
    responders: usize,
) -> Plan {
    let topics: Vec<String> = (0..responders).map(|number| format!("bench.{number}")).collect();
    let group = |name: &str, count, part| Group {
        address: server.address,
        speech,
        name: name.into(),
        count,
        part,
    };
    let responder = group("responder", responders, Part::Responder { topics: topics.clone() });
    let asker = group("asker", connections, Part::Asker { in_flight, topics });
    Plan { groups: vec![responder, asker] }
}
