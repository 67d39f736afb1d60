//! What a connection takes that is there and says nothing.

use super::{FULL, NATS, RELAY};
use crate::Outcome;
use crate::contest;
use crate::figures::{Figure, Section, Sides, Spread, lower};
use crate::generator::{Group, Part, Plan, Speech};
use crate::lab::{Cores, Lab};
use crate::peers::switchboard::Synchronous;
use crate::peers::{Server, nats, relay, switchboard};

/// How many there are, and how many more come after that.
const FIRST: usize = 1000;
const MORE: usize = 4000;
/// Memory varies little from start to start, and connecting takes long.
const ROUNDS: usize = 3;

/// KiB for each connection, among 1,000 and among 5,000.
#[derive(Default)]
struct Taken {
    first: Vec<f64>,
    all: Vec<f64>,
}

pub(super) async fn run(lab: &Lab) -> Outcome<Section> {
    let (mut ours, mut nats, mut relay) = (Taken::default(), Taken::default(), Taken::default());
    for _ in 0..lab.rounds.min(ROUNDS) {
        let server = switchboard::start(lab, Synchronous::Full, Cores::All).await?;
        ours.measure(lab, server, Speech::Bus).await?;
        if let Some(server) = nats::core(lab, Cores::All).await? {
            nats.measure(lab, server, Speech::Nats).await?;
        }
        relay.measure(lab, relay::start(lab, Cores::All).await?, Speech::Bus).await?;
    }
    let figures = ours
        .figures(FULL, Some((20.0, 10.0)))
        .chain(nats.figures(NATS, None))
        .chain(relay.figures(RELAY, None))
        .collect();
    Ok(Section {
        title: "memory for each idle connection that has joined and listens to one topic".into(),
        operations: "",
        sides: Sides::none(),
        figures,
        notes: vec![format!("{} starts", lab.rounds.min(ROUNDS))],
    })
}

impl Taken {
    async fn measure(&mut self, lab: &Lab, server: Server, speech: Speech) -> Outcome<()> {
        let idle = |name: &str, count| {
            let topics = (0..count).map(|number| format!("agent:{name}-{number}")).collect();
            let part = Part::Responder { topics };
            let group = Group::new(server.address, speech, &format!("{name}-#"), count, part);
            Plan { groups: vec![group] }
        };
        server.process.rest().await?;
        let before = server.process.memory_kib()?;
        let _first = contest::generator(lab, &idle("first", FIRST), Cores::All).await?;
        server.process.rest().await?;
        self.first.push((server.process.memory_kib()? - before) / FIRST as f64);
        let _more = contest::generator(lab, &idle("more", MORE), Cores::All).await?;
        server.process.rest().await?;
        self.all.push((server.process.memory_kib()? - before) / (FIRST + MORE) as f64);
        Ok(())
    }

    fn figures(self, name: &str, target: Option<(f64, f64)>) -> impl Iterator<Item = Figure> {
        let figure = |values: Vec<f64>, count: usize| {
            let spread = (!values.is_empty()).then(|| Spread::of(values));
            let figure = lower(format!("memory for each of {count} connections, {name}"), spread)?;
            let figure = figure.unit("KiB");
            Some(target.map_or(figure.clone(), |(reach, goal)| figure.target(reach, goal)))
        };
        [figure(self.first, FIRST), figure(self.all, FIRST + MORE)].into_iter().flatten()
    }
}
