//! Measures several servers under the same load, in turns.

use std::rc::Rc;

use crate::Outcome;
use crate::figures::{Sample, Side, Sides};
use crate::generator::{Measured, Order, Plan};
use crate::lab::{Cores, Lab};
use crate::peers::Server;
use crate::process::Process;

/// The first turns fill caches and queues; they are not counted.
const WARM_UP: f64 = 0.5;

/// Those that are compared.
pub(crate) struct Contest<'a> {
    lab: &'a Lab,
    cores: Cores,
    contestants: Vec<Contestant>,
}

/// A server and the clients it serves.
pub(crate) struct Contestant {
    name: &'static str,
    server: Rc<Server>,
    generator: Process,
    /// What was done in all, warming up included.
    pub(crate) operations: u64,
}

impl<'a> Contest<'a> {
    pub(crate) fn new(lab: &'a Lab, cores: Cores) -> Self {
        Self { lab, cores, contestants: Vec::new() }
    }

    /// Lets one more in. A server that is not installed is left out.
    pub(crate) async fn enter(
        &mut self,
        name: &'static str,
        server: Option<impl Into<Rc<Server>>>,
        plan: impl FnOnce(&Server) -> Plan,
    ) -> Outcome<()> {
        let Some(server) = server else {
            return Ok(());
        };
        let server = server.into();
        let generator = generator(self.lab, &plan(&server), self.cores)
            .await
            .map_err(|error| format!("the clients of {name} do not start: {error}"))?;
        self.contestants.push(Contestant { name, server, generator, operations: 0 });
        Ok(())
    }

    /// Measures everyone for a while in each round.
    pub(crate) async fn hold(&mut self) -> Outcome<Sides> {
        let seconds = self.lab.span.as_secs_f64();
        self.hold_for(Order::For { seconds }, async || Ok(())).await
    }

    /// Measures everyone once in each round, and whatever is measured beside. Who goes first changes, so that nobody
    /// always follows the same one's dirty caches.
    pub(crate) async fn hold_for(
        &mut self,
        order: Order,
        mut beside: impl AsyncFnMut() -> Outcome<()>,
    ) -> Outcome<Sides> {
        let all = &mut self.contestants;
        let mut sides: Vec<Side> =
            all.iter().map(|it| Side { name: it.name, samples: Vec::new() }).collect();
        for contestant in all.iter_mut() {
            let seconds = WARM_UP.min(self.lab.span.as_secs_f64());
            contestant.measure(Order::For { seconds }).await?;
        }
        for round in 0..self.lab.rounds {
            for turn in 0..all.len() {
                let number = (round + turn) % all.len();
                sides[number].samples.push(all[number].measure(order).await?);
            }
            beside().await?;
        }
        // In order, because a program that counts for the compiler says at its end what it counted.
        for contestant in all.iter() {
            contestant.server.process.stop().await?;
        }
        Ok(Sides(sides))
    }

    /// How many operations a side did in all.
    pub(crate) fn operations(&self, name: &str) -> u64 {
        let of = |it: &&Contestant| it.name == name;
        self.contestants.iter().find(of).map_or(0, |it| it.operations)
    }
}

impl Contestant {
    async fn measure(&mut self, order: Order) -> Outcome<Sample> {
        let server = self.server.process.cpu()?;
        let (measured, generator) = load(&mut self.generator, order)
            .await
            .map_err(|error| format!("the clients of {} failed: {error}", self.name))?;
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
            heard: measured.heard as f64 / measured.seconds,
        })
    }
}

/// Starts a load generator, and waits until everyone in its plan has joined.
pub(crate) async fn generator(lab: &Lab, plan: &Plan, cores: Cores) -> Outcome<Process> {
    let mut generator = Process::start(lab.role("generator", cores))?;
    generator.tell(&serde_json::to_string(plan)?).await?;
    generator.line().await?;
    Ok(generator)
}

/// Lets a generator do something. What it saw, and the microseconds of processor time it used.
pub(crate) async fn load(generator: &mut Process, order: Order) -> Outcome<(Measured, f64)> {
    let before = generator.cpu()?;
    generator.tell(&serde_json::to_string(&order)?).await?;
    let measured = serde_json::from_str(&generator.line().await?)?;
    Ok((measured, generator.cpu()?.micros_since(&before)))
}

/// Lets everyone in a plan join, and go.
pub(crate) async fn visit(lab: &Lab, plan: &Plan) -> Outcome<()> {
    drop(generator(lab, plan, Cores::All).await?);
    Ok(())
}
