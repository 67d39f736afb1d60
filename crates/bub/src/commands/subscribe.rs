//! `bub subscribe`: listen, print what comes, and answer that it was taken care of.

use std::time::SystemTime;

use bub::{Answer, Bus, Delivery};
use clap::Args;
use serde::Serialize;
use switchboard_model::{Payload, Policy, Timestamp};

use super::{interrupted, one_of};
use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsAgent;

/// Listen to topics until Ctrl-C; prints a line for each message
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Subscribe {
    /// Topics or patterns, such as 'inbound:*'
    #[arg(required = true, value_name = "TOPIC")]
    topics: Vec<String>,
    /// When the bus stops asking further subscribers
    #[arg(long, value_parser = one_of(Policy::ALL, Policy::as_str))]
    policy: Option<Policy>,
    /// One JSON document a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    agent: AsAgent,
}

const EXAMPLES: &str = "\
Examples:
  bub subscribe 'inbound:*'
  BUB_AUTH_TOKEN=$TOKEN bub subscribe agent:analyzer --agent-id analyzer --json

An agent that has a token shows it by BUB_AUTH_TOKEN. There is no option for it, because arguments can
be seen in the list of processes.";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    received_at: Timestamp,
    topic: &'a str,
    from: Option<&'a str>,
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    payload: &'a Payload,
}

impl Subscribe {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let bus = self.agent.connect().await?;
        for topic in &self.topics {
            bus.subscribe(topic, self.policy).await?;
        }
        eprintln!("listening to {}; Ctrl-C ends", visible(&self.topics.join(", ")));
        tokio::select! {
            ended = self.listen(&bus) => ended,
            stopped = interrupted() => {
                stopped?;
                self.leave(bus).await
            }
        }
    }

    async fn listen(&self, bus: &Bus) -> Result<(), Failure> {
        while let Some(delivery) = bus.next_delivery().await {
            // Printed first: an answer promises that the message was seen.
            output::line(&self.show(&delivery)?)?;
            delivery.answer(Answer::processed()).await?;
        }
        let unknown = || Failure::Failed("the connection to the bus ended".into());
        Err(bus.ended().map_or_else(unknown, Failure::from))
    }

    async fn leave(&self, bus: Bus) -> Result<(), Failure> {
        for topic in &self.topics {
            bus.unsubscribe(topic).await?;
        }
        bus.close().await;
        Ok(())
    }

    fn show(&self, delivery: &Delivery) -> Result<String, Failure> {
        let now = now();
        if self.json {
            return Ok(serde_json::to_string(&Line {
                received_at: now,
                topic: &delivery.topic,
                from: delivery.from.as_deref(),
                message_id: delivery.message_id.as_deref(),
                correlation_id: delivery.correlation_id.as_deref(),
                payload: &delivery.payload,
            })?);
        }
        let from = delivery.from.as_deref().unwrap_or("?");
        let said = [&delivery.topic, from, delivery.payload.as_str()].map(visible);
        Ok(format!("{}  {}", output::clock_time(now), said.join("  ")))
    }
}

#[expect(clippy::disallowed_methods, reason = "the edge itself: when this line was printed")]
fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX))
}
