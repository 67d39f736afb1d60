//! The clients: the same for both sides, whatever serves them.

use std::time::{Duration, Instant};

use bub::{Answer, Bus, ClientInfo};
use switchboard_model::{AgentId, Payload};
use tokio::task::JoinSet;

use crate::Outcome;

const RESPONDERS: usize = 4;
const CONNECTIONS: usize = 8;
const IN_FLIGHT: usize = 32;

/// Clients and responders, connected to one server.
pub(crate) struct Load {
    clients: Vec<Bus>,
    payload: Payload,
    _responders: JoinSet<()>,
}

/// What the clients saw.
pub(crate) struct Measured {
    pub(crate) operations: u64,
    pub(crate) elapsed: Duration,
    /// Half of the answers came within this time.
    pub(crate) p50: Duration,
    /// All but one in a hundred came within this time.
    pub(crate) p99: Duration,
}

impl Load {
    /// Connects everyone. An operation is a message to a responder, and its answer.
    pub(crate) async fn connect(url: &str) -> Outcome<Self> {
        let answer = Payload::parse(r#"{"type":"bench_result","ok":true}"#)?;
        let mut responders = JoinSet::new();
        for number in 0..RESPONDERS {
            let bus = join(url, &format!("responder-{number}")).await?;
            bus.subscribe(&topic(number), None).await?;
            responders.spawn(respond(bus, answer.clone()));
        }
        let mut clients = Vec::new();
        for number in 0..CONNECTIONS {
            clients.push(join(url, &format!("client-{number}")).await?);
        }
        let text = "x".repeat(200);
        let payload = format!(r#"{{"type":"bench_request","task":"summarize","text":"{text}"}}"#);
        Ok(Self { clients, payload: Payload::parse(&payload)?, _responders: responders })
    }

    /// One question at a time: how long does an answer take?
    pub(crate) async fn one_in_flight(&self, span: Duration) -> Outcome<Measured> {
        self.run(1, 1, span).await
    }

    /// Many questions at a time: how many answers are there?
    pub(crate) async fn many_in_flight(&self, span: Duration) -> Outcome<Measured> {
        self.run(CONNECTIONS, IN_FLIGHT, span).await
    }

    async fn run(&self, connections: usize, in_flight: usize, span: Duration) -> Outcome<Measured> {
        let begun = Instant::now();
        let until = begun + span;
        let mut askers = JoinSet::new();
        for (number, client) in self.clients.iter().take(connections).enumerate() {
            let topic = topic(number % RESPONDERS);
            for _ in 0..in_flight {
                askers.spawn(ask(client.clone(), topic.clone(), self.payload.clone(), until));
            }
        }
        let mut times = Vec::new();
        while let Some(asker) = askers.join_next().await {
            times.extend(asker??);
        }
        let elapsed = begun.elapsed();
        times.sort_unstable();
        let at = |part: f64| {
            let index = (times.len() as f64 * part) as usize;
            times.get(index).copied().ok_or("no answer came at all")
        };
        Ok(Measured {
            operations: u64::try_from(times.len())?,
            elapsed,
            p50: at(0.5)?,
            p99: at(0.99)?,
        })
    }
}

fn topic(responder: usize) -> String {
    format!("bench:{responder}")
}

async fn join(url: &str, id: &str) -> Outcome<Bus> {
    Ok(Bus::connect(url, &AgentId::parse(id)?, ClientInfo::new("bench", "1"), None).await?)
}

async fn respond(bus: Bus, answer: Payload) {
    while let Some(delivery) = bus.next_delivery().await {
        if delivery.answer(Answer::with(answer.clone())).await.is_err() {
            return;
        }
    }
}

/// Asks until the time is over. An operation that fails would make the figures worthless.
async fn ask(bus: Bus, topic: String, payload: Payload, until: Instant) -> Outcome<Vec<Duration>> {
    let mut times = Vec::new();
    let mut begun = Instant::now();
    while begun < until {
        let result = bus.send(&topic, &payload).await?;
        if !result.success {
            return Err(format!("an operation failed: {}", result.json).into());
        }
        let ended = Instant::now();
        times.push(ended - begun);
        begun = ended;
    }
    Ok(times)
}
