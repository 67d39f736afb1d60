//! Measures several servers under the same load, in turns.

use crate::Outcome;
use crate::figures::{Sample, Side};
use crate::generator::{Measured, Order, Plan};
use crate::lab::{Cores, Lab};
use crate::peers::Server;
use crate::process::Process;

/// The first turns fill caches and queues; they are not counted.
const WARM_UP: f64 = 0.5;

/// A server and the clients it serves.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) server: Server,
    generator: Process,
    /// What was done in all, warming up included.
    pub(crate) operations: u64,
}

impl Contestant {
    pub(crate) async fn connect(
        lab: &Lab,
        name: &'static str,
        server: Server,
        plan: &Plan,
        cores: Cores,
    ) -> Outcome<Self> {
        let generator = generator(lab, plan, cores).await?;
        Ok(Self { name, server, generator, operations: 0 })
    }

    async fn measure(&mut self, order: Order) -> Outcome<Sample> {
        let (server, generator) = (self.server.process.cpu()?, self.generator.cpu()?);
        self.generator.tell(&serde_json::to_string(&order)?).await?;
        let measured: Measured = serde_json::from_str(&self.generator.line().await?)
            .map_err(|_| format!("the clients of {} failed", self.name))?;
        let generator = self.generator.cpu()?.micros_since(&generator);
        let server = self.server.process.rest().await?.micros_since(&server);
        self.operations += measured.operations;
        let operations = measured.operations as f64;
        Ok(Sample {
            rate: operations / measured.seconds,
            p50: measured.p50,
            p99: measured.p99,
            p999: measured.p999,
            server_cpu: server / operations,
            generator_cpu: generator / operations,
            generator_busy: generator / 1e6 / measured.seconds,
        })
    }
}

/// Lets everyone in a plan join, and go.
pub(crate) async fn visit(lab: &Lab, plan: &Plan) -> Outcome<()> {
    drop(generator(lab, plan, Cores::All).await?);
    Ok(())
}

async fn generator(lab: &Lab, plan: &Plan, cores: Cores) -> Outcome<Process> {
    let mut generator = Process::start(lab.role("generator", cores))?;
    generator.tell(&serde_json::to_string(plan)?).await?;
    generator.line().await?;
    Ok(generator)
}

/// Measures everyone once in each round. Who goes first changes, so that nobody always follows the same one's dirty
/// caches.
pub(crate) async fn hold(lab: &Lab, contestants: &mut [Contestant]) -> Outcome<Vec<Side>> {
    hold_beside(lab, contestants, async || Ok(())).await
}

/// The same, with something else that is measured in every round.
pub(crate) async fn hold_beside(
    lab: &Lab,
    contestants: &mut [Contestant],
    mut beside: impl AsyncFnMut() -> Outcome<()>,
) -> Outcome<Vec<Side>> {
    let mut sides: Vec<Side> =
        contestants.iter().map(|it| Side { name: it.name, samples: Vec::new() }).collect();
    for contestant in contestants.iter_mut() {
        contestant.measure(Order::For { seconds: WARM_UP.min(lab.span.as_secs_f64()) }).await?;
    }
    for round in 0..lab.rounds {
        for turn in 0..contestants.len() {
            let number = (round + turn) % contestants.len();
            let order = Order::For { seconds: lab.span.as_secs_f64() };
            let sample = contestants[number].measure(order).await?;
            sides[number].samples.push(sample);
        }
        beside().await?;
    }
    Ok(sides)
}
