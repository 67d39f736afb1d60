//! Keeps a broker busy: publishes so many messages a second to a listener that processes them all,
//! and prints once a second how many receipts came. `./dev frames` looks at the window meanwhile.

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
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = Wanted::parse();
    let listener = join(&wanted.url, "load-listener").await?;
    for topic in TOPICS {
        listener.subscribe(&format!("{topic}*"), None).await?;
    }
    tokio::spawn(listen(listener));
    let (counts, mut counted) = mpsc::channel(COUNTS);
    for number in 0..PUBLISHERS {
        let bus = join(&wanted.url, &format!("load-agent-{number}")).await?;
        tokio::spawn(publish(bus, wanted.rate / PUBLISHERS as f64, counts.clone()));
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

async fn publish(bus: Bus, rate: f64, counts: mpsc::Sender<bool>) {
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
                let due = (begun.elapsed().as_secs_f64() * rate) as u64;
                while sent < due && under_way.len() < IN_FLIGHT {
                    under_way.push(send(bus.clone(), sent));
                    sent += 1;
                }
                // What was not sent in time is not made up for: that would be another rate.
                sent = sent.max(due.saturating_sub(IN_FLIGHT as u64));
            }
        }
    }
}

async fn send(bus: Bus, number: u64) -> bool {
    let topic = format!("{}{}", TOPICS[number as usize % TOPICS.len()], number % 40);
    let payload = format!(r#"{{"type":"task","n":{number},"text":"measured by frames"}}"#);
    bus.send(&topic, &Payload::trusted(payload)).await.is_ok()
}
