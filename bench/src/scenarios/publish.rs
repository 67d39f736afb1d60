//! Durable publishes to an agent that is known but away: each is on disk before it is acknowledged.

use super::FULL;
use crate::Outcome;
use crate::contest::{self, Contest};
use crate::figures::{Section, Spread, higher};
use crate::generator::{Group, Order, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::nats::Sync;
use crate::peers::redis::Append;
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, nats, redis, sqlite, switchboard};

const CONNECTIONS: usize = 8;
const IN_FLIGHT: usize = 64;
const ABSENT: &str = "agent:absent-0";
const JETSTREAM: &str = "JetStream, file, its default (no fsync)";
const JETSTREAM_ALWAYS: &str = "JetStream, file, sync_interval: always";
const REDIS: &str = "redis list, appendfsync everysec";
const REDIS_ALWAYS: &str = "redis list, appendfsync always";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let mut notes = Vec::new();
    let ours = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
    make_known(lab, &ours).await?;
    let folder = ours.folder.clone();
    let always = nats::jetstream(lab, Sync::Always).await?;
    if always.is_none() {
        notes.push(format!("{JETSTREAM_ALWAYS}: left out, needs nats-server 2.10 or later"));
    }
    let stream = |server: &Server| publishers(server, Speech::Nats, "stream.absent");
    let list = |server: &Server| publishers(server, Speech::RedisList, "absent");
    let mut contest = Contest::new(lab, Cores::All);
    contest.enter(FULL, Some(ours), |server| publishers(server, Speech::Bus, ABSENT)).await?;
    contest.enter(JETSTREAM, nats::jetstream(lab, Sync::Default).await?, stream).await?;
    contest.enter(JETSTREAM_ALWAYS, always, stream).await?;
    contest.enter(REDIS, redis::start(lab, Append::EverySecond).await?, list).await?;
    contest.enter(REDIS_ALWAYS, redis::start(lab, Append::Always).await?, list).await?;
    let mut sqlite = sqlite::start(lab, CONNECTIONS * IN_FLIGHT)?;
    let mut limits = Vec::new();
    let seconds = lab.span.as_secs_f64();
    let sides = contest.hold_for(Order::For { seconds }, async || {
        limits.push(sqlite::rate(&mut sqlite, seconds / 2.0).await?);
        Ok(())
    });
    let sides = sides.await?;

    let rows = switchboard::rows(&folder, ABSENT).await?;
    let acknowledged = contest.operations(FULL);
    if rows < acknowledged {
        let missing = acknowledged - rows;
        return Err(format!("{missing} acknowledged publishes are not in the database").into());
    }
    notes.push(format!(
        "{acknowledged} publishes were acknowledged, and all are rows in the database"
    ));
    notes.push(format!(
        "SQLite alone, one table, {} rows a transaction: {:.0} rows/s",
        CONNECTIONS * IN_FLIGHT,
        Spread::of(limits.clone()).median
    ));
    let rate = |other| sides.ratio(FULL, other, |sample| sample.rate);
    let of_limit = sides.samples(FULL).map(|ours| {
        let pairs = ours.iter().zip(&limits);
        Spread::of(pairs.map(|(sample, limit)| sample.rate / limit).collect())
    });
    let figures = [
        higher("durable publishes / JetStream with its default (no fsync)", rate(JETSTREAM))
            .map(|it| it.target(1.0, 1.6)),
        higher("durable publishes / JetStream with sync_interval: always", rate(JETSTREAM_ALWAYS))
            .map(|it| it.target(20.0, 35.0)),
        higher("durable publishes / redis with appendfsync always", rate(REDIS_ALWAYS)),
        higher("durable publishes / SQLite alone", of_limit),
    ];
    let title = format!(
        "durable publishes to an absent agent: {CONNECTIONS} connections × {IN_FLIGHT} in flight"
    );
    let figures = figures.into_iter().flatten().collect();
    Ok(Section { title, operations: "publishes", sides, figures, notes })
}

fn publishers(server: &Server, speech: Speech, topic: &str) -> Plan {
    let part = Part::asker(IN_FLIGHT, topic);
    Plan { groups: vec![Group::new(server.address, speech, "publisher-#", CONNECTIONS, part)] }
}

/// The agent joins, listens, and is gone when its generator is.
async fn make_known(lab: &Lab, server: &Server) -> Outcome<()> {
    let part = Part::Responder { topics: vec![ABSENT.into()] };
    let group = Group::new(server.address, Speech::Bus, "absent-#", 1, part);
    contest::visit(lab, &Plan { groups: vec![group] }).await
}
