//! How fast dead letters are sent again, beside how fast they came to be.

use serde_json::json;

use crate::Outcome;
use crate::call::console;
use crate::contest::{self, generator};
use crate::figures::{Section, Sides, Spread, higher, lower};
use crate::generator::{Group, Measured, Order, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::Server;
use crate::peers::switchboard::{self, Synchronous};

const LETTERS: u64 = 10_000;
const TOPIC: &str = "lost";

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let server = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
    let (mut rates, mut ratios, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..lab.rounds {
        let died = die(lab, &server).await?;
        server.process.rest().await?;
        let before = server.process.cpu()?;
        let replayed = replay(lab, &server).await?;
        cpu.push(server.process.rest().await?.micros_since(&before) / LETTERS as f64);
        rates.push(replayed);
        ratios.push(replayed / died);
    }
    let figures = [
        higher("dead letters sent again", Some(Spread::of(rates))).map(|it| it.unit("/s")),
        higher("dead letters sent again / messages that die", Some(Spread::of(ratios))),
        lower("broker CPU for a letter sent again and processed", Some(Spread::of(cpu)))
            .map(|it| it.unit("µs")),
    ];
    Ok(Section {
        title: format!(
            "dead letters: {LETTERS} sent again by one job, to an agent that processes them"
        ),
        operations: "",
        sides: Sides::none(),
        figures: figures.into_iter().flatten().collect(),
        notes: Vec::new(),
    })
}

/// Sends messages that nobody listens for; how many a second.
async fn die(lab: &Lab, server: &Server) -> Outcome<f64> {
    let part = Part::asker(64, TOPIC);
    let group = Group::new(server.address, Speech::Accepted, "sender-#", 8, part);
    let mut senders = generator(lab, &Plan { groups: vec![group] }, Cores::All).await?;
    let (measured, _) = contest::load(&mut senders, Order::Times { count: LETTERS }).await?;
    Ok(measured.operations as f64 / measured.seconds)
}

/// Sends them again to somebody who listens; how many a second arrive.
async fn replay(lab: &Lab, server: &Server) -> Outcome<f64> {
    let part = Part::Responder { topics: vec![TOPIC.into()] };
    let group = Group::new(server.address, Speech::Bus, "finder-#", 1, part);
    let mut finder = generator(lab, &Plan { groups: vec![group] }, Cores::All).await?;
    finder.tell(&serde_json::to_string(&Order::Serve { calls: LETTERS })?).await?;
    console(server, "replayMany", json!({ "filter": {} })).await?;
    let measured: Measured = serde_json::from_str(&finder.line().await?)?;
    // Those that were delivered last are not settled yet.
    server.process.rest().await?;
    Ok(measured.operations as f64 / measured.seconds)
}
