//! Durable publishes to an agent that is known but away: each is on disk before it is acknowledged.

use super::FULL;
use crate::Outcome;
use crate::contest::{self, Contestant};
use crate::figures::{Better, Figure, Section};
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::nats::Sync;
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, nats, switchboard};

const CONNECTIONS: usize = 8;
const IN_FLIGHT: usize = 64;
const ABSENT: &str = "agent:absent-0";
const SUBJECT: &str = "stream.absent";
const JETSTREAM: &str = "JetStream, file, its default (no fsync)";
const JETSTREAM_ALWAYS: &str = "JetStream, file, sync_interval: always";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let ours = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
    let mut sides = vec![
        (FULL, ours, Speech::Bus, ABSENT),
        (JETSTREAM, nats::jetstream(lab, Sync::Default).await?, Speech::Nats, SUBJECT),
    ];
    let mut notes = Vec::new();
    match nats::jetstream(lab, Sync::Always).await {
        Ok(server) => sides.push((JETSTREAM_ALWAYS, server, Speech::Nats, SUBJECT)),
        Err(error) => notes.push(format!("{JETSTREAM_ALWAYS}: needs nats-server 2.10 ({error})")),
    }
    let mut contestants = Vec::new();
    for (name, server, speech, topic) in sides {
        if name == FULL {
            come_and_go(lab, &server).await?;
        }
        let plan = plan(&server, speech, topic);
        contestants.push(Contestant::connect(lab, name, server, &plan, Cores::All).await?);
    }
    let sides = contest::hold(lab, &mut contestants).await?;
    let Some(([ours, default], rest)) = sides.split_first_chunk() else {
        return Err("at least two sides were measured".into());
    };
    let mut figures = vec![
        Figure::ratio(
            "durable publishes / JetStream with its default (no fsync)",
            Better::Higher,
            ours.ratio(default, |sample| sample.rate),
        )
        .target(1.0, 1.6),
    ];
    if let Some(always) = rest.first() {
        let ratio = ours.ratio(always, |sample| sample.rate);
        let name = "durable publishes / JetStream with sync_interval: always";
        figures.push(Figure::ratio(name, Better::Higher, ratio).target(20.0, 35.0));
    }
    let rows = verify(&contestants).await?;
    notes.push(format!("{rows} publishes were acknowledged, and are rows in the database"));
    let title = format!(
        "durable publishes to an absent agent: {CONNECTIONS} connections × {IN_FLIGHT} in flight"
    );
    Ok(Section { title, operations: "publishes", sides, figures, notes })
}

fn plan(server: &Server, speech: Speech, topic: &str) -> Plan {
    let part = Part::Asker { in_flight: IN_FLIGHT, topics: vec![topic.into()] };
    let name = "publisher".into();
    Plan { groups: vec![Group { address: server.address, speech, name, count: CONNECTIONS, part }] }
}

/// Makes the agent known: it joins, listens, and is gone when its generator is.
async fn come_and_go(lab: &Lab, server: &Server) -> Outcome<()> {
    let part = Part::Responder { topics: vec![ABSENT.into()] };
    let (address, name) = (server.address, "absent".into());
    let group = Group { address, speech: Speech::Bus, name, count: 1, part };
    contest::visit(lab, &Plan { groups: vec![group] }).await
}

/// An acknowledgement is a promise: every one of them must be a row. Returns how many there are.
async fn verify(contestants: &[Contestant]) -> Outcome<u64> {
    let ours = contestants.iter().find(|it| it.name == FULL).ok_or("Switchboard was measured")?;
    let rows = switchboard::rows(&ours.server.folder, ABSENT).await?;
    if rows < ours.operations {
        let missing = ours.operations - rows;
        return Err(format!("{missing} acknowledged publishes are not in the database").into());
    }
    Ok(rows)
}
