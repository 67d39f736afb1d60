//! Keeps a broker busy: publishes so many messages a second to a listener that processes them all, or
//! lets so many agents send them to each other, and prints once a second how many receipts came.
//! `./dev bench ui` looks at the screens meanwhile.

use std::error::Error;
use std::time::Duration;

use bub::{Answer, Bus, ClientInfo};
use clap::Parser;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use switchboard_model::{AgentId, Payload};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval};

const PUBLISHERS: usize = 4;
/// Messages of one publisher without a receipt. A slower broker gets fewer, not a longer line.
const IN_FLIGHT: usize = 400;
/// How often each publisher catches up with the rate.
const BEAT: Duration = Duration::from_millis(5);
const TOPICS: [&str; 4] = ["inbound:chat-", "task:crawl-", "workspace:project-", "outbound:chat-"];
/// Receipts waiting to be counted; publishers wait when it is full.
const COUNTS: usize = 1024;

/// Keeps a broker busy until it is ended.
#[derive(Parser)]
struct Wanted {
    /// The broker, such as ws://127.0.0.1:7892
    url: String,
    /// Messages a second
    rate: f64,
    /// How many agents send to each other; a few publish to one listener if none are given
    #[arg(long, default_value_t = 0)]
    agents: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = Wanted::parse();
    let (counts, mut counted) = mpsc::channel(COUNTS);
    if wanted.agents == 0 {
        let listener = join(&wanted.url, "load-listener").await?;
        for topic in TOPICS {
            listener.subscribe(&format!("{topic}*"), None).await?;
        }
        tokio::spawn(listen(listener));
        for number in 0..PUBLISHERS {
            let bus = join(&wanted.url, &name(number)).await?;
            let share = Share { rate: wanted.rate / PUBLISHERS as f64, in_flight: IN_FLIGHT };
            let topic = |sent: u64| format!("{}{}", TOPICS[sent as usize % 4], sent % 40);
            tokio::spawn(publish(bus, share, topic, counts.clone()));
        }
    } else {
        among_themselves(&wanted, &counts).await?;
    }
    drop(counts);
    let (mut receipts, mut refused) = (0_u64, 0_u64);
    let mut second = interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = second.tick() => println!(r#"{{"receipts":{receipts},"refused":{refused}}}"#),
            accepted = counted.recv() => match accepted {
                Some(true) => receipts += 1,
                Some(false) => refused += 1,
                None => return Ok(()),
            },
        }
    }
}

/// So many agents, each of which listens to its own topic and sends to the others in turn.
async fn among_themselves(
    wanted: &Wanted,
    counts: &mpsc::Sender<bool>,
) -> Result<(), Box<dyn Error>> {
    let all = wanted.agents;
    let mut joined = Vec::with_capacity(all);
    for number in 0..all {
        let bus = join(&wanted.url, &name(number)).await?;
        bus.subscribe(&format!("agent:{}", name(number)), None).await?;
        tokio::spawn(listen(bus.clone()));
        joined.push(bus);
    }
    let in_flight = (PUBLISHERS * IN_FLIGHT / all).max(2);
    for (number, bus) in joined.into_iter().enumerate() {
        let share = Share { rate: wanted.rate / all as f64, in_flight };
        // A few others each, so that the same cords light up again and again.
        let topic = move |sent: u64| {
            let other = number + 1 + sent as usize % 3 * 7;
            format!("agent:{}", name(other % all))
        };
        tokio::spawn(publish(bus, share, topic, counts.clone()));
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("load-agent-{number}")
}

/// What one publisher does of the whole.
#[derive(Clone, Copy)]
struct Share {
    rate: f64,
    in_flight: usize,
}

async fn join(url: &str, id: &str) -> Result<Bus, Box<dyn Error>> {
    Ok(Bus::connect(url, &AgentId::parse(id)?, ClientInfo::new("load", "1.0"), None).await?)
}

async fn listen(bus: Bus) {
    while let Some(delivery) = bus.next_delivery().await {
        if delivery.answer(Answer::processed()).await.is_err() {
            return;
        }
    }
}

async fn publish(
    bus: Bus,
    share: Share,
    topic: impl Fn(u64) -> String,
    counts: mpsc::Sender<bool>,
) {
    let begun = Instant::now();
    let mut beat = interval(BEAT);
    let mut under_way = FuturesUnordered::new();
    let mut sent = 0_u64;
    loop {
        tokio::select! {
            Some(accepted) = under_way.next() => {
                if counts.send(accepted).await.is_err() {
                    return;
                }
            }
            _ = beat.tick() => {
                let due = (begun.elapsed().as_secs_f64() * share.rate) as u64;
                while sent < due && under_way.len() < share.in_flight {
                    under_way.push(send(bus.clone(), topic(sent), sent));
                    sent += 1;
                }
                // What was not sent in time is not made up for: that would be another rate.
                sent = sent.max(due.saturating_sub(share.in_flight as u64));
            }
        }
    }
}

async fn send(bus: Bus, topic: String, number: u64) -> bool {
    let payload = format!(r#"{{"type":"task","n":{number},"text":"measured by bench"}}"#);
    bus.send(&topic, &Payload::trusted(payload)).await.is_ok()
}
